// Model names on a hub, [hf.co/]org/repo[:[FOLDER/]QUANT], and information in file names. Pure functions.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace warpchat {

struct HubModelName {
  std::string repository;  // "org/repo": cannot leave a folder or a URL's path
  std::string quant;       // as written; default Q4_K_M; may be a complete file name without extension, with its folder
  bool is_default = false;  // no quantisation was written

  std::string text() const { return repository + ":" + quant; }
  std::string as_written() const { return is_default ? repository : text(); }
};

// Also from the address of a repository's, a folder's or a file's page on the hub, as a browser has it. nullopt: not a
// hub name, perhaps a path.
std::optional<HubModelName> parse_hub_model_name(std::string_view name);

bool is_hub_address(std::string_view text);  // it begins with the hub's host

// The last part of a file's name: "dir/qwen2.5-3b-instruct-q4_k_m-00001-of-00002.gguf" has "Q4_K_M". "UD-Q4_K_XL" is
// one.
std::string quant_of(std::string_view path);

// How well a quantisation matches a file, ignoring case: 0 not at all, 1 after an underscore or as the folder's name, 2
// part of the file's name, 3 last part, 4 whole name, 5 whole name with its folder. "FOLDER/QUANT" matches in that
// folder.
int quant_match(std::string_view path, std::string_view quant);

// Whether it may contain a model's weights: a GGUF file, but no image projector.
bool is_model_path(std::string_view path);

// Whether a file accompanies a model, by its name or folder: drafts (MTP, EAGLE), importance matrices, adapters. It is
// meant only if nothing else is.
bool is_companion(std::string_view path);

// The two together: the file with the highest rank is meant; 0: not at all.
int quant_rank(std::string_view path, std::string_view quant);

struct FilePart {
  std::string stem;  // the path without "-00001-of-00003.gguf", or without ".gguf"
  unsigned number = 1, n_parts = 1;
};
FilePart part_of(std::string_view path);

}  // namespace warpchat
