// chat model: the models on this machine, aliases for them and folders with them. --list-models is its list.
#include <algorithm>
#include <filesystem>

#include "app/commands/commands.h"
#include "app/model_choice/hub_models.h"
#include "app/model_choice/model_book.h"
#include "app/model_choice/model_list.h"
#include "app/model_choice/model_loading.h"
#include "app/model_choice/model_lookup.h"
#include "app/model_choice/model_removal.h"
#include "app/platform/directories.h"
#include "app/platform/output.h"
#include "app/platform/program_name.h"
#include "app/platform/typed_path.h"
#include "app/terminal/choose_model.h"
#include "models/human_bytes.h"
#include "models/text_format.h"

namespace warpchat {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMaxShownName = 400;  // bytes of a name or path

ModelFlags flags_of(const ModelCommandOptions& options) {
  ModelFlags flags;
  flags.device = options.device;
  return flags;
}

FoundModel found_model(const std::string& name, const ModelPlaces& places) {
  const std::string path = find_model_file(typed_path(name));
  const std::vector<FoundModel> models = find_model_files(places);
  const FoundModel* listed = find_listed(models, path);
  return listed != nullptr ? *listed : FoundModel{path, fs::path(path).filename().string()};
}

// The facts also of a file that cannot chat.
ModelChoice described(const FoundModel& model, const ModelFlags& flags) {
  const std::vector<ModelChoice> choices = ModelCatalogue().describe({model}, flags, memory_room(flags.device));
  if (choices.empty())
    throw Error(printable(model.name, kMaxShownName) + " cannot chat; " + program_name() + " inspect shows what it is");
  return choices.front();
}

int show(const ModelCommandOptions& options) {
  const ModelPlaces places = model_places();
  const ModelChoice model = described(found_model(options.name, places), flags_of(options));
  if (options.json) return write_json(model_json(model, places.aliases)), 0;
  write_text(model_details(model, places.aliases));
  return 0;
}

int remove(const ModelCommandOptions& options) {
  const RemovalPlan plan = plan_removal(found_model(options.name, model_places()));
  const std::string name = printable(plan.model.name, kMaxShownName);
  if (!options.yes) {
    if (!can_ask()) throw UsageError("removing a model needs your agreement; add --yes");
    for (const std::string& file : plan.files) write_error_text(printable(file, kMaxShownName) + "\n");
    if (!agrees(removal_question(plan))) throw Error("nothing was removed");
  }
  remove_model(plan);
  const std::vector<FoundModel> left = find_model_files(model_places());
  if (!plan.files.empty() && std::ranges::find(left, plan.model.name, &FoundModel::name) != left.end()) {
    print_error(name + " was removed from one folder, and another one still has it; remove it again");
    return 0;
  }
  write_error_text(plan.files.empty()
                       ? name + " is no longer listed; the file stays where it is\n"
                       : name + " was removed" +
                             (plan.bytes > 0 ? "; " + human_bytes(plan.bytes) + " are free again" : "") + "\n");
  return 0;
}

// What is stored for a name: the whole name of a model in the folders, else its path. What is on the hub alone stays as
// it is, and is offered for download when it is used.
std::string alias_target(const std::string& typed) {
  try {
    const FoundModel model = found_model(typed, model_places());
    std::error_code error;
    return model.folder.empty() ? fs::absolute(model.path, error).lexically_normal().string() : model.name;
  } catch (const NotCached& missing) {
    return missing.name.as_written();
  }
}

int alias(const ModelCommandOptions& options) {
  if (options.name.empty()) {
    std::string lines;
    for (const auto& [name, target] : read_model_book().aliases)
      lines += name + "\t" + printable(target, kMaxShownName) + "\n";
    if (lines.empty()) print_error(with_program_name("no model has an alias; {chat} model alias NAME MODEL gives one"));
    return write_text(lines), 0;
  }
  if (!is_alias(options.name))
    throw UsageError("an alias has no blanks and no slashes and does not begin with - or a dot, found '" +
                     printable(options.name) + "'");
  const std::string target = options.target.empty() ? "" : alias_target(options.target);
  std::string before;
  change_model_book([&](ModelBook& book) {
    if (const auto known = book.aliases.find(options.name); known != book.aliases.end()) before = known->second;
    if (target.empty())
      book.aliases.erase(options.name);
    else
      book.aliases[options.name] = target;
  });
  if (target.empty() && before.empty()) throw UsageError("no model has the alias '" + options.name + "'");
  if (!before.empty() && before != target)
    write_error_text(options.name + " was " + printable(before, kMaxShownName) + " until now\n");
  return 0;
}

std::string whole_path(const std::string& typed) {
  std::error_code error;
  std::string path = fs::absolute(typed_path(typed), error).lexically_normal().string();
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

int add_folder(const ModelCommandOptions& options) {
  const std::string folder = whole_path(options.name);
  add_model_folder(folder);
  const size_t n = find_model_files({.folders = {{folder, ModelStore::kFolder}}, .aliases = {}, .opened = {}}).size();
  write_error_text(printable(folder, kMaxShownName) + " is searched for models from now on; it has " +
                   (n == 0 ? "none yet" : counted(n, "model file")) + "\n");
  return 0;
}

int remove_folder(const ModelCommandOptions& options) {
  const std::string folder = whole_path(options.name);
  bool is_known = false;
  change_model_book([&](ModelBook& book) {
    is_known = std::erase_if(book.folders, [&](const std::string& known) {
                 return known == options.name || whole_path(known) == folder;
               }) > 0;
  });
  if (!is_known) throw UsageError(printable(folder, kMaxShownName) + " is not among the folders that were added");
  write_error_text(printable(folder, kMaxShownName) + " is no longer searched; its files stay\n");
  return 0;
}

int folders() {
  std::string lines;
  for (const ModelFolder& folder : model_places().folders)
    lines += std::string(name_of(folder.store)) + "\t" + printable(folder.path, kMaxShownName) + "\n";
  write_text(lines);
  return 0;
}

}  // namespace

int list_local_models(const ModelFlags& flags, bool as_json) {
  const ModelPlaces places = model_places();
  const std::vector<ModelChoice> models = describe_models(places, flags, memory_room(flags.device));
  if (!places.fault.empty()) print_error(places.fault);
  if (as_json) return write_json(models_json(models, places.aliases)), 0;
  std::string lines;
  for (const std::string& row : listed_rows(models)) lines += row + "\n";
  for (const auto& [name, target] : places.aliases)
    lines += name + "\talias of " + printable(target, kMaxShownName) + "\n";
  for (const ModelChoice& paused : paused_models(hub_cache_directory(), {}))
    lines += paused.name + "\t" + paused.about + "; " + program_name() + " pull goes on\n";
  if (models.empty()) print_error(with_program_name("no model found; {chat} pull lists some that suit this machine"));
  write_text(lines);
  return 0;
}

int run_command(const ModelCommandOptions& options) {
  const std::string& action = options.action;
  const bool takes_name = action != "list" && action != "folders" && action != "alias";
  if (takes_name && options.name.empty())
    throw UsageError(program_name() + " model " + action +
                     (action.ends_with("folder") ? " needs a folder" : " needs a model's name"));
  if (!takes_name && action != "alias" && !options.name.empty())
    throw UsageError(program_name() + " model " + action + " takes no arguments");
  if (action != "alias" && !options.target.empty())
    throw UsageError(program_name() + " model " + action + " takes one name; quote one with blanks");
  if (options.json && action != "list" && action != "show")
    throw UsageError("--json is for " + program_name() + " model list and show");
  if (action == "show") return show(options);
  if (action == "remove") return remove(options);
  if (action == "alias") return alias(options);
  if (action == "add-folder") return add_folder(options);
  if (action == "remove-folder") return remove_folder(options);
  if (action == "folders") return folders();
  return list_local_models(flags_of(options), options.json);
}

}  // namespace warpchat
