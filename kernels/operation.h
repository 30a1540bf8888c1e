// A pass through a network as data: operations in order, with named operands. engine/decoder.cpp makes the list of a
// text decoder. The CPU has one function for each kind of operation; a GPU launches kernels for it (launch_list.h).
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "models/layer_matrices.h"
#include "models/model_config.h"

namespace warpchat {

// Memory of a pass. Up to kLogits a buffer has one column per token, of f32 if not stated: see shape_of().
enum class Buffer : uint8_t {
  kHidden,
  // Attention and its output.
  kQ,
  kK,
  kV,
  kQGate,
  kMixed,
  // A delta net and its output.
  kQkv,
  kZ,
  kAlpha,
  kBeta,
  kDeltaMixed,
  // A dense FFN.
  kInner,
  // Experts: scores, the choice (u32 and f32), products of the chosen and of the shared one.
  kScores,
  kSharedExpertGate,
  kExperts,
  kExpertWeights,
  kExpertInner,
  kExpertOutputs,
  kSharedInner,
  kSharedOutput,
  // u32 each.
  kTokens,
  kPositions,
  // A column for each wanted token.
  kLogits,
  // u64 addresses of the sequences' page tables and recurrent states.
  kPageTables,
  kStates,
  // A layer's cache.
  kKeys,
  kValues,
  // A product's input in f16 and in integers (f16_activations.h, int_activations.h); assignments by expert
  // (expert_order.h).
  kHalves,
  kHalfFactors,
  kIntegers,
  kIntegerFactors,
  kExpertOrder,
  kExpertTiles,
  kAttentionScratch,
  kBatchScratch,
  kDeltaChunks,
  kError,
  // The persistent decoder's next token, and logits for the host.
  kChoice,
  kRows,
  kNone
};
inline constexpr size_t kBuffers = static_cast<size_t>(Buffer::kNone);
std::string_view name_of(Buffer buffer);  // "hidden"; both mixers' output is "mixed"

struct BufferShape {
  uint32_t width = 0;       // values of 4 bytes in a row; 0: the model has no such buffer
  uint32_t per_column = 1;  // rows per column: assignments
};
// For the buffers with one column per token, up to kLogits.
BufferShape shape_of(Buffer buffer, const ModelConfig& config);

// output = weights . input + bias, or with `up` silu(weights . input + bias) * (up . input + up_bias).
struct MatrixProduct {
  Weight weights;
  Weight bias = Weight::kNone;  // optional in the model, too
  Buffer output;
  bool adds = false;  // adds to the output
  Weight up = Weight::kNone, up_bias = Weight::kNone;
};

// The kinds of operations.
struct Embedding {
  Buffer output;
};
struct Products {
  Buffer input;
  Weight norm;  // RMSNorm of the input; kNone: none
  std::vector<MatrixProduct> products;
};
// Applies QK norm where the model has it and RoPE to q and k, stores k and v in the layer's cache in its types, then
// computes causal grouped-query attention up to each column's own position, times the gate's sigmoid. Overwrites q, k
// and v.
struct Attention {
  Buffer q, k, v;
  std::optional<Buffer> gate;
  Buffer output;
};
// qkv = causal convolution over the sequence's positions, with queries and keys normalised to unit length; alpha, beta
// = decay and beta factors.
struct Convolution {
  Buffer qkv, alpha, beta;
};
struct Recurrence {  // output = rmsnorm(state . query) * silu(z)
  Buffer qkv, z, alpha, beta, output;
};
// Only columns with wanted logits matter from here on; later operations skip the others. Ends a pass without any.
struct WantedColumns {
  std::vector<Buffer> buffers;  // that later operations read
};
struct Routing {  // chooses each column's experts by the first product
  Products scores;
};
struct Experts {  // output += outputs of the chosen experts, and of the shared one times its gate's sigmoid
  Buffer input;
  Weight norm;
  MatrixProduct gate_up, down;
  std::optional<MatrixProduct> shared_gate_up, shared_down;
  Buffer output;
};

struct Operation {
  std::string_view name;  // of its profile row: "norm_qkv"
  uint32_t layer;         // n_layers outside the layers
  bool begins_part;       // of a layer, its mixer or its FFN: a stop takes effect here
  std::variant<Embedding, Products, Attention, Convolution, Recurrence, WantedColumns, Routing, Experts> what;
  uint32_t index = 0;  // in the network
};
using Network = std::vector<Operation>;

// The buffers that an operation's products multiply; those that it computes, as both devices have them; and all that it
// reads or writes.
std::vector<Buffer> inputs_of_products(const Operation& operation);
std::vector<Buffer> outputs_of(const Operation& operation);
std::vector<Buffer> buffers_of(const Operation& operation);

}  // namespace warpchat
