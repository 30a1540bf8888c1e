#include "kernels/phase_program.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "models/error.h"

namespace warpchat {
namespace {

std::string text_of(PhaseKind kind) { return std::string(name_of(kind)); }

[[noreturn]] void refuse(const Phase& phase, const std::string& what) {
  throw Error("phase " + text_of(phase.kind) + " " + what);
}

// The phases of two tokens.
std::vector<const Phase*> unrolled(const PhaseProgram& program, std::span<const LayerKind> layers) {
  std::vector<const Phase*> order;
  for (int token = 0; token < 2; ++token)
    for (const size_t i : phases_of_a_token(program, layers)) order.push_back(&program.phases[i]);
  return order;
}

void check_kinds(const PhaseProgram& program) {
  std::set<PhaseKind> kinds;
  for (const Phase& phase : program.phases)
    if (!kinds.insert(phase.kind).second) refuse(phase, "is in the program twice");
  for (const Phase& phase : program.phases)
    for (const PhaseKind kind : phase.waits_for)
      if (!kinds.contains(kind)) refuse(phase, "waits for " + text_of(kind) + ", which is not in the program");
}

// The last phase of this kind before order[at].
std::optional<size_t> last_before(const std::vector<const Phase*>& order, size_t at, PhaseKind kind) {
  while (at-- > 0)
    if (order[at]->kind == kind) return at;
  return {};
}

// How many phases before order[at] all blocks have finished when it begins, given that number for the previous phase.
// Blocks run phases in order, so finishing one implies finishing all earlier ones.
size_t ended_before(const std::vector<const Phase*>& order, size_t at, size_t ended) {
  const Phase& phase = *order[at];
  bool waits = at == 0 || phase.waits_for.empty();
  for (const PhaseKind kind : phase.waits_for) {
    const auto awaited = last_before(order, at, kind);
    if (!awaited) continue;
    waits = true;
    ended = std::max(ended, *awaited + 1);
  }
  if (!waits) refuse(phase, "deadlocks: it waits for " + text_of(phase.waits_for[0]) + ", which runs later");
  return ended;
}

void check_apart(const Phase& early, const Phase& late) {
  const auto check = [&](const std::vector<std::string>& a, const std::vector<std::string>& b, const char* does,
                         const char* did) {
    for (const std::string& memory : a)
      if (std::count(b.begin(), b.end(), memory) != 0)
        refuse(late, std::string(does) + " " + memory + " while " + text_of(early.kind) + " may still " + did +
                         " it; it must wait for it");
  };
  check(late.reads, early.writes, "reads", "write");
  check(late.writes, early.reads, "writes", "read");
  check(late.writes, early.writes, "writes", "write");
}

void check_early(const Phase& early, const Phase& late) {
  for (const std::string& memory : late.reads_early)
    if (std::ranges::count(early.writes, memory) != 0)
      refuse(late, "reads " + memory + " before it waits, while " + text_of(early.kind) + " may still write it");
}

void check_order(const std::vector<const Phase*>& order) {
  size_t ended = 0;
  for (size_t at = 0; at < order.size(); ++at) {
    for (size_t running = ended; running < at; ++running) check_early(*order[running], *order[at]);
    ended = ended_before(order, at, ended);
    for (size_t running = ended; running < at; ++running) check_apart(*order[running], *order[at]);
  }
}

}  // namespace

bool has(const LayerKind& layer, LayerPart part) {
  switch (part) {
    case LayerPart::kEvery:
      return true;
    case LayerPart::kAttention:
      return layer.mixer == Mixer::kAttention;
    case LayerPart::kDeltaNet:
      return layer.mixer == Mixer::kDeltaNet;
    case LayerPart::kDense:
      return layer.ffn == Ffn::kDense;
    case LayerPart::kExperts:
      return layer.ffn == Ffn::kExperts;
  }
  return false;
}

std::vector<size_t> phases_of_a_token(const PhaseProgram& program, std::span<const LayerKind> layers) {
  std::vector<size_t> order;
  for (size_t i = 0; i < program.layer_begin; ++i) order.push_back(i);
  for (const LayerKind& layer : layers)
    for (size_t i = program.layer_begin; i < program.layer_end; ++i)
      if (has(layer, program.phases[i].of)) order.push_back(i);
  for (size_t i = program.layer_end; i < program.phases.size(); ++i) order.push_back(i);
  return order;
}

void check_program(const PhaseProgram& program) {
  check_kinds(program);
  for (const LayerKind& first : program.kinds)
    for (const LayerKind& second : program.kinds) check_order(unrolled(program, std::array{first, second}));
}

uint64_t barriers_of_a_token(const PhaseProgram& program, std::span<const LayerKind> layers) {
  return static_cast<uint64_t>(std::ranges::count_if(phases_of_a_token(program, layers),
                                                     [&](size_t i) { return !program.phases[i].waits_for.empty(); }));
}

std::string_view name_of(PhaseKind kind) {
  constexpr std::string_view kNames[] = {"embed",        "qkv",         "attention", "conv",   "delta",
                                         "output",       "gate_up",     "down",      "router", "experts_gate_up",
                                         "experts_down", "experts_sum", "logits",    "sample", "emit"};
  return kNames[static_cast<size_t>(kind)];
}

PhaseProgram decoder_program(std::span<const LayerKind> layers) {
  using enum PhaseKind;
  using Of = LayerPart;
  PhaseProgram program;
  program.kinds.clear();
  for (const LayerKind& layer : layers)
    if (std::ranges::count(program.kinds, layer) == 0) program.kinds.push_back(layer);
  const auto add = [&](const Phase& phase) {
    if (std::ranges::any_of(program.kinds, [&](const LayerKind& kind) { return has(kind, phase.of); }))
      program.phases.push_back(phase);
  };
  add({kEmbed, {"state", "weights"}, {"hidden"}, {kEmit}});
  program.layer_begin = program.phases.size();
  add({kQkv, {"hidden"}, {"q", "k", "v", "q_gate", "qkv", "z", "alpha", "beta"}, {kEmbed, kDown, kExpertsSum}});
  add({kAttention,
       {"q", "k", "v", "q_gate", "cache", "state"},
       {"mixed", "cache", "scratch"},
       {kQkv},
       Of::kAttention,
       {"state"}});
  add({kConv, {"qkv", "tails", "state"}, {"qkv", "tails"}, {kQkv}, Of::kDeltaNet});
  add({kDelta, {"qkv", "z", "alpha", "beta", "heads", "state"}, {"mixed", "heads"}, {kConv}, Of::kDeltaNet});
  add({kOutput, {"mixed", "hidden"}, {"hidden"}, {kAttention, kDelta}});
  add({kGateUp, {"hidden"}, {"inner"}, {kOutput}, Of::kDense});
  add({kDown, {"inner", "hidden"}, {"hidden"}, {kGateUp}, Of::kDense});
  add({kRouter, {"hidden"}, {"scores", "switches"}, {kOutput}, Of::kExperts});
  add({kExpertsGateUp, {"hidden", "scores"}, {"inner"}, {kRouter}, Of::kExperts});
  add({kExpertsDown, {"inner"}, {"outputs"}, {kExpertsGateUp}, Of::kExperts});
  add({kExpertsSum, {"outputs", "switches", "hidden"}, {"hidden"}, {kExpertsDown}, Of::kExperts});
  program.layer_end = program.phases.size();
  add({kLogits, {"hidden"}, {"logits"}, {kDown, kExpertsSum}});
  add({kSample, {"logits", "state"}, {"choice", "rows"}, {kLogits}});
  add({kEmit, {"choice", "rows", "state"}, {"state"}, {kSample}});
  const auto is_present = [&](PhaseKind kind) { return std::ranges::count(program.phases, kind, &Phase::kind) != 0; };
  for (Phase& phase : program.phases) std::erase_if(phase.waits_for, [&](PhaseKind kind) { return !is_present(kind); });
  return program;
}

}  // namespace warpchat
