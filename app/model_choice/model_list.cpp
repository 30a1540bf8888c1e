// Names and paths are foreign text.
#include "app/model_choice/model_list.h"

#include <nlohmann/json.hpp>

#include "models/human_bytes.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::ordered_json;

constexpr size_t kMaxListed = 4096, kMaxServedName = 400;  // bytes of a name or path

std::string json_text(const ordered_json& value) {
  return value.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string or_dash(std::string text) { return text.empty() ? "-" : text; }

std::vector<std::string> aliases_of(const ModelChoice& model, const std::map<std::string, std::string>& aliases) {
  std::vector<std::string> names;
  for (const auto& [alias, target] : aliases)
    if (target == model.name || target == model.path) names.push_back(alias);
  return names;
}

template <class T>
ordered_json or_null(const T& value) {
  return value == T() ? ordered_json() : ordered_json(value);
}

ordered_json fits_json(FitsMemory fits) {
  if (fits == FitsMemory::kUnknown) return {};
  return fits == FitsMemory::kYes;
}

ordered_json json_of(const ModelChoice& model, const std::map<std::string, std::string>& aliases) {
  return {{"name", model.name},
          {"path", model.path},
          {"source", model.store},
          {"bytes", model.bytes},
          {"quantisation", or_null(model.quantisation)},
          {"architecture", or_null(model.architecture)},
          {"parameters", or_null(model.n_parameters)},
          {"context", or_null(model.context)},
          {"memory", or_null(model.needed)},
          {"fits", fits_json(model.fits)},
          {"reason", or_null(model.why)},
          {"aliases", aliases_of(model, aliases)}};
}

}  // namespace

std::vector<std::string> listed_rows(const std::vector<ModelChoice>& models) {
  std::vector<std::string> rows;
  for (const ModelChoice& model : models)
    rows.push_back(printable(model.name, kMaxListed) + "\t" + or_dash(model.bytes > 0 ? human_bytes(model.bytes) : "") +
                   "\t" + or_dash(model.quantisation) + "\t" +
                   or_dash(model.context > 0 ? "context " + grouped(model.context) : "") + "\t" +
                   or_dash(std::string(word_of(model.fits))) + "\t" + model.store + ", " +
                   printable(model.path, kMaxListed));
  return rows;
}

std::string model_json(const ModelChoice& model, const std::map<std::string, std::string>& aliases) {
  return json_text(json_of(model, aliases));
}

std::string models_json(const std::vector<ModelChoice>& models, const std::map<std::string, std::string>& aliases) {
  ordered_json list = ordered_json::array();
  for (const ModelChoice& model : models) list.push_back(json_of(model, aliases));
  return json_text(list);
}

std::string model_details(const ModelChoice& model, const std::map<std::string, std::string>& aliases) {
  std::string text;
  const auto line = [&](const char* what, const std::string& value) {
    if (!value.empty()) text += std::string(what) + "\t" + value + "\n";
  };
  line("name", printable(model.name, kMaxListed));
  line("alias", word_list(aliases_of(model, aliases)));
  line("from", model.store);
  line("size", model.bytes > 0 ? human_bytes(model.bytes) : "");
  line("quantisation", model.quantisation);
  line("architecture", model.architecture);
  line("parameters", model.n_parameters > 0 ? grouped(model.n_parameters) : "");
  line("context", model.context > 0 ? counted(model.context, "token") : "");
  line("memory", std::string(word_of(model.fits)) + (model.why.empty() ? "" : ": " + model.why));
  for (const std::string& file : files_of_model(model.path)) line("file", printable(file, kMaxListed));
  return text;
}

std::vector<std::string> served_rows(const std::vector<RemoteModel>& models) {
  std::vector<std::string> rows;
  for (const RemoteModel& model : models) {
    const std::string context = model.context > 0 ? "context " + grouped(model.context) : "";
    const std::string capabilities = word_list(model.capabilities);
    rows.push_back(printable(model.id, kMaxServedName));
    if (!context.empty() || !capabilities.empty()) rows.back() += "\t" + or_dash(context);
    if (!capabilities.empty()) rows.back() += "\t" + capabilities;
  }
  return rows;
}

std::string served_json(const std::vector<RemoteModel>& models) {
  ordered_json list = ordered_json::array();
  for (const RemoteModel& model : models)
    list.push_back({{"name", model.id}, {"context", or_null(model.context)}, {"capabilities", model.capabilities}});
  return json_text(list);
}

}  // namespace warpchat
