// What the tests of every decoder share: models, tokens, ways to cut them into passes, and how near each has to stay.
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

// A file with what its readers found in it.
struct LoadedModel {
  GgufFile file;
  ModelConfig config;
  ModelTensors tensors;
  explicit LoadedModel(GgufFile f)
      : file(std::move(f)), config(read_model_config(file)), tensors(read_model_tensors(file, config)) {}
};

// Logits of all tokens [n_tokens, n_vocab], decoded in passes of the given sizes (the last one repeats) or of the
// decoder's most columns where that is less. Throws if the decoder stops.
std::vector<float> decode(Decoder& decoder, std::span<const Token> tokens, const std::vector<uint32_t>& passes,
                          uint32_t position = 0);

std::vector<Token> some_tokens(size_t n);

void rotate_last_layer_apart(ModelConfig& config);  // by a base of its own

struct DecoderCase {
  const char* name;
  TinyModelSpec spec;
  Accuracy cpu{8e-4, 1.4e-6}, gpu{1.1e-3, 2.5e-6};  // as measured; most are alike, as the fp16 of keys and values is
};
inline constexpr Accuracy kTinyCodes{1.7e-2,
                                     5.2e-4};  // of the first case with keys or values in q8_0, whose rounding it is
RopeScaling scaled_rope(RopeScaling::Kind kind, double factor);  // of a context of 64
std::span<const DecoderCase> decoder_cases();                    // architectures, shapes, RoPE scalings and formats
// Its file is made once and kept under its name: quantising takes long.
LoadedModel load(const DecoderCase& model);

std::vector<float> read_floats(const std::string& path);

}  // namespace warpchat
