// Small valid GGUF models with random weights: any architecture, shape, mix of formats and RoPE scaling that the reader
// supports, optionally with activations that are hard to quantise.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/model_config.h"
#include "models/tensor_type.h"
#include "tests/support/gguf/gguf_writer.h"
#include "tests/support/tiny_vocabulary.h"

namespace warpchat {

// Storage format of each kind of matrix. Norms and biases are always F32.
struct TinyFormats {
  TensorType token_embd, output, attn_q, attn_k, attn_v, attn_output, ffn_gate, ffn_up, ffn_down;
  static TinyFormats all(TensorType type) { return {type, type, type, type, type, type, type, type, type}; }
  static TinyFormats q4_k_m();  // Q4_K, with Q6_K for embedding, output, attn_v and ffn_down
};

// kUsual: of queries, keys and values for qwen2, else none. kEvery: also those of attention's output, the dense FFN and
// the logits. kSome: of those, odd layers have attention's and gate's, even ones up's and down's.
enum class TinyBiases { kUsual, kNone, kFused, kQueriesOnly, kEvery, kSome };

struct TinyModelSpec {
  std::string architecture = "qwen2";
  std::string name;  // empty: "tiny qwen2"
  uint32_t n_layers = 2, hidden = 256, ffn = 512, n_heads = 4, n_kv_heads = 2;
  uint32_t head_dim = 0;  // 0: hidden / n_heads, and no key in the file
  uint32_t context_length = 1024;
  uint32_t n_vocab = 0;  // 0: the vocabulary's own size
  TinyVocabulary vocabulary = TinyVocabulary::kByteBpe;
  bool tied_output = true;
  TinyFormats formats = TinyFormats::q4_k_m();
  float rms_eps = 1e-6f, rope_base = 10000;
  uint32_t rope_dims = 0;    // 0: head_dim, and no key in the file
  RopeScaling rope_scaling;  // kLlama3: factors 1 to 8 in rope_freqs.weight, only for llama
  ExpertsConfig experts;     // for moe architectures; formats as for dense matrices
  DeltaNetConfig delta_net;  // for hybrids: all layers but every interval-th
  uint32_t full_attention_interval = 2;
  uint32_t n_unused_blocks = 0;  // blocks after the layers, for multi-token prediction
  bool older_layout = false;     // several matrices per tensor, like delta nets and experts in older files
  TinyBiases biases = TinyBiases::kUsual;
  // One channel of every matrix's input is about this many times the others' rms. Its column in the matrix is as much
  // smaller, so it weighs as much as all others together. 1: no such channel. The input of a tied output has none.
  float outlier = 1;

  // For quick passes whose numbers do not matter.
  static TinyModelSpec smallest(uint32_t n_layers = 1, TensorType type = TensorType::kF16) {
    return {.n_layers = n_layers,
            .hidden = 64,
            .ffn = 128,
            .n_heads = 2,
            .n_kv_heads = 1,
            .formats = TinyFormats::all(type)};
  }

  uint32_t head_size() const { return head_dim ? head_dim : hidden / n_heads; }
  bool is_delta_net(uint32_t layer) const {
    return delta_net.n_v_heads > 0 && (layer + 1) % full_attention_interval != 0;
  }
};

// Keys for name, architecture, sizes and RoPE; the vocabulary adds its own.
void add_model_keys(GgufWriter& writer, const TinyModelSpec& spec);

// The whole file in a writer, so that a test may add to it. Equal seeds give equal bytes.
GgufWriter tiny_model(const TinyModelSpec& spec, uint32_t seed);

// The file's bytes, for GgufFile::view or TemporaryFile.
std::vector<std::byte> build_tiny_model(const TinyModelSpec& spec, uint32_t seed);

}  // namespace warpchat
