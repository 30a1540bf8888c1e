#include "ptx/emulator/counters.h"

#include <algorithm>

namespace ptx::emulator {
namespace {

using enum InstructionClass;

constexpr std::string_view kNames[] = {
    "integer",       "float",         "double",      "half",          "tensor",       "conversion",
    "special",       "move",          "warp",        "load global",   "store global", "load shared",
    "store shared",  "load local",    "store local", "load constant", "load generic", "store generic",
    "atomic global", "atomic shared", "async copy",  "barrier",       "control",      "other"};
static_assert(std::size(kNames) == kInstructionClasses);

struct Opcode {
  std::string_view name;
  InstructionClass c;
};
constexpr Opcode kByOpcode[] = {
    {"mma", kTensor},      {"cvt", kConversion},   {"mov", kMove},       {"selp", kMove},      {"cvta", kMove},
    {"isspacep", kMove},   {"shfl", kWarp},        {"vote", kWarp},      {"match", kWarp},     {"redux", kWarp},
    {"activemask", kWarp}, {"elect", kWarp},       {"movmatrix", kWarp}, {"cp", kAsyncCopy},   {"bar", kBarrier},
    {"barrier", kBarrier}, {"mbarrier", kBarrier}, {"fence", kBarrier},  {"membar", kBarrier}, {"bra", kControl},
    {"brx", kControl},     {"call", kControl},     {"ret", kControl},    {"exit", kControl},   {"trap", kControl},
    {"brkpt", kControl},   {"nanosleep", kOther},  {"prefetch", kOther}, {"prefetchu", kOther}};

constexpr std::string_view kSpecialFunctions[] = {"sin", "cos", "ex2", "lg2", "tanh", "rcp", "sqrt", "rsqrt"};

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

InstructionClass of_load(std::string_view ptx) {
  if (has(ptx, ".global")) return kLoadGlobal;
  if (has(ptx, ".shared")) return kLoadShared;
  if (has(ptx, ".local")) return kLoadLocal;
  return has(ptx, ".param") || has(ptx, ".const") ? kLoadConstant : kLoadGeneric;
}

InstructionClass of_store(std::string_view ptx) {
  if (has(ptx, ".global")) return kStoreGlobal;
  if (has(ptx, ".shared")) return kStoreShared;
  return has(ptx, ".local") || has(ptx, ".param") ? kStoreLocal : kStoreGeneric;
}

InstructionClass of_arithmetic(std::string_view opcode, std::string_view type) {
  if (type == "f64") return kDouble;
  if (std::ranges::find(kSpecialFunctions, opcode) != std::end(kSpecialFunctions)) return kSpecial;
  if (type == "f32") return kFloat;
  return type == "f16" || type == "bf16" || type == "f16x2" || type == "bf16x2" ? kHalf : kInteger;
}

}  // namespace

std::string_view name_of(InstructionClass c) { return kNames[static_cast<size_t>(c)]; }

InstructionClass class_of_instruction(std::string_view ptx) {
  const std::string_view opcode = ptx.substr(0, ptx.find('.'));
  if (opcode == "ld" || opcode == "ldu") return of_load(ptx);
  if (opcode == "st") return of_store(ptx);
  if (opcode == "ldmatrix") return kLoadShared;
  if (opcode == "stmatrix") return kStoreShared;
  if (opcode == "atom" || opcode == "red") return has(ptx, ".shared") ? kAtomicShared : kAtomicGlobal;
  if (opcode == "wmma") return has(ptx, ".load") ? of_load(ptx) : has(ptx, ".store") ? of_store(ptx) : kTensor;
  for (const Opcode& row : kByOpcode) {
    if (row.name == opcode) return row.c;
  }
  return of_arithmetic(opcode, ptx.substr(ptx.rfind('.') + 1));
}

namespace {
void add(GlobalCounts& a, const GlobalCounts& b) {
  a.requests += b.requests;
  a.sectors += b.sectors;
  a.bytes += b.bytes;
}
}  // namespace

Counts& Counts::operator+=(const Counts& other) {
  instructions += other.instructions;
  lane_instructions += other.lane_instructions;
  divergent_branches += other.divergent_branches;
  barriers += other.barriers;
  for (size_t c = 0; c < by_class.size(); ++c) by_class[c] += other.by_class[c];
  emulator::add(loads, other.loads);
  emulator::add(stores, other.stores);
  emulator::add(atomics, other.atomics);
  shared_requests += other.shared_requests;
  bank_replays += other.bank_replays;
  return *this;
}

void Counters::add(const Counters& other) {
  *this += other;
  for (const TagCounts& theirs : other.tags) {
    const auto ours = std::ranges::find(tags, theirs.tag, &TagCounts::tag);
    if (ours == tags.end())
      tags.push_back(theirs);
    else
      ours->counts += theirs.counts;
  }
}

const Counts* Counters::of_tag(std::string_view tag) const {
  const auto found = std::ranges::find(tags, tag, &TagCounts::tag);
  return found == tags.end() ? nullptr : &found->counts;
}

}  // namespace ptx::emulator
