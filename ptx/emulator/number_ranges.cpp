// Ranges of immediates, from the PTX ISA and from what ptxas refuses; a row covers one operand of an instruction.
#include "ptx/emulator/number_ranges.h"

#include <algorithm>
#include <string>

namespace ptx::emulator {

std::string spelling_of(const Statement& s);

namespace {

struct NumberRange {
  const char* opcode;
  const char* with;     // modifier that the row requires; "" for none
  const char* without;  // modifier that excludes the row
  size_t operand;
  int64_t min, max, multiple_of = 1;
};

constexpr int64_t kAny = INT32_MAX;
constexpr NumberRange kRanges[] = {
    {"bfe", "", "", 2, 0, 255},
    {"bfe", "", "", 3, 0, 255},
    {"bfi", "", "", 3, 0, 255},
    {"bfi", "", "", 4, 0, 255},
    {"applypriority", "", "", 1, 128, 128},
    {"discard", "", "", 1, 128, 128},
    {"fence", "tensormap::generic", "", 1, 128, 128},
    {"pmevent", "", "mask", 0, 0, 15},
    {"setmaxnreg", "", "", 0, 24, 256, 8},
    {"bar", "arrive", "", 1, 1, kAny},
    {"barrier", "arrive", "", 1, 1, kAny},
    {"mbarrier", "arrive", "expect_tx", 2, 1, kAny},
    {"mbarrier", "arrive_drop", "expect_tx", 2, 1, kAny},
    {"mbarrier", "parity", "", 2, 0, 1},
    {"cp", "mbarrier::complete_tx::bytes", "", 2, 0, kAny, 16},
    {"cp", "bulk_group", "", 2, 0, kAny, 16},
    {"cp", "prefetch", "", 1, 0, kAny, 16},
};

bool has(const Statement& s, std::string_view modifier) { return std::ranges::count(s.modifiers, modifier) > 0; }

std::string described(const NumberRange& r) {
  if (r.min == r.max) return std::to_string(r.min);
  std::string text =
      r.max == kAny ? "at least " + std::to_string(r.min) : std::to_string(r.min) + " to " + std::to_string(r.max);
  if (r.multiple_of > 1) text += ", a multiple of " + std::to_string(r.multiple_of);
  return text;
}

}  // namespace

void check_numbers(const Statement& s) {
  for (const NumberRange& r : kRanges) {
    if (s.opcode != r.opcode || s.operands.size() <= r.operand) continue;
    if ((*r.with && !has(s, r.with)) || (*r.without && has(s, r.without))) continue;
    const Operand& o = s.operands[r.operand];
    const int64_t number = static_cast<int64_t>(o.bits);
    if (o.kind != OperandKind::kInteger) continue;
    if (number >= r.min && number <= r.max && number % r.multiple_of == 0) continue;
    refuse(o.at, spelling_of(s) + ": operand " + std::to_string(r.operand + 1) + ": expected " + described(r) +
                     ", found " + std::to_string(number));
  }
}

}  // namespace ptx::emulator
