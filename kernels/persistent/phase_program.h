// A persistent kernel as a list of phases, with a proof that it neither deadlocks nor reads memory that is still being
// written. Every block runs the phases in order for each token, those of a layer once per layer that has them. A phase
// begins when all blocks have finished the phases it waits for.
#pragma once
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/launch_list.h"

namespace warpchat {

// A set of phases, as bits.
using PhaseSet = uint32_t;
constexpr PhaseSet set_of(PhaseKind kind) { return 1u << static_cast<uint32_t>(kind); }
// Those that each layer has.
std::vector<PhaseSet> phases_of_layers(const LaunchList& list);

struct Phase {
  PhaseKind kind;
  std::set<Buffer> reads, writes;  // memory shared by several blocks
  // Phases that must finish first (the latest of each kind, in this token or the previous one). Empty: no barrier.
  std::vector<PhaseKind> waits_for;
  std::set<Buffer> reads_early = {};  // memory of this kind that it reads before waiting
};

struct PhaseProgram {
  std::vector<Phase> phases;
  size_t layer_begin = 0, layer_end = 0;         // range of the phases of one layer
  std::vector<PhaseSet> kinds = {~PhaseSet{0}};  // of layers, by the phases that they have
  bool is_of_layers(size_t phase) const { return phase >= layer_begin && phase < layer_end; }
};

// Throws Error, naming the phases, unless every wait is for an earlier phase, no concurrent phases conflict in memory,
// and no early read overlaps a write that may still run. Checks each step over two tokens with two layers of any kinds,
// which covers every pair of neighbours.
void check_program(const PhaseProgram& program);

// For one token of a model with these layers.
std::vector<size_t> phases_of_a_token(const PhaseProgram& program, std::span<const PhaseSet> layers);  // in order
// Barriers per token, including the one after its last phase.
uint64_t barriers_of_a_token(const PhaseProgram& program, std::span<const PhaseSet> layers);

// The program of kernels/persistent/persistent_decoder.h: the list's launches by phase, with what each phase waits for.
PhaseProgram decoder_program(const LaunchList& list);

}  // namespace warpchat
