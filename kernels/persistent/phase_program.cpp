#include "kernels/persistent/phase_program.h"

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
std::vector<const Phase*> unrolled(const PhaseProgram& program, std::span<const PhaseSet> layers) {
  std::vector<const Phase*> order;
  for (int token = 0; token < 2; ++token)
    for (const size_t i : phases_of_a_token(program, layers)) order.push_back(&program.phases[i]);
  return order;
}

// Every block routes for itself, and error reports are atomic.
bool is_private(Buffer buffer) {
  return buffer == Buffer::kExperts || buffer == Buffer::kExpertWeights || buffer == Buffer::kError;
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

// The first memory that both have.
std::optional<std::string> common(const std::set<Buffer>& a, const std::set<Buffer>& b) {
  const auto found = std::ranges::find_if(a, [&](Buffer memory) { return b.contains(memory); });
  return found == a.end() ? std::nullopt : std::optional(std::string(name_of(*found)));
}

void check_apart(const Phase& early, const Phase& late) {
  const auto check = [&](const std::set<Buffer>& a, const std::set<Buffer>& b, const char* does, const char* did) {
    if (const auto memory = common(a, b))
      refuse(late, std::string(does) + " " + *memory + " while " + text_of(early.kind) + " may still " + did +
                       " it; it must wait for it");
  };
  check(late.reads, early.writes, "reads", "write");
  check(late.writes, early.reads, "writes", "read");
  check(late.writes, early.writes, "writes", "write");
}

void check_early(const Phase& early, const Phase& late) {
  if (const auto memory = common(late.reads_early, early.writes))
    refuse(late, "reads " + *memory + " before it waits, while " + text_of(early.kind) + " may still write it");
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

std::vector<PhaseSet> phases_of_layers(const LaunchList& list) {
  std::vector<PhaseSet> layers(list.layers.size() + 1);
  for_each_launch(list, [&](const KernelLaunch& launch, uint32_t layer) { layers.at(layer) |= set_of(launch.phase); });
  layers.pop_back();
  return layers;
}

std::vector<size_t> phases_of_a_token(const PhaseProgram& program, std::span<const PhaseSet> layers) {
  std::vector<size_t> order;
  for (size_t i = 0; i < program.layer_begin; ++i) order.push_back(i);
  for (const PhaseSet layer : layers)
    for (size_t i = program.layer_begin; i < program.layer_end; ++i)
      if (layer & set_of(program.phases[i].kind)) order.push_back(i);
  for (size_t i = program.layer_end; i < program.phases.size(); ++i) order.push_back(i);
  return order;
}

void check_program(const PhaseProgram& program) {
  check_kinds(program);
  for (const PhaseSet first : program.kinds)
    for (const PhaseSet second : program.kinds) check_order(unrolled(program, std::array{first, second}));
}

uint64_t barriers_of_a_token(const PhaseProgram& program, std::span<const PhaseSet> layers) {
  return static_cast<uint64_t>(std::ranges::count_if(phases_of_a_token(program, layers),
                                                     [&](size_t i) { return !program.phases[i].waits_for.empty(); }));
}

std::string_view name_of(PhaseKind kind) {
  constexpr std::string_view kNames[] = {"embed",        "qkv",         "attention", "conv",   "delta",
                                         "output",       "gate_up",     "down",      "router", "experts_gate_up",
                                         "experts_down", "experts_sum", "logits",    "sample", "emit"};
  return kNames[static_cast<size_t>(kind)];
}

PhaseProgram decoder_program(const LaunchList& list) {
  using enum PhaseKind;
  const std::vector<PhaseSet> layers = phases_of_layers(list);
  PhaseProgram program;
  program.kinds = layers;
  std::ranges::sort(program.kinds);
  program.kinds.erase(std::ranges::unique(program.kinds).begin(), program.kinds.end());
  const std::set<Buffer> state = {Buffer::kTokens, Buffer::kPositions};
  program.phases = {{kEmbed, {}, {}, {kEmit}},
                    {kQkv, {}, {}, {kEmbed, kDown, kExpertsSum}},
                    {kAttention, {}, {}, {kQkv}, {Buffer::kPositions}},
                    {kConv, {}, {}, {kQkv}},
                    {kDelta, {}, {}, {kConv}},
                    {kOutput, {}, {}, {kAttention, kDelta}},
                    {kGateUp, {}, {}, {kOutput}},
                    {kDown, {}, {}, {kGateUp}},
                    {kRouter, {}, {}, {kOutput}},
                    {kExpertsGateUp, {}, {}, {kRouter}},
                    {kExpertsDown, {}, {}, {kExpertsGateUp}},
                    {kExpertsSum, {}, {}, {kExpertsDown}},
                    {kLogits, {}, {}, {kDown, kExpertsSum}},
                    {kSample, {Buffer::kLogits, Buffer::kPositions}, {Buffer::kChoice, Buffer::kRows}, {kLogits}},
                    {kEmit, {Buffer::kChoice, Buffer::kRows, Buffer::kPositions}, state, {kSample}}};
  PhaseSet present = set_of(kEmbed) | set_of(kLogits) | set_of(kSample) | set_of(kEmit);
  for (const PhaseSet layer : layers) present |= layer;
  std::erase_if(program.phases, [&](const Phase& phase) { return !(present & set_of(phase.kind)); });
  for (Phase& phase : program.phases)
    std::erase_if(phase.waits_for, [&](PhaseKind kind) { return !(present & set_of(kind)); });
  const auto place_of = [&](PhaseKind kind) { return std::ranges::find(program.phases, kind, &Phase::kind); };
  program.layer_begin = 1, program.layer_end = static_cast<size_t>(place_of(kLogits) - program.phases.begin());
  for_each_launch(list, [&](const KernelLaunch& launch, uint32_t) {
    Phase& phase = *place_of(launch.phase);
    for (const auto& [name, operand] : launch.arguments) {
      if (operand.buffer == Buffer::kNone || is_private(operand.buffer)) continue;
      if (operand.access != Operand::Access::kWrite) phase.reads.insert(operand.buffer);
      if (operand.access != Operand::Access::kRead) phase.writes.insert(operand.buffer);
    }
  });
  return program;
}

}  // namespace warpchat
