// The text is read by its form: nothing is looked up on a disk or a network between two frames.
#include "app/gui/window/model_rows.h"

#include <algorithm>

#include "app/hub_models.h"
#include "app/model_lookup.h"
#include "app/typed_path.h"
#include "engine/http/http_url.h"
#include "models/ascii.h"

namespace warpchat::gui {

namespace {

using Kind = ModelChoice::Kind;

constexpr size_t kMinSearched = 3;  // bytes

// "org/repo" of the short list is "org/repo:Q4_K_M", too.
bool is_same_model(const ModelChoice& one, const ModelChoice& other) {
  if (other.kind == Kind::kEndpoint || one.kind == Kind::kEndpoint) return false;
  const auto name = [](const ModelChoice& model) {
    const std::optional<HubModelName> hub = parse_hub_model_name(model.name);
    return lower_case(hub ? hub->text() : model.name);
  };
  return name(one) == name(other);
}

bool is_listed(const ModelChoice& model, const std::vector<ModelRow>& rows) {
  return std::ranges::any_of(rows, [&](const ModelRow& row) { return is_same_model(model, *row.model); });
}

}  // namespace

std::optional<ModelChoice> named_model(const std::string& text) {
  const std::string name(trimmed(text, " \t\n"));
  if (!origin_of(name).empty() && name.find(' ') == std::string::npos)
    return ModelChoice{.path = name, .name = name, .kind = Kind::kEndpoint, .about = "Use this server"};
  if (!name.empty() && std::string_view("/~.").find(name[0]) != std::string_view::npos)
    return ModelChoice{.path = with_home_directory(name), .name = name, .about = "Load this file"};
  const std::optional<HubModelName> hub = parse_hub_model_name(name);
  if (!hub) return std::nullopt;
  return ModelChoice{.path = hub->as_written(),
                     .name = hub->text(),
                     .kind = Kind::kFetch,
                     .about = "Download from the Hugging Face hub, if it exists"};
}

std::vector<ModelRow> model_rows(const ChatState& state, const std::string& text,
                                 const std::optional<ModelChoice>& named) {
  std::vector<ModelRow> rows;
  const bool hub_is_current = !state.hub.words.empty() && state.hub.words == hub_words(text);
  for (size_t i = 0; i < state.models.size(); ++i) {
    const ModelChoice& model = state.models[i];
    if (model.kind == Kind::kFetch && state.hub.offline) continue;
    if (has_words(model.name + " " + model.quantisation, text)) rows.push_back({"model:" + std::to_string(i), &model});
  }
  for (size_t i = 0; hub_is_current && i < state.hub.models.size(); ++i)
    if (!is_listed(state.hub.models[i], rows)) rows.push_back({"hub:" + std::to_string(i), &state.hub.models[i]});
  if (named && !is_listed(*named, rows)) rows.insert(rows.begin(), {"model_named", &*named});
  return rows;
}

const ModelRow* row_for_enter(const std::vector<ModelRow>& rows) {
  const auto row = std::ranges::find_if(rows, [](const ModelRow& candidate) {
    return candidate.widget == "model_named" || candidate.model->kind != Kind::kFetch;
  });
  return row != rows.end() ? &*row : nullptr;
}

std::string hub_words(const std::string& text) {
  std::string words(trimmed(text, " \t\n"));
  return words.size() >= kMinSearched && are_search_words(words) ? words : "";
}

std::string hub_line(const ChatState& state, const std::string& text) {
  const std::string words = hub_words(text);
  if (state.hub.offline) return state.hub.sentence;
  if (words.empty()) return "";
  if (state.hub.words != words) return "searching the hub";
  if (!state.hub.sentence.empty()) return state.hub.sentence;
  if (state.hub.running) return "searching the hub";
  return state.hub.models.empty() ? "the hub has no GGUF model with these words" : "";
}

}  // namespace warpchat::gui
