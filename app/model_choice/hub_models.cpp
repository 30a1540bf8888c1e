// A search is one request for the names and one for the files of each, so the number of names is limited.
#include "app/model_choice/hub_models.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/hub/hub_cache.h"
#include "models/human_bytes.h"
#include "models/model_config.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

struct Suggestion {
  const char* repository;
  uint64_t bytes;  // of its Q4_K_M, roughly
  const char* good_for;
};
constexpr Suggestion kSuggestions[] = {
    {"Qwen/Qwen2.5-0.5B-Instruct-GGUF", 490'000'000, "a first try, on any machine"},
    {"Qwen/Qwen2.5-3B-Instruct-GGUF", 2'100'000'000, "everyday questions, fast"},
    {"Qwen/Qwen3-4B-GGUF", 2'500'000'000, "reasoning, slower"},
    {"Qwen/Qwen2.5-Coder-7B-Instruct-GGUF", 4'700'000'000, "programming"},
    {"Qwen/Qwen3-8B-GGUF", 5'000'000'000, "the best answers in this list"},
};

constexpr size_t kMaxHits = 8;

ModelChoice hub_model(const std::string& name, uint64_t bytes, const std::string& about, const MemoryRoom& room) {
  ModelChoice model{.path = name, .name = name, .bytes = bytes, .kind = ModelChoice::Kind::kFetch, .about = about};
  judge(model, bytes > 0 ? memory_for_file(name, bytes) : 0, room);
  return model;
}

// The bytes of an earlier download, which is resumed from there.
uint64_t bytes_here(const HubCache& cache, const std::vector<HubFile>& files) {
  uint64_t sum = 0;
  for (const HubFile& file : files) sum += cache.has(file) ? file.bytes : cache.bytes_of_half(file);
  return sum;
}

// nullopt: it has no file that Warpchat can load.
std::optional<ModelChoice> model_of(HubClient& hub, const HubHit& hit, const MemoryRoom& room) {
  std::string about = hit.downloads > 0 ? counted(hit.downloads, "download") : "";
  if (!hit.architecture.empty() && !is_known_architecture(hit.architecture)) {
    ModelChoice model = hub_model(hit.repository, 0, about, room);
    model.fits = FitsMemory::kUnsupported;
    model.why = "models of the architecture " + printable(hit.architecture, 40) + " cannot run here";
    return model;
  }
  const std::vector<HubFile> files = hub.files(hit.repository);
  const std::optional<HubModelName> name = usual_model(files, hit.repository);
  if (!name) return std::nullopt;
  const std::vector<HubFile> chosen = choose_files(files, *name);
  if (const uint64_t here = bytes_here(HubCache(hub.settings().cache, hit.repository), chosen); here > 0)
    about = human_bytes(here) + " of it are downloaded already";
  return hub_model(name->text(), total_bytes(chosen), about, room);
}

}  // namespace

std::vector<ModelChoice> suggested_models(const MemoryRoom& room) {
  std::vector<ModelChoice> models;
  for (const Suggestion& s : kSuggestions) models.push_back(hub_model(s.repository, s.bytes, s.good_for, room));
  return models;
}

std::vector<ModelChoice> paused_models(const std::string& cache, const MemoryRoom& room) {
  std::vector<ModelChoice> models;
  for (const PausedDownload& paused : paused_downloads(cache)) {
    const auto percent = static_cast<int>(100.0 * static_cast<double>(paused.here) / static_cast<double>(paused.total));
    models.push_back(
        hub_model(paused.name, paused.total, "its download is paused at " + std::to_string(percent) + "%", room));
  }
  return models;
}

void note_paused_downloads(std::vector<ModelChoice>& models, const std::string& cache) {
  for (ModelChoice& model : models) {
    const uint64_t here = HubCache(cache, model.path.substr(0, model.path.find(':'))).bytes_of_halves();
    if (here > 0) model.about = human_bytes(here) + " of it are downloaded already, and the rest follows";
  }
}

size_t best_suggestion(const std::vector<ModelChoice>& models, const MemoryRoom& room) {
  constexpr uint64_t kMaxCpuBytes = 3'000'000'000;
  size_t best = 0;
  for (size_t i = 0; i < models.size(); ++i) {
    const bool is_fast = room.of_gpu || models[i].bytes <= kMaxCpuBytes;
    if (models[i].fits == FitsMemory::kYes && is_fast && models[i].bytes > models[best].bytes) best = i;
  }
  return best;
}

void search_hub(HubClient& hub, const std::string& words, const MemoryRoom& room,
                const std::function<void(ModelChoice)>& found) {
  bool any = false;
  std::string fault;  // of one repository; the search continues with the others
  for (const HubHit& hit : hub.search(words, kMaxHits)) {
    try {
      std::optional<ModelChoice> model = model_of(hub, hit, room);
      if (!model) continue;
      found(std::move(*model));
      any = true;
    } catch (const HttpStopped&) {
      throw;
    } catch (const Error& error) {
      fault = error.what();
    }
  }
  if (!any && !fault.empty()) throw Error(fault);
}

bool are_search_words(std::string_view text) {
  const bool has_name = text.find_first_not_of(" \t") != std::string_view::npos;
  return has_name && text.find_first_of("\\:~") == std::string_view::npos && std::ranges::count(text, '/') <= 1 &&
         !text.starts_with('.') && !text.starts_with('/') && !text.ends_with(".gguf");
}

}  // namespace warpchat
