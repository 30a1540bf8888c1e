// Headers are read once, and again when a file has changed.
#include "app/chat/choices.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <system_error>
#include <utility>

#include "app/devices.h"
#include "app/hub_models.h"
#include "app/model_loading.h"
#include "engine/session/model_memory.h"
#include "models/gguf_reader.h"
#include "models/threads.h"

namespace warpchat {

namespace fs = std::filesystem;

namespace {

// Indexed by llama.cpp's file type; empty: never used, or withdrawn.
constexpr std::string_view kFileTypes[] = {
    "F32",    "F16",     "Q4_0",   "Q4_1",   "",       "",       "",       "Q8_0",  "Q5_0",    "Q5_1",   "Q2_K",
    "Q3_K_S", "Q3_K_M",  "Q3_K_L", "Q4_K_S", "Q4_K_M", "Q5_K_S", "Q5_K_M", "Q6_K",  "IQ2_XXS", "IQ2_XS", "Q2_K_S",
    "IQ3_XS", "IQ3_XXS", "IQ1_S",  "IQ4_NL", "IQ3_S",  "IQ3_M",  "IQ2_S",  "IQ2_M", "IQ4_XS",  "IQ1_M",  "BF16"};

constexpr std::string_view kEmulatedTargets[] = {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"};

std::vector<DeviceChoiceRow> device_rows() {
  std::vector<DeviceChoiceRow> rows;
  for (DeviceLine& line : list_devices()) {
    if (line.name != "emulator" || !line.usable) {
      rows.push_back({std::move(line.name), std::move(line.text), line.usable});
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

bool is_among(const std::vector<FoundModel>& models, const std::string& path) {
  std::error_code error;
  return std::any_of(models.begin(), models.end(),
                     [&](const FoundModel& model) { return fs::equivalent(model.path, path, error); });
}

}  // namespace

std::string name_of_file_type(uint64_t number) {
  return number < std::size(kFileTypes) ? std::string(kFileTypes[number]) : "";
}

std::string quantisation_in_name(const std::string& path) {
  std::string stem = fs::path(path).stem().string();
  std::transform(stem.begin(), stem.end(), stem.begin(),
                 [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
  if (const size_t part = stem.rfind("-00001-OF-"); part != std::string::npos) stem.resize(part);
  const std::string last = stem.substr(stem.find_last_of("-.") + 1);
  const bool is_known =
      !last.empty() && std::find(std::begin(kFileTypes), std::end(kFileTypes), last) != std::end(kFileTypes);
  return is_known ? last : "";
}

ChoiceFinder::~ChoiceFinder() {
  if (thread_.joinable()) thread_.join();
}

void ChoiceFinder::look(Question question, std::function<void(FoundChoices)> found) {
  if (thread_.joinable()) thread_.join();
  const auto failed = [found](const char* sentence) {
    found({.fault = std::string("cannot look for models and devices: ") + sentence});
  };
  const auto search = [this, question = std::move(question), found = std::move(found)] {
    std::vector<FoundModel> models = find_models(model_folders());
    const std::string& own = question.flags.model;
    std::error_code error;
    if (fs::exists(own, error) && !is_among(models, own))
      models.insert(models.begin(), {own, fs::path(own).filename().string()});
    FoundChoices choices;
    const MemoryRoom room = memory_room(question.flags.device, question.spare_bytes);
    for (const FoundModel& model : models) choices.models.push_back(choice(model, question.flags, room));
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

ModelChoice ChoiceFinder::choice(const FoundModel& model, const ModelFlags& flags, const MemoryRoom& room) {
  std::error_code error;
  const fs::file_time_type changed = fs::last_write_time(model.path, error);
  Header& header = headers_[model.path];
  if (header.bytes == 0 || header.changed != changed || header.context != flags.context) {
    header = read(model.path, flags);
    header.changed = changed;
  }
  ModelChoice choice{
      .path = model.path, .name = model.name, .bytes = header.bytes, .quantisation = header.quantisation};
  judge(choice, room.like_gpu ? header.needed_on_gpu : header.needed_on_cpu, room);
  return choice;
}

ChoiceFinder::Header ChoiceFinder::read(const std::string& path, const ModelFlags& flags) {
  Header header;
  header.context = flags.context;
  std::error_code error;
  header.bytes = fs::file_size(path, error);
  header.quantisation = quantisation_in_name(path);
  try {
    ModelFlags own = flags;
    own.model = path;
    const ModelOptions options = model_options(own);
    const GgufFile file = GgufFile::open(path);
    header.bytes = file.file_bytes();
    const std::string type = name_of_file_type(file.get_uint("general.file_type", UINT64_MAX));
    if (!type.empty()) header.quantisation = type;
    const ModelConfig config = read_model_config(file);
    const ModelTensors tensors = find_model_tensors(file, config);
    header.needed_on_cpu = memory_needed(options, config, tensors, /*on_gpu=*/false);
    header.needed_on_gpu = memory_needed(options, config, tensors, /*on_gpu=*/true);
  } catch (const std::exception&) {
    // A file that cannot be loaded is listed, too: loading it reports why.
  }
  return header;
}

}  // namespace warpchat
