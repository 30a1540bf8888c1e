// A file that stays the same is not read again, also by the next start.
#include "app/model_choice/model_facts.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/model_choice/model_loading.h"
#include "app/platform/directories.h"
#include "app/platform/log.h"
#include "app/platform/output.h"
#include "app/platform/text_input.h"
#include "engine/session/model_memory.h"
#include "engine/untrusted_json.h"
#include "models/gguf_reader.h"
#include "models/model_purpose.h"
#include "models/text_format.h"

namespace warpchat {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::json;

constexpr uint64_t kMaxFactsBytes = 16 << 20;
constexpr size_t kMaxArchitecture = 40;

// Indexed by llama.cpp's file type; empty: never used, or withdrawn.
constexpr std::string_view kFileTypes[] = {
    "F32",    "F16",     "Q4_0",   "Q4_1",   "",       "",       "",       "Q8_0",  "Q5_0",    "Q5_1",   "Q2_K",
    "Q3_K_S", "Q3_K_M",  "Q3_K_L", "Q4_K_S", "Q4_K_M", "Q5_K_S", "Q5_K_M", "Q6_K",  "IQ2_XXS", "IQ2_XS", "Q2_K_S",
    "IQ3_XS", "IQ3_XXS", "IQ1_S",  "IQ4_NL", "IQ3_S",  "IQ3_M",  "IQ2_S",  "IQ2_M", "IQ4_XS",  "IQ1_M",  "BF16"};

std::string state_of_file(const char* path) {
  struct stat status;
  if (stat(path, &status) != 0) return "";
  return std::to_string(status.st_size) + " " + std::to_string(status.st_mtim.tv_sec) + " " +
         std::to_string(status.st_mtim.tv_nsec);
}

// Changes whenever the facts may: with the file, the program that has read it, and the flags. Empty: there is no file.
std::string state_of(const std::string& path, const ModelFlags& flags) {
  static const std::string kProgram = state_of_file("/proc/self/exe");
  const std::string file = state_of_file(path.c_str());
  if (file.empty()) return "";
  return file + ", " + kProgram + ", " + std::to_string(flags.context) + " " +
         std::to_string(std::min(flags.batch, flags.micro_batch)) + " " + flags.cache_type_k + " " +
         flags.cache_type_v + " " + std::to_string(flags.cache_ram);
}

uint64_t bytes_of(const std::string& path) {
  uint64_t bytes = 0;
  std::error_code error;
  for (const std::string& file : files_of_model(path))
    if (const uintmax_t size = fs::file_size(file, error); !error) bytes += size;
  return bytes;
}

void read_memory_needed(const GgufFile& file, const ModelFlags& flags, ModelFacts& facts) {
  ModelFlags own = flags;
  own.model = file.path();
  const ModelOptions options = model_options(own);
  const ModelConfig config = read_model_config(file);
  const ModelTensors tensors = find_model_tensors(file, config);
  facts.needed_on_cpu = memory_needed(options, config, tensors, /*on_gpu=*/false);
  facts.needed_on_gpu = memory_needed(options, config, tensors, /*on_gpu=*/true);
}

Json to_json(const ModelFacts& facts) {
  return {{"bytes", facts.bytes},
          {"parameters", facts.n_parameters},
          {"context", facts.context},
          {"quantisation", facts.quantisation},
          {"architecture", facts.architecture},
          {"purpose", facts.purpose},
          {"unsupported", facts.unsupported},
          {"needed_on_cpu", facts.needed_on_cpu},
          {"needed_on_gpu", facts.needed_on_gpu}};
}

ModelFacts facts_from(const Json& stored) {
  return {.bytes = stored.at("bytes"),
          .n_parameters = stored.at("parameters"),
          .context = stored.at("context"),
          .quantisation = stored.at("quantisation"),
          .architecture = stored.at("architecture"),
          .purpose = stored.at("purpose"),
          .unsupported = stored.at("unsupported"),
          .needed_on_cpu = stored.at("needed_on_cpu"),
          .needed_on_gpu = stored.at("needed_on_gpu")};
}

// "3.1B", as the names of models say it.
std::string short_number(uint64_t n) {
  const auto text = [](double number, char unit) {
    char digits[32];
    std::snprintf(digits, sizeof digits, number < 9.95 ? "%.1f" : "%.0f", number);
    return std::string(digits) + unit;
  };
  const double number = static_cast<double>(n);
  return number >= 9.5e8 ? text(number * 1e-9, 'B') : number >= 1e6 ? text(number * 1e-6, 'M') : grouped(n);
}

std::string header_text(const ModelChoice& model) {
  std::string text = model.store;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (model.n_parameters > 0) add(short_number(model.n_parameters) + " parameters");
  if (model.context > 0) add("context " + grouped(model.context));
  return text;
}

ModelChoice choice_of(const FoundModel& model, const ModelFacts& facts, const MemoryRoom& room) {
  ModelChoice choice{.path = model.path,
                     .name = model.name,
                     .bytes = facts.bytes,
                     .quantisation = facts.quantisation,
                     .architecture = facts.architecture,
                     .n_parameters = facts.n_parameters,
                     .context = facts.context,
                     .store = std::string(name_of(model.store))};
  choice.about = header_text(choice);
  choice.needed = room.like_gpu ? facts.needed_on_gpu : facts.needed_on_cpu;
  judge(choice, choice.needed, room);
  if (!facts.unsupported.empty()) choice.fits = FitsMemory::kUnsupported, choice.why = facts.unsupported;
  return choice;
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

// A file that cannot be read or loaded has few facts: loading it says why.
ModelFacts read_model_facts(const std::string& path, const ModelFlags& flags) {
  ModelFacts facts{.bytes = bytes_of(path), .quantisation = quantisation_in_name(path)};
  try {
    const GgufFile file = GgufFile::open(path);
    facts.bytes = file.file_bytes();
    facts.purpose = why_no_chat_model(file);
    for (const TensorInfo& tensor : file.tensors()) facts.n_parameters += tensor.k() * tensor.rows();
    if (const std::string type = name_of_file_type(file.get_uint("general.file_type", UINT64_MAX)); !type.empty())
      facts.quantisation = type;
    facts.architecture = printable(file.get_string("general.architecture", ""), kMaxArchitecture);
    facts.context =
        static_cast<uint32_t>(std::min<uint64_t>(file.get_uint(facts.architecture + ".context_length", 0), UINT32_MAX));
    if (!facts.architecture.empty() && !is_known_architecture(facts.architecture))
      facts.unsupported = "models of the architecture " + facts.architecture + " cannot run here";
    else
      read_memory_needed(file, flags, facts);
  } catch (const std::exception&) {
    return facts;
  }
  return facts;
}

ModelCatalogue::ModelCatalogue(std::string file) : file_(std::move(file)) {}

void ModelCatalogue::load() {
  if (std::exchange(is_loaded_, true) || file_.empty()) return;
  try {
    const Json stored = try_parse_untrusted_json(read_regular_file(file_, kMaxFactsBytes));
    for (const auto& [path, entry] : stored.at("files").items())
      entries_[path] = {entry.at("state"), facts_from(entry.at("facts"))};
  } catch (const std::exception&) {  // there are none, or they are damaged: they are read again
    entries_.clear();
  }
}

const ModelFacts& ModelCatalogue::facts_of(const std::string& path, const ModelFlags& flags) {
  load();
  const std::string state = state_of(path, flags);
  Entry& entry = entries_[path];
  if (state.empty() || entry.state != state) {
    entry = {state, read_model_facts(path, flags)};
    is_changed_ = true;
  }
  return entry.facts;
}

std::vector<ModelChoice> ModelCatalogue::describe(const std::vector<FoundModel>& models, const ModelFlags& flags,
                                                  const MemoryRoom& room) {
  std::vector<ModelChoice> choices;
  for (const FoundModel& model : models)
    if (const ModelFacts& facts = facts_of(model.path, flags); facts.purpose.empty())
      choices.push_back(choice_of(model, facts, room));
  return choices;
}

void ModelCatalogue::save() try {
  if (file_.empty() || !std::exchange(is_changed_, false)) return;
  Json files = Json::object();
  std::error_code error;
  for (const auto& [path, entry] : entries_)
    if (entry.facts.n_parameters > 0 && fs::exists(path, error))
      files[path] = {{"state", entry.state}, {"facts", to_json(entry.facts)}};
  if (!make_private_directory(fs::path(file_).parent_path().string())) return;
  write_file(file_, Json{{"files", files}}.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n",
             OutputFile::Readers::kOwner);
} catch (const Error& fault) {
  log_line(fault.what());
}

std::string facts_file() { return state_directory() + "/model_facts.json"; }

std::vector<ModelChoice> describe_models(const ModelPlaces& places, const ModelFlags& flags, const MemoryRoom& room) {
  ModelCatalogue catalogue(facts_file());
  std::vector<ModelChoice> choices = catalogue.describe(find_model_files(places), flags, room);
  catalogue.save();
  return choices;
}

}  // namespace warpchat
