// Lowering of a function's unnamed storage: register parameters and alloca's memory.
#include <algorithm>

#include "ptx/emulator/function_loader.h"

namespace ptx::emulator {

std::string spelling_of(const Statement& s);

namespace {

constexpr uint32_t kStackRoom = 16 << 10;  // bytes per lane for alloca in one activation; CUDA's default is 1 KB

bool uses_stack(const Statement& s) {
  return s.opcode == "alloca" || s.opcode == "stacksave" || s.opcode == "stackrestore";
}

}  // namespace

// Emits code that runs once per activation, before the first statement and outside every loop.
void FunctionLoader::enter_function() {
  Statement entry;
  entry.opcode = "entry";
  entry.at = function_.at;
  statement_ = &entry;
  for (const RegisterParameter& p : function_.register_parameters) {
    const auto slot = std::ranges::find(code_.parameters, p.variable->name, &Parameter::name);
    if (!p.is_result) move_register(column_of(p.reg), *slot, true);
  }
  if (std::ranges::any_of(function_.body, uses_stack)) {
    stack_offset_ = (code_.frame_bytes + 15) / 16 * 16;
    code_.frame_bytes = stack_offset_ + kStackRoom;
    stack_top_ = temporary(4);
    const ColumnId zero = constant(0, 4);
    Draft& draft = emit("mov.b32");
    draft.code.d = stack_top_;
    draft.code.a = zero;
  }
  statement_ = nullptr;
}

// Before each return, stores the results held in registers.
void FunctionLoader::store_register_results() {
  for (const RegisterParameter& p : function_.register_parameters) {
    const auto slot = std::ranges::find(code_.results, p.variable->name, &Parameter::name);
    if (p.is_result) move_register(column_of(p.reg), *slot, false);
  }
}

void FunctionLoader::lower_stack(const Statement& s, const Match& m) {
  const Type type = m.type();
  const ColumnId base = special(Special::local_base, 4, stack_offset_);
  if (s.opcode == "alloca") {
    const uint64_t align = s.operands.size() > 2 ? s.operands[2].bits : 8;
    if (align == 0 || (align & (align - 1)) != 0 || align > 128)
      refuse(s.operands[2].at, spelling_of(s) + ": the alignment must be a power of two up to 128");
    const ColumnId size = source(s.operands[1], type);
    Draft& draft = emit("alloca." + std::string(name_of(type)));
    draft.code.d = column_of(s.operands[0].index);
    draft.code.a = size;
    draft.code.b = base;
    draft.code.e = stack_top_;
    draft.writes_e = draft.reads_e = true;
    draft.code.immediate = static_cast<int64_t>(align << 32 | kStackRoom);
    return;
  }
  const bool saves = s.opcode == "stacksave";
  const ColumnId there = column_of(s.operands[0].index);
  const std::string narrow = type == Type::u64 ? "cvt.u32.u64.64" : "mov.b32";
  Draft& draft = emit(!saves ? narrow : type == Type::u64 ? "cvt.u64.u32.32" : "mov.b32");
  draft.code.d = saves ? there : stack_top_;
  draft.code.a = saves ? stack_top_ : there;
}

}  // namespace ptx::emulator
