// Several sequences through one decoder, compared with each alone.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/reference/closeness.h"
#include "tests/reference/reference_decoder.h"
#include "tests/support/decoder_cases.h"

namespace warpchat {

// Decodes three sequences in passes that they leave and join, with whole prompts beside the others' tokens. Compares
// every logit with the reference for the sequence alone. decoder: at least three sequences.
inline void expect_batches_match_the_reference(Decoder& decoder, const DecodableModel& model, const Accuracy& measured,
                                               const std::string& name) {
  const std::vector<Token> text = some_tokens(40);
  const std::vector<Token> prompts[] = {
      {text.begin(), text.begin() + 9}, {text.begin() + 20, text.begin() + 21}, {text.begin() + 30, text.begin() + 37}};
  const std::vector<std::vector<uint32_t>> batches = {{0}, {0, 1}, {0, 1, 2}, {1, 2, 0}, {2, 0}, {1}, {2, 1}};
  const uint32_t n_vocab = model.config.n_vocab;
  std::vector<Token> tokens[3];
  std::vector<float> logits[3];
  const auto keep = [&](uint32_t sequence, std::span<const float> row) {
    logits[sequence].insert(logits[sequence].end(), row.begin(), row.end());
  };
  uint32_t next = 0;
  for (const std::vector<uint32_t>& batch : batches) {
    std::vector<Run> runs;
    for (const uint32_t sequence : batch) {
      std::vector<Token>& so_far = tokens[sequence];
      const auto position = static_cast<uint32_t>(so_far.size());
      if (so_far.empty())
        so_far = prompts[sequence];
      else
        so_far.push_back(static_cast<Token>(++next * 53 % 256));
      runs.push_back({sequence, position, std::span(so_far).subspan(position), Logits::kAll});
    }
    ASSERT_TRUE(decoder.forward(runs));
    uint32_t column = 0;
    for (const Run& run : runs)
      for (const uint32_t end = column + run.n_columns(); column < end; ++column)
        keep(run.sequence, decoder.logits(column));
  }
  for (uint32_t sequence = 0; sequence < 3; ++sequence) {
    expect_accuracy(compare_logits(logits[sequence], reference_logits(model.file, tokens[sequence]), n_vocab), measured,
                    name + ", sequence " + std::to_string(sequence));
  }
}

}  // namespace warpchat
