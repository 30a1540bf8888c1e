// Headers are read once, and again when a file has changed (ModelCatalogue).
#include "app/chat/choices.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "app/model_choice/devices.h"
#include "app/model_choice/hub_models.h"
#include "app/platform/directories.h"
#include "models/threads.h"

namespace warpchat {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kEmulatedTargets[] = {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"};

std::vector<DeviceLine> device_rows() {
  std::vector<DeviceLine> rows;
  for (DeviceLine& line : list_devices()) {
    if (line.name != "emulator" || !line.usable) {
      rows.push_back(std::move(line));
      continue;
    }
    for (const std::string_view target : kEmulatedTargets)
      rows.push_back({"emulator:" + std::string(target), "an emulated GPU on the CPU: slow, checks the kernels", true});
  }
  return rows;
}

void add_suggestions(std::vector<ModelChoice>& choices, const MemoryRoom& room) {
  for (ModelChoice& suggested : suggested_models(room))
    if (std::ranges::none_of(choices, [&](const ModelChoice& here) { return here.name.starts_with(suggested.name); }))
      choices.push_back(std::move(suggested));
}

// The model of the flags comes first, unless it has its place in a folder.
void put_first(std::vector<FoundModel>& models, const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return;
  const auto listed =
      std::ranges::find_if(models, [&](const FoundModel& model) { return fs::equivalent(model.path, path, error); });
  if (listed != models.end() && listed->store != ModelStore::kOpened) return;
  if (listed != models.end()) models.erase(listed);
  models.insert(models.begin(), {path, fs::path(path).filename().string()});
}

}  // namespace

ChoiceFinder::~ChoiceFinder() {
  if (thread_.joinable()) thread_.join();
}

void ChoiceFinder::look(Question question, std::function<void(FoundChoices)> found) {
  if (thread_.joinable()) thread_.join();
  const auto failed = [found](const char* sentence) {
    found({.fault = std::string("cannot look for models and devices: ") + sentence});
  };
  const auto search = [this, question = std::move(question), found = std::move(found)] {
    const ModelPlaces places = model_places();
    std::vector<FoundModel> models = find_model_files(places);
    put_first(models, question.flags.model);
    FoundChoices choices;
    const MemoryRoom room = memory_room(question.flags.device, question.spare_bytes);
    if (!catalogue_) catalogue_.emplace(facts_file());
    choices.models = catalogue_->describe(models, question.flags, room);
    catalogue_->save();
    choices.fault = places.fault;
    for (ModelChoice& paused : paused_models(hub_cache_directory(), room)) choices.models.push_back(std::move(paused));
    add_suggestions(choices.models, room);
    choices.devices = device_rows();
    found(std::move(choices));
  };
  try {
    thread_ = guarded_thread(search, failed);
    return;
  } catch (const std::system_error&) {  // on this thread then
  }
  try {
    search();
  } catch (const std::exception&) {
    failed(sentence_of_current_exception());
  }
}

}  // namespace warpchat
