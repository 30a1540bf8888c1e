// A decoder: the likeliest continuation of a text by a GGUF model, on the CPU.
//   example_decode_tokens model.gguf "Once upon a time" 8
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "engine/cpu/cpu_steps.h"
#include "engine/decoder.h"
#include "models/tokenizer/tokenizer.h"

using namespace warpchat;

int main(int argc, char** argv) {
  try {
    if (argc != 4 || std::atoi(argv[3]) < 1) throw Error("usage: example_decode_tokens MODEL.gguf TEXT COUNT");
    const auto count = static_cast<uint32_t>(std::atoi(argv[3]));
    // Each of these readers checks what it reads: the file, its sizes, its weights, its vocabulary.
    const GgufFile file = GgufFile::open(argv[1]);
    const ModelConfig config = read_model_config(file);
    const ModelTensors tensors = read_model_tensors(file, config);
    const std::unique_ptr<Tokenizer> tokenizer = Tokenizer::from(file);
    const std::vector<Token> prompt = tokenizer->encode(argv[2], /*parse_special=*/false, /*add_bos=*/true);
    if (prompt.empty()) throw Error("the text is empty");

    // The decoder knows the order of a model's steps. A device computes them, here the CPU.
    const auto n_prompt = static_cast<uint32_t>(prompt.size());
    Decoder decoder(config, make_cpu_steps(config, tensors, {.context = n_prompt + count}));

    // Prefill: the whole prompt. Its last column has the logits that are wanted.
    uint32_t column = decoder.prefill(prompt, /*position=*/0).value();
    std::vector<Token> answer;
    for (uint32_t i = 0; i < count; ++i) {
      const std::span<const float> logits = decoder.logits(column);  // [n_vocab]
      const auto next = static_cast<Token>(std::max_element(logits.begin(), logits.end()) - logits.begin());
      if (tokenizer->ends_generation(next)) break;
      answer.push_back(next);
      // Decode: one token at the next position. The keys and values of all tokens before are in the cache.
      decoder.forward({&next, 1}, n_prompt + i, Logits::kLast);
      column = 0;
    }

    // A token may be a part of a character: the detokeniser waits for the rest.
    StreamDetokenizer detokenizer(*tokenizer);
    for (const Token token : prompt) std::printf("%d ", token);
    std::printf("->");
    for (const Token token : answer) std::printf(" %d", token);
    std::printf("\n");
    for (const Token token : answer) std::printf("%s", detokenizer.add(token).c_str());
    std::printf("%s\n", detokenizer.flush().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "example_decode_tokens: %s\n", error.what());
    return 1;
  }
}
