// Small models in real formats with exact logits, computed in float64 by tests/tools/make_exact_models.py.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "tests/support/accuracy.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/test_files.h"

namespace warpchat {

inline constexpr Token kExactTokens[] = {10, 200, 130, 5, 77, 234, 432, 499, 42, 511, 1, 350, 175, 8, 64};

struct ExactModel {
  std::string name;
  Accuracy cpu, gpu_tokens, gpu_prompt;  // measured; prompts and batches use tensor cores
  Accuracy codes;                        // any path, with keys and values in q8_0
};
inline const ExactModel kExactModels[] = {
    {"tiny2", {4.2e-4, 1.1e-7}, {4.2e-4, 1.1e-7}, {6.5e-4, 2.7e-7}, {1.2e-2, 8.6e-5}},
    {"mini3", {2.0e-4, 1.9e-8}, {2.0e-4, 1.9e-8}, {4.7e-4, 1.1e-7}, {5.1e-3, 1.3e-5}},
    {"odd2", {4.2e-4, 1.8e-7}, {4.2e-4, 1.8e-7}, {6.5e-4, 4.7e-7}, {1.2e-2, 1.4e-4}},
    {"tinyll", {1.3e-4, 9.0e-9}, {1.3e-4, 8.8e-9}, {3.3e-4, 5.5e-8}, {3.3e-3, 5.4e-6}},
};

// body(model, loaded, logits [tokens, n_vocab]) for each.
template <class Body>
void for_each_exact_model(Body&& body) {
  for (const ExactModel& model : kExactModels) {
    const std::vector<float> logits = read_floats(reference_data_path(model.name + ".logits.f32"));
    body(model, DecodableModel(GgufFile::open(reference_data_path(model.name + ".gguf"))),
         std::vector<double>(logits.begin(), logits.end()));
  }
}

}  // namespace warpchat
