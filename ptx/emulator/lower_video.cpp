// Lowering of video instructions: vadd and similar on parts of registers, and SIMD forms on halves and bytes.
#include <algorithm>

#include "ptx/emulator/function_loader.h"
#include "ptx/emulator/video_operation.h"

namespace ptx::emulator {

std::string spelling_of(const Statement& s);

namespace {

VideoOperation operation_of(std::string name) {
  while (name.back() >= '0' && name.back() <= '9') name.pop_back();
  constexpr std::pair<std::string_view, VideoOperation> kNames[] = {{"vadd", VideoOperation::kAdd},
                                                                    {"vsub", VideoOperation::kSubtract},
                                                                    {"vabsdiff", VideoOperation::kDifference},
                                                                    {"vmin", VideoOperation::kMinimum},
                                                                    {"vmax", VideoOperation::kMaximum},
                                                                    {"vshl", VideoOperation::kShiftLeft},
                                                                    {"vshr", VideoOperation::kShiftRight},
                                                                    {"vmad", VideoOperation::kMad},
                                                                    {"vset", VideoOperation::kSet},
                                                                    {"vavrg", VideoOperation::kAverage}};
  return std::ranges::find(kNames, name, &std::pair<std::string_view, VideoOperation>::first)->second;
}

VideoTest test_of(std::string_view name) {
  constexpr std::string_view kNames[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  return static_cast<VideoTest>(std::ranges::find(kNames, name) - std::begin(kNames));
}

// .b0 to .b3, .h0 and .h1: offset and width in bits; without a suffix, the whole register.
uint32_t part_of(const Operand& o, const std::string& what) {
  if (o.selector.empty()) return 32u << 8;
  const uint32_t width = o.selector[0] == 'b' ? 8 : 16, index = static_cast<uint32_t>(o.selector[1] - '0');
  if (o.selector.size() != 2 || index * width >= 32) refuse(o.at, what + ": no part ." + o.selector);
  return index * width | width << 8;
}

// .h10 and .b3210: selects parts of the pair b:a, highest first.
uint32_t order_of(const Operand& o, uint32_t parts, uint32_t first, const std::string& what) {
  uint32_t order = 0;
  for (uint32_t p = 0; p < parts; ++p) {
    uint32_t from = first + p;
    if (!o.selector.empty()) {
      if (o.selector.size() != parts + 1 || (o.selector[0] == 'h') != (parts == 2))
        refuse(o.at, what + ": no parts ." + o.selector);
      from = static_cast<uint32_t>(o.selector[parts - p] - '0');
    }
    if (from >= 2 * parts) refuse(o.at, what + ": no parts ." + o.selector);
    order |= from << 4 * p;
  }
  return order;
}

// .h1 and .b310: the parts to write, highest first.
uint32_t mask_of(const Operand& o, uint32_t parts, const std::string& what) {
  if (o.selector.empty()) return (1u << parts) - 1;
  uint32_t mask = 0, above = parts;
  if ((o.selector[0] == 'h') != (parts == 2)) refuse(o.at, what + ": no parts ." + o.selector);
  for (char c : o.selector.substr(1)) {
    const uint32_t part = static_cast<uint32_t>(c - '0');
    if (part >= above) refuse(o.at, what + ": no parts ." + o.selector);
    mask |= 1u << part;
    above = part;
  }
  return mask;
}

// Operands that may be negated, as in ptxas: in vmad one of the factors (negating both cancels) or the summand.
void check_negations(const Statement& s, const std::string& what, bool is_mad, bool adds_one) {
  const Operand* negated = nullptr;
  for (const Operand& o : s.operands)
    if (o.is_negated) negated = &o;
  if (negated == nullptr) return;
  if (!is_mad) refuse(negated->at, what + ": only vmad negates a source");
  if (adds_one) refuse(negated->at, what + ": .po leaves no source to negate");
  if (s.operands[3].is_negated && s.operands[1].is_negated != s.operands[2].is_negated)
    refuse(negated->at, what + ": either the product or the third source can be negated");
}

}  // namespace

// 32-bit registers with an integer, or with an f16 pair (in ptxas not as a comparison's result or a SIMD form's
// summand); scalar forms also accept numbers.
void FunctionLoader::check_video_operands(const Statement& s, const std::string& what, bool takes_numbers) const {
  const bool is_mad = s.opcode == "vmad";
  for (size_t i = 0; i < s.operands.size(); ++i) {
    const Operand& o = s.operands[i];
    const bool number = o.kind == OperandKind::kInteger && i > 0 && takes_numbers;
    if (o.second) refuse(o.at, what + ": a second destination does not belong here");
    if (number) continue;
    const bool is_integer_only = (s.opcode.starts_with("vset") && i == 0) || (!takes_numbers && i == 3);
    if (o.kind != OperandKind::kRegister || !o.elements.empty() || !agrees(type_of(o), Type::u32) ||
        (is_integer_only && type_of(o) == Type::f16x2))
      refuse(o.at, what + ": operand " + std::to_string(i + 1) + ": expected a .u32 register, found " + describe(o));
    if (!o.selector.empty() && (i == 3 || (i == 0 && is_mad)))
      refuse(o.at, what + ": a part of a register does not belong here");
  }
}

void FunctionLoader::lower_video(const Statement& s, const Match& m) {
  const std::string what = spelling_of(s);
  VideoRequest q;
  q.operation = operation_of(s.opcode);
  if (m.has("c")) q.test = test_of(m.word("c"));
  q.parts = s.opcode.back() == '2' ? 2 : s.opcode.back() == '4' ? 4 : 1;
  q.d_signed = m.word("t") == "s32";
  q.a_signed = m.word("u") == "s32";
  q.b_signed = m.word("v") == "s32";
  q.saturates = m.has("sat");
  q.wraps = m.word("m") == "wrap";
  q.plus_one = m.has("po");
  q.shift = m.word("m") == "shr7" ? 7 : m.word("m") == "shr15" ? 15 : 0;
  const std::string_view merge = m.word("op");
  if (!merge.empty())
    q.merge = merge == "add" ? VideoMerge::kAdd : merge == "min" ? VideoMerge::kMin : VideoMerge::kMax;
  const Operand &d = s.operands[0], &a = s.operands[1], &b = s.operands[2];
  const bool is_mad = q.operation == VideoOperation::kMad;
  check_video_operands(s, what, q.parts == 1);
  check_negations(s, what, is_mad, q.plus_one);
  if (q.parts == 1) {
    q.a_select = part_of(a, what);
    q.b_select = part_of(b, what);
    q.d_select = part_of(d, what);
    if (!d.selector.empty() && !merge.empty())
      refuse(d.at, what + ": a part of the destination and a second operation exclude each other");
    if (!d.selector.empty()) q.merge = VideoMerge::kInsert;
    const bool wants_c = q.merge != VideoMerge::kNone || is_mad;
    if (wants_c != (s.operands.size() == 4))
      refuse(s.at, what + (wants_c ? ": a third source is missing" : ": a third source does not belong here"));
  } else {
    q.a_select = order_of(a, q.parts, 0, what);
    q.b_select = order_of(b, q.parts, q.parts, what);
    q.d_select = mask_of(d, q.parts, what);
  }
  if (is_mad) {
    q.product_negated = a.is_negated != b.is_negated;
    q.c_negated = s.operands[3].is_negated;
  }
  const ColumnId x = source(a, Type::b32), y = source(b, Type::b32);
  const ColumnId z = s.operands.size() > 3 ? source(s.operands[3], Type::b32) : constant(0, 4);
  Draft& draft = emit("video");
  draft.code.d = column_of(d.index);
  draft.code.a = x;
  draft.code.b = y;
  draft.code.c = z;
  draft.code.flags = q.pack_flags();
  draft.code.immediate = q.pack_selects();
}

}  // namespace ptx::emulator
