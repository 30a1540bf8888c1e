#include "kernels/phase_program.h"

#include <algorithm>
#include <optional>
#include <set>

#include "models/error.h"

namespace warpchat {
namespace {

std::string text_of(PhaseKind kind) { return std::string(name_of(kind)); }

[[noreturn]] void refuse(const Phase& phase, const std::string& what) {
  throw Error("phase " + text_of(phase.kind) + " " + what);
}

std::vector<const Phase*> unrolled(const PhaseProgram& program) {
  std::vector<const Phase*> order;
  const auto add = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) order.push_back(&program.phases[i]);
  };
  for (int token = 0; token < 2; ++token) {
    add(0, program.layer_begin);
    for (int layer = 0; layer < 2; ++layer) add(program.layer_begin, program.layer_end);
    add(program.layer_end, program.phases.size());
  }
  return order;
}

void check_kinds(const PhaseProgram& program) {
  std::set<PhaseKind> kinds;
  for (const Phase& phase : program.phases)
    if (!kinds.insert(phase.kind).second) refuse(phase, "stands twice in the program");
  for (const Phase& phase : program.phases)
    for (const PhaseKind kind : phase.waits_for)
      if (!kinds.contains(kind)) refuse(phase, "waits for " + text_of(kind) + ", which is not in the program");
}

// The last of `order` before `at` of this kind.
std::optional<size_t> last_before(const std::vector<const Phase*>& order, size_t at, PhaseKind kind) {
  while (at-- > 0)
    if (order[at]->kind == kind) return at;
  return {};
}

// How many of the phases before order[at] all blocks have ended when it begins, given how many when the one before it
// began. All that comes before a phase has ended with it, as blocks go in order.
size_t ended_before(const std::vector<const Phase*>& order, size_t at, size_t ended) {
  const Phase& phase = *order[at];
  bool waits = at == 0 || phase.waits_for.empty();
  for (const PhaseKind kind : phase.waits_for) {
    const auto awaited = last_before(order, at, kind);
    if (!awaited) continue;
    waits = true;
    ended = std::max(ended, *awaited + 1);
  }
  if (!waits)
    refuse(phase, "waits for " + text_of(phase.waits_for[0]) + ", which comes only behind it: nobody goes on");
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

}  // namespace

void check_program(const PhaseProgram& program) {
  check_kinds(program);
  const std::vector<const Phase*> order = unrolled(program);
  size_t ended = 0;
  for (size_t at = 0; at < order.size(); ++at) {
    ended = ended_before(order, at, ended);
    for (size_t running = ended; running < at; ++running) check_apart(*order[running], *order[at]);
  }
}

uint64_t barriers_of_a_token(const PhaseProgram& program, uint64_t n_layers) {
  uint64_t n = 0;
  for (size_t i = 0; i < program.phases.size(); ++i)
    if (!program.phases[i].waits_for.empty()) n += i >= program.layer_begin && i < program.layer_end ? n_layers : 1;
  return n;
}

std::string_view name_of(PhaseKind kind) {
  constexpr std::string_view kNames[] = {"embed",   "qkv",  "scatter", "attention", "output",
                                         "gate_up", "down", "logits",  "choose",    "publish"};
  return kNames[static_cast<size_t>(kind)];
}

PhaseProgram decoder_program() {
  using enum PhaseKind;
  return {{{kEmbed, {"state", "weights"}, {"hidden"}, {kPublish}},
           {kQkv, {"hidden"}, {"q", "k", "v"}, {kEmbed, kDown}},
           {kScatter, {"q", "k", "v", "state"}, {"q", "cache"}, {kQkv}},
           {kAttention, {"q", "cache", "state"}, {"mixed", "scratch"}, {kScatter}},
           {kOutput, {"mixed", "hidden"}, {"hidden"}, {kAttention}},
           {kGateUp, {"hidden"}, {"inner"}, {kOutput}},
           {kDown, {"inner", "hidden"}, {"hidden"}, {kGateUp}},
           {kLogits, {"hidden"}, {"logits"}, {kDown}},
           {kChoose, {"logits", "state"}, {"choice", "rows"}, {kLogits}},
           {kPublish, {"choice", "rows", "state"}, {"state"}, {kChoose}}},
          1,
          7};
}

}  // namespace warpchat
