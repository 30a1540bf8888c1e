// chat inspect: a GGUF file's metadata and tensors, for people or as JSON. Needs no supported architecture.
#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/commands/commands.h"
#include "app/model_choice/model_loading.h"
#include "app/platform/output.h"
#include "engine/untrusted_json.h"
#include "models/gguf_reader.h"
#include "models/tensor_type.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::ordered_json;

constexpr size_t kLongestValue = 96;  // columns of a value in the listing
constexpr size_t kLongestFormat = 7;  // "IQ2_XXS"

std::string_view type_name(GgufType type) {
  constexpr std::array<std::string_view, 13> kNames = {"uint8",  "int8",    "uint16", "int16",  "uint32",
                                                       "int32",  "float32", "bool",   "string", "array",
                                                       "uint64", "int64",   "float64"};
  return kNames.at(static_cast<size_t>(type));
}

uint64_t n_parameters(const GgufFile& file) {
  uint64_t n = 0;
  for (const TensorInfo& tensor : file.tensors()) n += tensor.k() * tensor.rows();
  return n;
}

std::string shape_text(const TensorInfo& tensor) {
  std::string shape;
  for (uint32_t i = 0; i < tensor.n_dims; ++i) shape += (i ? " x " : "") + std::to_string(tensor.shape[i]);
  return shape;
}

std::string padded(const std::string& text, size_t width) {
  return text + std::string(std::max(width, text.size()) - text.size(), ' ');
}

std::string metadata_listing(const GgufFile& file) {
  size_t width = 0;
  for (const GgufFile::Entry& entry : file.entries()) width = std::max(width, printable(entry.key).size());
  std::string text = "metadata\n";
  for (const GgufFile::Entry& entry : file.entries()) {
    std::string type(type_name(entry.element));
    if (entry.type == GgufType::kArray) type += "[" + std::to_string(entry.n_elements) + "]";
    text += "  " + padded(printable(entry.key), width) + "  " + padded(type, 15) + "  " +
            printable(entry.text, kLongestValue) + "\n";
  }
  return text;
}

std::string tensor_listing(const GgufFile& file) {
  size_t width = 0;
  for (const TensorInfo& tensor : file.tensors()) width = std::max(width, printable(tensor.name).size());
  std::string text = "tensors\n";
  for (const TensorInfo& tensor : file.tensors())
    text += "  " + padded(printable(tensor.name), width) + "  " +
            padded(std::string(traits(tensor.type).name), kLongestFormat) + "  " + padded(shape_text(tensor), 16) +
            "  " + grouped(tensor.data.size()) + " bytes\n";
  return text;
}

std::string format_listing(const GgufFile& file) {
  std::string text = "formats\n";
  for (const TensorTypeTraits& type : supported_tensor_types()) {
    uint64_t n = 0, bytes = 0;
    for (const TensorInfo& tensor : file.tensors()) {
      if (tensor.type != type.type) continue;
      ++n;
      bytes += tensor.data.size();
    }
    if (n > 0)
      text += "  " + padded(std::string(type.name), kLongestFormat + 1) + counted(n, "tensor") + ", " + grouped(bytes) +
              " bytes\n";
  }
  return text;
}

// JSON has no NaN and no infinity: they stay words.
ordered_json number_of(const std::string& text) {
  const ordered_json value = try_parse_untrusted_json<ordered_json>(text);
  return value.is_number() ? value : ordered_json(text);
}

ordered_json value_of(const GgufFile& file, const GgufFile::Entry& entry) {
  switch (entry.type) {
    case GgufType::kArray:
      return {{"array_of", type_name(entry.element)}, {"length", entry.n_elements}, {"begins", entry.text}};
    case GgufType::kString:
      return file.get_string(entry.key);
    case GgufType::kBool:
      return file.get_bool(entry.key, false);
    case GgufType::kFloat32:
    case GgufType::kFloat64:
    case GgufType::kInt8:
    case GgufType::kInt16:
    case GgufType::kInt32:
    case GgufType::kInt64:
      return number_of(entry.text);
    default:
      return file.get_uint(entry.key);
  }
}

std::string as_json(const GgufFile& file) {
  ordered_json metadata = ordered_json::object(), tensors = ordered_json::array();
  for (const GgufFile::Entry& entry : file.entries()) metadata[std::string(entry.key)] = value_of(file, entry);
  for (const TensorInfo& tensor : file.tensors())
    tensors.push_back({{"name", tensor.name},
                       {"type", traits(tensor.type).name},
                       {"shape", std::vector<uint64_t>(tensor.shape.begin(), tensor.shape.begin() + tensor.n_dims)},
                       {"bytes", tensor.data.size()}});
  const ordered_json all = {{"file", file.path()},        {"version", file.version()},
                            {"bytes", file.file_bytes()}, {"parameters", n_parameters(file)},
                            {"metadata", metadata},       {"tensors", tensors}};
  return all.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

int run_command(const InspectOptions& options) {
  const GgufFile file = GgufFile::open(find_model_file(options.model));
  if (options.json) {
    write_json(as_json(file));
    return 0;
  }
  write_output(file.path() + ": GGUF version " + std::to_string(file.version()) + ", " + grouped(file.file_bytes()) +
               " bytes, " + counted(file.tensors().size(), "tensor") + ", " + counted(n_parameters(file), "parameter") +
               "\n\n" + metadata_listing(file) + "\n" + tensor_listing(file) + "\n" + format_listing(file));
  return 0;
}

}  // namespace warpchat
