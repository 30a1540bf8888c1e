// What the tests of every decoder share: models, tokens, ways to cut them into passes, and the limits.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "engine/decoder.h"
#include "models/gguf_reader.h"
#include "models/model_config.h"
#include "tests/support/tiny_model.h"

namespace warpchat {

// The project's limits; see DESIGN.md, Numbers.
inline constexpr double kAllowedError = 5e-3, kAllowedKl = 2e-5;
// With keys and values in q8_0, whose rounding is most of it: of the small files in real formats 6e-3 to 1.4e-2 and
// 2e-5 to 1.9e-4; the tiny models' logits are larger, and so is their divergence.
inline constexpr double kAllowedErrorOfCodes = 2e-2, kAllowedKlOfCodes = 3e-4, kAllowedKlOfTinyCodes = 1e-3;

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

struct DecoderCase {
  const char* name;
  TinyModelSpec spec;
};
RopeScaling scaled_rope(RopeScaling::Kind kind, double factor);  // of a context of 64
std::span<const DecoderCase> decoder_cases();                    // architectures, shapes, RoPE scalings and formats

std::vector<float> read_floats(const std::string& path);

}  // namespace warpchat
