// Any bytes as a model file, through reader, listing, configuration and tensors. Gives an Error in one printable line,
// or a model with all tensors inside the file. Seeds: malformed_files writes them.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "models/model_config.h"
#include "models/text_format.h"

namespace warpchat {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_tensor(const TensorInfo& tensor, std::span<const std::byte> file) {
  require(tensor.data.data() >= file.data() && tensor.data.data() + tensor.data.size() <= file.data() + file.size());
  require(tensor.data.size() == tensor.rows() * bytes_per_row(tensor.type, tensor.k()));
}

// Every row of a view must lie inside its tensor.
void check_rows(const TensorInfo& view) {
  for (uint64_t row = 0; row < view.rows(); ++row) {
    const std::span<const std::byte> bytes = view.row(row);
    require(bytes.data() >= view.data.data() && bytes.data() + bytes.size() <= view.data.data() + view.data.size());
  }
}

void check_config(const ModelConfig& config) {
  require(config.n_layers && config.hidden && (config.ffn || config.experts.n) && config.n_heads && config.n_kv_heads &&
          config.head_dim);
  require(config.n_heads % config.n_kv_heads == 0 && config.rope_dims <= config.head_dim);
  for (const Rope& rope : config.ropes) require(rope.frequencies.size() == config.rope_dims / 2);
  require(config.layers.size() == config.n_layers);
  for (const LayerConfig& layer : config.layers) require(layer.rope < config.ropes.size());
}

void load(std::span<const std::byte> bytes) {
  try {
    const GgufFile file = GgufFile::view(bytes, "fuzz");
    for (const GgufFile::Entry& entry : file.entries()) require(entry.text.size() < 10000);
    for (const TensorInfo& tensor : file.tensors()) check_tensor(tensor, bytes);
    const ModelConfig config = read_model_config(file);
    check_config(config);
    const ModelTensors tensors = read_model_tensors(file, config);
    require(tensors.layers.size() == config.n_layers);
    for (const auto& view : tensors.views) check_rows(*view);
  } catch (const Error& error) {
    const std::string_view message = error.what();
    require(message.starts_with("cannot load fuzz: ") && printable(message, message.size()) == message);
  }
}

}  // namespace
}  // namespace warpchat

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  warpchat::load({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
