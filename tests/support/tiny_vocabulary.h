// Vocabularies of a few hundred tokens that encode every text, as GGUF keys.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/gguf/gguf_writer.h"

namespace warpchat {

enum class TinyVocabulary {
  kByteBpe,  // 256 byte tokens, some English merges, then <|endoftext|>, <|im_start|>, <|im_end|>
  kSpm,      // <unk>, <s>, </s>, 256 byte tokens, pieces with scores, then <|im_start|>, <|im_end|>
};

// A special token behind the vocabulary's own.
struct AddedToken {
  std::string text;
  bool is_control;  // else user-defined
};

// Number of tokens without added ones and padding.
uint32_t vocabulary_size(TinyVocabulary kind);

// Adds the keys tokenizer.* with a ChatML template. n_vocab >= vocabulary_size and added tokens; the rest are unused
// tokens "[PADn]". Answers end at <|im_end|>. kSpm adds <s> as bos, kByteBpe adds none.
void add_vocabulary(GgufWriter& writer, TinyVocabulary kind, uint32_t n_vocab,
                    const std::vector<AddedToken>& added = {});

}  // namespace warpchat
