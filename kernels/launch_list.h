// From a network, a model's sizes and its formats to the kernel launches of a pass, in order, each with its spec and
// its named arguments. Everything that a GPU needs to know of a pass follows from this list: kernels to compile,
// launches, memory, bytes, and the persistent decoder's program.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/kernel_spec.h"
#include "kernels/operation.h"

namespace warpchat {

// Formats of weights, which PerWeight<std::optional<TensorType>> has by name; none: the model lacks the weight.
struct LayerFormats {
  LayerMatrices<TensorType> matrices;
  LayerVectors<bool> has;
  ExpertMatrices<TensorType> experts = {};
  DeltaMatrices<TensorType> delta = {};
};
struct DecoderFormats {
  TensorType token_embd, output;
  std::vector<LayerFormats> layers;
  bool has_output_bias = false;
};
DecoderFormats formats_of(const ModelTensors& tensors);

// What the columns of a pass are.
enum class PassKind : uint8_t {
  kDecode,      // one position of one sequence
  kPrefill,     // consecutive positions of one sequence
  kSmallBatch,  // one position each of 2 to kFewSequences sequences, with a token's products: bit-identical to single
                // tokens
  kBatch,       // one position each of more sequences
  kVerify,  // draft verification: a few positions of one sequence, with a token's products; attention and states run in
            // turn
};
inline constexpr size_t kPassKinds = 5;
inline constexpr uint32_t kFewSequences = 8;    // from more sequences on, gemm is faster
PassKind kind_of_tokens(uint32_t n_sequences);  // for one token of each sequence

struct PassShape {
  PassKind kind;
  uint32_t columns;  // maximum per pass, 1 for kDecode
  uint32_t context;  // positions per KV cache
  KvTypes cache = {};
};

// The value of a kernel's parameter: memory of the pass at the launch's first column, a weight of the operation's
// layer, or a number.
struct Operand {
  enum class Kind : uint8_t {
    kAbsent,  // a null address, where the kernel allows one
    kNumber,
    kWeight,
    kBuffer,
    kHalves,   // of a buffer with f16 values instead of floats: f16_activations.h
    kFactors,  // of those values
    kPages,    // number of pages in the cache
    kColumns   // of the launch
  };
  enum class Access : uint8_t { kRead, kWrite, kUpdate };
  Kind kind = Kind::kAbsent;
  Access access = Access::kRead;
  Buffer buffer = Buffer::kNone;
  Weight weight = Weight::kNone;
  uint32_t number = 0;

  constexpr Operand() = default;
  constexpr Operand(Buffer b, Access a = Access::kRead) : kind(Kind::kBuffer), access(a), buffer(b) {}
  constexpr Operand(Weight w) : kind(w == Weight::kNone ? Kind::kAbsent : Kind::kWeight), weight(w) {}
  static constexpr Operand of(Kind kind, uint32_t number = 0) {
    Operand operand;
    operand.kind = kind, operand.number = number;
    return operand;
  }
  static constexpr Operand of_number(uint32_t number) { return of(Kind::kNumber, number); }
  constexpr bool is_address() const { return kind != Kind::kNumber && kind != Kind::kPages && kind != Kind::kColumns; }
};
constexpr Operand written(Buffer buffer) { return {buffer, Operand::Access::kWrite}; }
constexpr Operand updated(Buffer buffer) { return {buffer, Operand::Access::kUpdate}; }

struct NamedOperand {
  std::string name;  // of the kernel's parameter
  Operand value;
};

// The phases of a token in the persistent decoder (phase_program.h), which are groups of launches.
enum class PhaseKind : uint8_t {
  kEmbed,
  kQkv,  // or a delta net's projections
  kAttention,
  kConv,
  kDelta,
  kOutput,
  kGateUp,
  kDown,
  kRouter,
  kExpertsGateUp,
  kExpertsDown,
  kExpertsSum,
  kLogits,
  kSample,
  kEmit
};
std::string_view name_of(PhaseKind kind);

struct KernelLaunch {
  PhaseKind phase;
  KernelSpec spec;
  std::vector<NamedOperand> arguments;                        // all of its kernel's but n_columns and n_queries
  const Operand* find_argument(std::string_view name) const;  // null without
  uint32_t per_column = 1;  // columns of the kernel per column of the pass: assignments
  bool in_turn = false;     // one launch per column, since columns share a state
};

// The operands in the order of the kernel's parameters. Error if an argument or a parameter lacks its counterpart.
std::vector<Operand> operands_of(const KernelLaunch& launch, const ptx::Kernel& kernel);

struct OperationLaunches {
  uint32_t layer;  // the number of layers outside of them
  std::vector<KernelLaunch> launches;
};

using DecoderAttentionSpec = std::variant<AttentionSpec, FlashAttentionSpec>;

struct LaunchList {
  PassShape shape;
  DecoderAttentionSpec attention;  // the same for every layer, also where no layer has it
  std::vector<LayerConfig> layers;
  std::vector<OperationLaunches> operations;  // as in the network

  // The first launch of this kind of spec; null without.
  template <class Spec>
  const Spec* first() const {
    for (const OperationLaunches& operation : operations)
      for (const KernelLaunch& launch : operation.launches)
        if (const auto* spec = std::get_if<Spec>(&launch.spec)) return spec;
    return nullptr;
  }
  const AttentionSpec& token_attention() const { return std::get<AttentionSpec>(attention); }  // outside prompts
  bool writes_f16() const {  // whether attention's output is in f16
    return std::holds_alternative<AttentionSpec>(attention) && token_attention().writes_f16;
  }
};

// Device addresses of a pass's operands; 0 if absent.
struct PassAddresses {
  std::vector<PerWeight<uint64_t>> weights;     // [n_layers + 1]: the last are those outside the layers
  std::array<uint64_t, kBuffers> buffers = {};  // of the first column
  std::vector<uint64_t> keys, values;           // [n_layers]: pages of a layer's cache
  uint32_t n_pages = 0;                         // per layer, for keys and for values
  uint64_t& operator[](Buffer buffer) { return buffers.at(static_cast<size_t>(buffer)); }
  uint64_t operator[](Buffer buffer) const { return buffers.at(static_cast<size_t>(buffer)); }
  uint64_t of(const Operand& operand, uint32_t layer) const;  // an address or a number
};

// formats: at least one layer. Error if no kernel supports the model.
LaunchList launch_list(const Network& network, const ModelConfig& config, const DecoderFormats& formats,
                       const PassShape& shape);

// Calls visit(launch, layer) for each launch in order.
template <class Visit>
void for_each_launch(const LaunchList& list, Visit&& visit) {
  for (const OperationLaunches& operation : list.operations)
    for (const KernelLaunch& launch : operation.launches) visit(launch, operation.layer);
}

// Flash attention for prompts, if it supports the heads; else incremental attention, which runs a prompt in launches of
// up to kGemvColumns columns. Without scatter and f16 conversion.
DecoderAttentionSpec decoder_attention(const ModelConfig& config, const PassShape& shape);
inline constexpr uint32_t kGemvColumns = 8;  // per block

uint64_t batch_scratch_bytes(uint32_t columns);  // enough for every split-K product of a batch (kernels/matmul/gemm.h)
ExpertOrderSpec decoder_expert_order(const ExpertsConfig& experts, uint32_t columns);  // for a pass of many columns

}  // namespace warpchat
