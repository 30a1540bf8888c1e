// What models are called on a hub, [hf.co/]org/repo[:QUANT], and what their files' names say. All pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace warpchat {

struct HubModelName {
  std::string repository;  // "org/repo": nothing in it can leave a folder or a URL's path
  std::string quant;       // as written, Q4_K_M where nothing is; also a whole file name's stem

  std::string text() const { return repository + ":" + quant; }
};

// nullopt: it is none, but perhaps a path. A leading https:// and the hub's host are dropped.
std::optional<HubModelName> parse_hub_model_name(std::string_view name);

// The last part of a file's name: "dir/qwen2.5-3b-instruct-q4_k_m-00001-of-00002.gguf" has "Q4_K_M".
std::string quant_of(std::string_view path);

// How well a file is meant by a quantisation, in any case: 0 not at all, 1 an underscore before it or a folder of its
// name, 2 a part of the file's name, 3 the last part, 4 the whole name.
int quant_match(std::string_view path, std::string_view quant);

// Whether it can hold a model's weights: a GGUF file and no projector of images.
bool is_model_path(std::string_view path);

struct FilePart {
  std::string stem;  // the path without "-00001-of-00003.gguf", or without ".gguf"
  unsigned number = 1, n_parts = 1;
};
FilePart part_of(std::string_view path);

}  // namespace warpchat
