// The text is read by its form: nothing is looked up on a disk or a network between two frames.
#include "app/gui/panels/model_rows.h"

#include <algorithm>

#include "app/model_choice/hub_models.h"
#include "app/model_choice/model_lookup.h"
#include "app/platform/typed_path.h"
#include "engine/remote/endpoint.h"
#include "models/ascii.h"

namespace warpchat::gui {

namespace {

using Kind = ModelChoice::Kind;

constexpr size_t kMinSearched = 3;  // bytes

// "org/repo" of the short list is "org/repo:Q4_K_M", too.
bool is_same_model(const ModelChoice& one, const ModelChoice& other) {
  const auto is_remote = [](Kind kind) { return kind == Kind::kEndpoint || kind == Kind::kServed; };
  if (is_remote(one.kind) || is_remote(other.kind)) return false;
  const auto name = [](const ModelChoice& model) {
    const std::optional<HubModelName> hub = parse_hub_model_name(model.name);
    return lower_case(hub ? hub->text() : model.name);
  };
  return name(one) == name(other);
}

bool is_listed(const ModelChoice& model, const std::vector<ModelRow>& rows) {
  return std::ranges::any_of(rows, [&](const ModelRow& row) { return is_same_model(model, *row.model); });
}

void append_served(const ChatState& state, const std::string& endpoint, const std::string& text,
                   std::vector<ModelRow>& rows) {
  for (size_t i = 0; i < state.served.models.size(); ++i) {
    const ModelChoice& model = state.served.models[i];
    if (has_words(endpoint + " " + model.name, text)) rows.push_back({"served:" + std::to_string(i), &model});
  }
}

// An endpoint with a matching model is shown, too.
void append_endpoints(const ChatState& state, const std::string& text, std::vector<ModelRow>& rows) {
  bool is_listed = false;
  for (const ModelChoice& endpoint : state.endpoints) {
    const bool is_asked = endpoint.path == state.served.endpoint;
    is_listed |= is_asked;
    const size_t before = rows.size();
    rows.push_back({"endpoint:" + endpoint.path, &endpoint});
    if (is_asked) append_served(state, endpoint.name, text, rows);
    if (rows.size() == before + 1 && !has_words(endpoint.name + " " + endpoint.about, text)) rows.pop_back();
  }
  if (!is_listed) append_served(state, state.served.endpoint, text, rows);
}

}  // namespace

std::optional<ModelChoice> named_model(const ChatState& state, const std::string& text) {
  const std::string name(trimmed(text, " \t\n"));
  if (is_server_address(name) && !is_hub_address(name))
    return ModelChoice{.path = name, .name = name, .kind = Kind::kEndpoint, .about = "Connect to this server"};
  if (!name.empty() && std::string_view("/~.").find(name[0]) != std::string_view::npos)
    return ModelChoice{.path = with_home_directory(name), .name = name, .about = "Load this file"};
  const std::optional<HubModelName> hub = parse_hub_model_name(name);
  if (!hub && state.served.lists_none && !name.empty())
    return ModelChoice{
        .path = name, .name = name, .kind = Kind::kServed, .about = "A model of this name at " + state.served.endpoint};
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
  const auto append_models = [&](Kind kind) {
    for (size_t i = 0; i < state.models.size(); ++i) {
      const ModelChoice& model = state.models[i];
      if (model.kind == kind && has_words(model.name + " " + model.quantisation, text))
        rows.push_back({"model:" + std::to_string(i), &model});
    }
  };
  append_models(Kind::kFile);
  append_endpoints(state, text, rows);
  if (!state.hub.offline) append_models(Kind::kFetch);
  for (size_t i = 0; hub_is_current && i < state.hub.models.size(); ++i)
    if (!is_listed(state.hub.models[i], rows)) rows.push_back({"hub:" + std::to_string(i), &state.hub.models[i]});
  if (named && !is_listed(*named, rows)) rows.insert(rows.begin(), {"model_named", &*named});
  return rows;
}

const ModelRow* row_for_enter(const std::vector<ModelRow>& rows, const std::string& text) {
  const std::optional<HubModelName> hub = parse_hub_model_name(trimmed(text, " \t\n"));
  const ModelChoice spelled_out{.name = hub ? hub->text() : ""};
  const auto is_meant = [&](const ModelRow& row) {
    const ModelChoice& model = *row.model;
    if (row.widget == "model_named" || (hub && is_same_model(model, spelled_out))) return true;
    return model.kind == Kind::kEndpoint ? has_words(model.name + " " + model.about, text) : model.kind != Kind::kFetch;
  };
  const auto row = std::ranges::find_if(rows, is_meant);
  return row != rows.end() ? &*row : nullptr;
}

bool is_loaded(const ChatState& state, const ModelChoice& model) {
  if (!state.model) return false;
  if (model.kind == Kind::kEndpoint) return state.model->endpoint == model.about;
  if (model.kind != Kind::kServed) return state.model->path == model.path && state.model->endpoint.empty();
  const auto is_server = [&](const ModelChoice& endpoint) {
    return endpoint.path == state.served.endpoint && endpoint.about == state.model->endpoint;
  };
  return state.model->name == model.path && std::ranges::any_of(state.endpoints, is_server);
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
