// Shared by the tests of every decoder: models, tokens, ways to cut them into passes, and required accuracy.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "engine/decoder.h"
#include "models/gguf_reader.h"
#include "models/model_config.h"
#include "tests/support/accuracy.h"
#include "tests/support/tiny_model.h"

namespace warpchat {

// A file with the results of its readers.
struct DecodableModel {
  GgufFile file;
  ModelConfig config;
  ModelTensors tensors;
  explicit DecodableModel(GgufFile f)
      : file(std::move(f)), config(read_model_config(file)), tensors(read_model_tensors(file, config)) {}
};

// Logits of all tokens [n_tokens, n_vocab], decoded in passes of these sizes (the last one repeats), limited to the
// decoder's columns. Throws if the decoder stops.
std::vector<float> decode(Decoder& decoder, std::span<const Token> tokens, const std::vector<uint32_t>& passes,
                          uint32_t position = 0);

std::vector<Token> some_tokens(size_t n);

void rotate_last_layer_apart(ModelConfig& config);  // gives the last layer its own RoPE base

struct DecoderCase {
  const char* name;
  TinyModelSpec spec;
  Accuracy cpu{8e-4, 1.4e-6}, gpu{1.1e-3, 2.5e-6};  // as measured; the fp16 of keys and values dominates
};
inline constexpr Accuracy kTinyCodes{1.7e-2, 5.2e-4};            // the first case with q8_0, whose rounding dominates
RopeScaling scaled_rope(RopeScaling::Kind kind, double factor);  // for a context of 64
std::span<const DecoderCase> decoder_cases();                    // architectures, shapes, RoPE scalings and formats
// The file is made once and kept by name, because quantising is slow.
DecodableModel load(const DecoderCase& model);

std::vector<float> read_floats(const std::string& path);

}  // namespace warpchat
