// The small models in real formats, with the exact logits of the same tokens.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "tests/support/decoder_cases.h"
#include "tests/support/test_files.h"

namespace warpchat {

inline constexpr Token kExactTokens[] = {10, 200, 1300, 5, 77, 1234, 432, 999, 42, 1999, 1, 1500, 1750, 8, 64};

// body(name, model, logits [tokens, n_vocab]) for each. False where the reference data is not there.
template <class Body>
bool for_each_exact_model(Body&& body) {
  for (const std::string name : {"tiny2", "mini3", "odd2", "tinyll"}) {
    const auto path = reference_data_path(name + "-q4km.gguf"), exact = reference_data_path(name + ".logits.f32");
    if (!path || !exact) return false;
    const std::vector<float> logits = read_floats(*exact);
    body(name, LoadedModel(GgufFile::open(*path)), std::vector<double>(logits.begin(), logits.end()));
  }
  return true;
}

}  // namespace warpchat
