// Groups files into models (a split one has several files), and ranks models by how well a quantisation matches their
// name.
#include "engine/hub/hub_files.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/hub/sha256.h"
#include "engine/untrusted_json.h"
#include "models/ascii.h"
#include "models/human_bytes.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::json;

constexpr uint64_t kLargestFile = uint64_t{1} << 46;  // 70 TB; the sum of 99,999 parts still fits 64 bits

struct HubModel {
  std::string stem;
  unsigned n_parts = 1;
  std::map<unsigned, HubFile> parts;

  uint64_t bytes() const {
    uint64_t sum = 0;
    for (const auto& [number, file] : parts) sum += file.bytes;
    return sum;
  }
};

[[noreturn]] void refuse_list(const std::string& source, const std::string& why) {
  throw Error("cannot use what " + source + " lists: " + why);
}

// Relative, printable, without empty parts, "." or "..".
bool is_safe_path(const std::string& path) {
  if (path.empty() || path.size() > 1024 || printable(path, path.size()) != path ||
      path.find('\\') != std::string::npos)
    return false;
  for (size_t start = 0; start <= path.size();) {
    const size_t end = std::min(path.find('/', start), path.size());
    const std::string part = path.substr(start, end - start);
    if (part.empty() || part == "." || part == ".." || part.size() > 255) return false;
    start = end + 1;
  }
  return true;
}

uint64_t size_of(const json& entry, const std::string& path, const std::string& source) {
  const auto size = entry.find("size");
  const bool fits = size != entry.end() && size->is_number_unsigned() && size->get<uint64_t>() <= kLargestFile;
  if (!fits) refuse_list(source, printable(path) + " has no size that a file can have");
  return size->get<uint64_t>();
}

HubFile file_of(const json& entry, const std::string& source) {
  HubFile file;
  file.path = entry.at("path").get<std::string>();
  if (!is_safe_path(file.path)) refuse_list(source, "the path '" + printable(file.path) + "' could leave its folder");
  const auto lfs = entry.find("lfs");
  const bool is_large = lfs != entry.end() && lfs->is_object();
  file.bytes = size_of(is_large && lfs->contains("size") ? *lfs : entry, file.path, source);
  if (is_large && lfs->contains("oid") && (*lfs)["oid"].is_string()) file.sha256 = (*lfs)["oid"].get<std::string>();
  if (file.sha256.starts_with("sha256:")) file.sha256.erase(0, 7);
  if (!file.sha256.empty() && !is_sha256(file.sha256))
    refuse_list(source, printable(file.path) + " has no SHA-256 of 64 hexadecimal digits");
  return file;
}

// The hub's own task of a repository. Most name "text-generation" or none.
bool may_chat(const json& entry) {
  const auto task = entry.find("pipeline_tag");
  if (task == entry.end() || !task->is_string()) return true;
  for (const char* other : {"feature-extraction", "sentence-similarity", "text-ranking", "text-classification",
                            "token-classification", "zero-shot-classification"})
    if (*task == other) return false;
  return true;
}

std::vector<HubModel> models_of(const std::vector<HubFile>& files) {
  std::map<std::pair<std::string, unsigned>, HubModel> models;
  for (const HubFile& file : files) {
    if (!is_model_path(file.path)) continue;
    const FilePart part = part_of(file.path);
    HubModel& model = models[{part.stem, part.n_parts}];
    model.stem = part.stem;
    model.n_parts = part.n_parts;
    model.parts[part.number] = file;
  }
  std::vector<HubModel> list;
  for (auto& [key, model] : models) list.push_back(std::move(model));
  return list;
}

// By quantisation, or by whole names with their folder; those of one quantisation always by these.
std::string list_models(std::vector<HubModel> models, bool whole_names) {
  constexpr size_t kShown = 16;
  std::sort(models.begin(), models.end(), [](const auto& a, const auto& b) { return a.bytes() < b.bytes(); });
  std::map<std::string, int> n_with_quant;
  for (const HubModel& model : models) ++n_with_quant[quant_of(model.stem)];
  std::string list;
  for (size_t i = 0; i < std::min(models.size(), kShown); ++i) {
    const std::string quant = quant_of(models[i].stem);
    list += (i ? ", " : "") + printable(whole_names || n_with_quant[quant] > 1 ? models[i].stem : quant) + " (" +
            human_bytes(models[i].bytes()) + ")";
  }
  if (models.size() > kShown) list += " and " + std::to_string(models.size() - kShown) + " more";
  return list;
}

// Among equally good matches, the one whose name the others extend: "m-Q4_K_M" wins over "m-128K-Q4_K_M".
const HubModel* plainest(const std::vector<HubModel>& models) {
  const HubModel* shortest = &models.front();
  for (const HubModel& model : models)
    if (model.stem.size() < shortest->stem.size()) shortest = &model;
  const std::string common = lower_case(shortest->stem.substr(0, shortest->stem.find_last_of("-.")));
  for (const HubModel& model : models)
    if (model.stem != shortest->stem &&
        (model.stem.size() == shortest->stem.size() || !lower_case(model.stem).starts_with(common)))
      return nullptr;
  return shortest;
}

