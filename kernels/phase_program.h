// A persistent kernel as a list of phases, with a proof that it neither deadlocks nor reads memory that is still being
// written. Every block runs the phases in order for each token, those of a layer once per layer that has them. A phase
// begins when all blocks have finished the phases it waits for.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/model_config.h"

namespace warpchat {

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

// Kind of a layer: its mixer and its FFN.
struct LayerKind {
  Mixer mixer = Mixer::kAttention;
  Ffn ffn = Ffn::kDense;
  bool operator==(const LayerKind&) const = default;
};

// Layers that have a phase.
enum class LayerPart : uint8_t { kEvery, kAttention, kDeltaNet, kDense, kExperts };
bool has(const LayerKind& layer, LayerPart part);

struct Phase {
  PhaseKind kind;
  std::vector<std::string> reads, writes;  // memory shared by several blocks
  // Phases that must finish first (the latest of each kind, in this token or the previous one). Empty: no barrier.
  std::vector<PhaseKind> waits_for;
  LayerPart of = LayerPart::kEvery;
  std::vector<std::string> reads_early = {};  // memory of this kind that it reads before waiting
};

struct PhaseProgram {
  std::vector<Phase> phases;
  size_t layer_begin = 0, layer_end = 0;  // range of the phases of one layer
  std::vector<LayerKind> kinds = {{}};    // distinct kinds of layers
  bool is_of_layers(size_t phase) const { return phase >= layer_begin && phase < layer_end; }
};

// Throws Error, naming the phases, unless every wait is for an earlier phase, no concurrent phases conflict in memory,
// and no early read overlaps a write that may still run. Checks each step over two tokens with two layers of any kinds,
// which covers every pair of neighbours.
void check_program(const PhaseProgram& program);

// For one token of a model with these layers.
std::vector<size_t> phases_of_a_token(const PhaseProgram& program, std::span<const LayerKind> layers);  // in order
// Barriers per token, including the one after its last phase.
uint64_t barriers_of_a_token(const PhaseProgram& program, std::span<const LayerKind> layers);

// The program of kernels/persistent_decoder.h for these layers; kinds may repeat.
PhaseProgram decoder_program(std::span<const LayerKind> layers);

}  // namespace warpchat
