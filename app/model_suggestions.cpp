#include "app/model_suggestions.h"

namespace warpchat {

std::span<const ModelSuggestion> model_suggestions() {
  static constexpr ModelSuggestion kSuggestions[] = {
      {"Qwen/Qwen2.5-0.5B-Instruct-GGUF", 490'000'000, "a first try, on any machine"},
      {"Qwen/Qwen2.5-3B-Instruct-GGUF", 2'100'000'000, "everyday questions, fast"},
      {"Qwen/Qwen3-4B-GGUF", 2'500'000'000, "questions worth a thought"},
      {"Qwen/Qwen2.5-Coder-7B-Instruct-GGUF", 4'700'000'000, "programming"},
      {"Qwen/Qwen3-8B-GGUF", 5'000'000'000, "the hardest questions here"},
  };
  return kSuggestions;
}

uint64_t memory_for_file(uint64_t file_bytes) { return file_bytes + file_bytes / 8 + 600'000'000; }

}  // namespace warpchat