// The best matches, from models that accompany none; if there is none, from the others.
std::vector<HubModel> best_matches(const std::vector<HubModel>& models, const std::string& quant) {
  std::vector<HubModel> best;
  int best_rank = 0;
  for (const HubModel& model : models) {
    const int rank = quant_rank(model.stem, quant);
    if (rank > best_rank) best.clear();
    if (rank > 0 && rank >= best_rank) best.push_back(model);
    best_rank = std::max(best_rank, rank);
  }
  return best;
}

const HubModel& choose_model(const std::vector<HubModel>& models, const HubModelName& name,
                             std::vector<HubModel>& best) {
  best = best_matches(models, name.quant);
  if (best.empty() && name.is_default) {
    std::ranges::copy_if(models, std::back_inserter(best), [](const auto& m) { return !is_companion(m.stem); });
    if (best.size() != 1) best.clear();
  }
  if (best.empty())
    throw Error("there is no " + name.quant + " in " + name.repository + "; there is " + list_models(models, false));
  const HubModel* chosen = plainest(best);
  if (chosen == nullptr)
    throw Error(name.text() + " can mean several files; name one of them behind the colon: " + list_models(best, true));
  return *chosen;
}

}  // namespace

std::vector<HubFile> parse_file_list(std::string_view text, const std::string& source) {
  const json list = try_parse_untrusted_json(text);
  if (!list.is_array()) refuse_list(source, "it is no JSON list of files");
  std::vector<HubFile> files;
  for (const json& entry : list) {
    if (!entry.is_object() || !entry.contains("path") || !entry["path"].is_string())
      refuse_list(source, "an entry has no path");
    if (entry.value("type", json("file")) == "file") files.push_back(file_of(entry, source));
  }
  return files;
}

std::vector<HubHit> parse_search(std::string_view text, const std::string& source) {
  std::vector<HubHit> hits;
  const json list = try_parse_untrusted_json(text);
  if (!list.is_array()) refuse_list(source, "it is no JSON list of models");
  for (const json& entry : list) {
    if (!entry.is_object() || !entry.contains("id") || !entry["id"].is_string()) continue;
    const auto name = parse_hub_model_name(entry["id"].get<std::string>());
    if (!name || !may_chat(entry)) continue;
    HubHit hit{.repository = name->repository};
    if (const auto n = entry.find("downloads"); n != entry.end() && n->is_number_unsigned()) hit.downloads = *n;
    if (const auto gguf = entry.find("gguf"); gguf != entry.end() && gguf->is_object())
      if (const auto type = gguf->find("architecture"); type != gguf->end() && type->is_string())
        hit.architecture = type->get<std::string>();
    hits.push_back(std::move(hit));
  }
  return hits;
}

std::vector<HubFile> choose_files(const std::vector<HubFile>& files, const HubModelName& name) {
  const std::vector<HubModel> models = models_of(files);
  if (models.empty())
    throw Error(name.repository + " holds no GGUF file; look for a repository of the model whose name ends in -GGUF");
  std::vector<HubModel> best;
  const HubModel& model = choose_model(models, name, best);
  std::vector<HubFile> chosen;
  for (unsigned i = 1; i <= model.n_parts && i <= files.size(); ++i) {
    const auto part = model.parts.find(i);
    if (part == model.parts.end()) break;
    if (part->second.sha256.empty())
      throw Error(name.repository + " has no SHA-256 for " + part->second.path +
                  ", so a download could not be checked; take another quantisation or repository");
    chosen.push_back(part->second);
  }
  if (chosen.size() != model.n_parts)
    throw Error(name.repository + " lacks part " + std::to_string(chosen.size() + 1) + " of the " +
                std::to_string(model.n_parts) + " of " + model.stem + "; take another quantisation or repository");
  return chosen;
}

std::optional<HubModelName> usual_model(const std::vector<HubFile>& files, const std::string& repository) {
  for (const char* quant : {"Q4_K_M", "Q4_K_S",  "Q4_0",   "Q4_1",   "Q5_K_M", "Q5_K_S", "Q5_0",   "Q6_K",
                            "Q8_0",   "F16",     "IQ4_XS", "IQ4_NL", "Q3_K_M", "Q3_K_S", "IQ3_M",  "IQ3_S",
                            "IQ3_XS", "IQ3_XXS", "Q2_K",   "IQ2_M",  "IQ2_S",  "IQ2_XS", "IQ2_XXS"}) {
    const HubModelName name{repository, quant};
    try {
      choose_files(files, name);
      return name;
    } catch (const Error&) {
      // Missing, incomplete or ambiguous: try the next.
    }
  }
  return std::nullopt;
}

uint64_t total_bytes(const std::vector<HubFile>& files) {
  uint64_t sum = 0;
  for (const HubFile& file : files) sum += file.bytes;
  return sum;
}

}  // namespace warpchat
