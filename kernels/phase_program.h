// A persistent kernel's work as a list of phases, and the proof that it neither waits for ever nor reads what others
// may still be writing. Every block runs the phases in order, those of a layer once for each layer, all of them once
// for each token; a phase that waits begins when all blocks have ended the phases it waits for.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

enum class PhaseKind : uint8_t {
  kEmbed,
  kQkv,
  kScatter,
  kAttention,
  kOutput,
  kGateUp,
  kDown,
  kLogits,
  kChoose,
  kPublish
};
std::string_view name_of(PhaseKind kind);

struct Phase {
  PhaseKind kind;
  std::vector<std::string> reads, writes;  // of memory that several blocks share
  // Of each kind the phase that ended last, in this token or the one before; none: the phase follows without a barrier.
  std::vector<PhaseKind> waits_for;
};

struct PhaseProgram {
  std::vector<Phase> phases;
  size_t layer_begin = 0, layer_end = 0;  // the phases of a layer
};

// Throws Error, naming the phases, unless every wait is for a phase that comes before, and no two phases that may run
// at the same time share memory that one of them writes. Two tokens of two layers, which hold every neighbourhood there
// is, are looked at one by one.
void check_program(const PhaseProgram& program);

// Barriers that a token of a model with so many layers waits at, the one behind its last phase among them.
uint64_t barriers_of_a_token(const PhaseProgram& program, uint64_t n_layers);

// That of kernels/persistent_decoder.h.
PhaseProgram decoder_program();

}  // namespace warpchat
