// A persistent kernel's work as a list of phases, and the proof that it neither waits for ever nor reads what others
// may still be writing. Every block runs the phases in order, those of a layer once for each layer that has them, all
// of them once for each token; a phase that waits begins when all blocks have ended the phases it waits for.
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
  kQkv,  // or what a delta net has in their place
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
  kChoose,
  kPublish
};
std::string_view name_of(PhaseKind kind);

// What a layer is.
struct LayerKind {
  Mixer mixer = Mixer::kAttention;
  Ffn ffn = Ffn::kDense;
  bool operator==(const LayerKind&) const = default;
};

// Which layers have a phase.
enum class LayerPart : uint8_t { kEvery, kAttention, kDeltaNet, kDense, kExperts };
bool has(const LayerKind& layer, LayerPart part);

struct Phase {
  PhaseKind kind;
  std::vector<std::string> reads, writes;  // of memory that several blocks share
  // Of each kind the phase that ended last, in this token or the one before; none: the phase follows without a barrier.
  std::vector<PhaseKind> waits_for;
  LayerPart of = LayerPart::kEvery;
  std::vector<std::string> reads_early = {};  // of that memory, before it waits
};

struct PhaseProgram {
  std::vector<Phase> phases;
  size_t layer_begin = 0, layer_end = 0;  // the phases of a layer
  std::vector<LayerKind> kinds = {{}};    // of the layers, each once
  bool is_of_layers(size_t phase) const { return phase >= layer_begin && phase < layer_end; }
};

// Throws Error, naming the phases, unless every wait is for a phase that comes before, no two phases that may run at
// the same time share memory that one of them writes, and none reads early what another may still write. Two tokens of
// every two kinds of layers, which hold every neighbourhood there is, are looked at one by one.
void check_program(const PhaseProgram& program);

// Of a token of a model with these layers.
std::vector<size_t> phases_of_a_token(const PhaseProgram& program, std::span<const LayerKind> layers);  // in order
// That it waits at, the one behind its last phase among them.
uint64_t barriers_of_a_token(const PhaseProgram& program, std::span<const LayerKind> layers);

// That of kernels/persistent_decoder.h for these layers; some may be of one kind.
PhaseProgram decoder_program(std::span<const LayerKind> layers);

}  // namespace warpchat
