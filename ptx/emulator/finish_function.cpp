// From drafts to code: the frame's layout, basic blocks in reverse post-order, columns with offsets.
#include <algorithm>
#include <cstring>

#include "ptx/emulator/function_loader.h"
#include "ptx/emulator/guard.h"

namespace ptx::emulator {
namespace {

constexpr uint32_t kColumnAlign = 64;
uint64_t aligned(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }

uint32_t column_bytes(const ColumnInfo& c) {
  return c.bytes == 0 ? 4 : static_cast<uint32_t>(aligned(c.bytes * kLanes, kColumnAlign));
}

}  // namespace

// A kernel's parameters lie in its parameter buffer, a function's in its frame, both by natural alignment.
void FunctionLoader::declare_parameters() {
  uint64_t offset = 0;
  const auto place = [&](const Variable* v, std::vector<Parameter>& list) {
    offset = aligned(offset, v->align);
    list.push_back({v->name, static_cast<uint32_t>(offset), static_cast<uint32_t>(v->size), v->align});
    frame_[v] = offset;
    offset += v->size;
  };
  for (const Variable* v : function_.signature.parameters) place(v, code_.parameters);
  for (const Variable* v : function_.signature.returns) place(v, code_.results);
  code_.parameter_bytes = static_cast<uint32_t>(offset);
  if (!function_.is_entry) code_.frame_bytes = code_.parameter_bytes;
  if (function_.is_entry && offset > 32764)
    refuse(function_.at,
           "the parameters of " + function_.name + " need " + std::to_string(offset) + " bytes, 32764 is the most");
}

void FunctionLoader::place_variables() {
  declare_parameters();
  uint64_t shared = layout_.shared_bytes, frame = code_.frame_bytes;
  for (const auto& v : function_.variables) {
    if (frame_.contains(v.get())) continue;
    uint64_t& next = v->space == Space::shared ? shared : frame;
    if (v->space == Space::global || v->space == Space::constant) continue;  // placed with the module's
    next = aligned(next, v->align);
    frame_[v.get()] = next;
    next += v->size;
  }
  code_.shared_bytes = static_cast<uint32_t>(shared);
  if (frame > 1u << 24)
    refuse(function_.at, "the local variables of " + function_.name + " need " + std::to_string(frame) + " bytes");
  code_.frame_bytes = static_cast<uint32_t>(aligned(frame, 16));
}

void FunctionLoader::finish() {
  code_.frame_bytes = static_cast<uint32_t>(aligned(code_.frame_bytes, 16));
  first_draft_.push_back(static_cast<uint32_t>(drafts_.size()));
  place_columns();
  code_.instructions.resize(drafts_.size());
  code_.inner.resize(drafts_.size());
  code_.observed.resize(drafts_.size());
  for (size_t i = 0; i < drafts_.size(); ++i) {
    Instruction& instruction = code_.instructions[i];
    instruction = drafts_[i].code;
    instruction.index = static_cast<uint32_t>(i);
    fill_instruction(instruction, drafts_[i]);
    code_.positions.push_back(drafts_[i].at);
    code_.spellings.push_back(std::move(drafts_[i].spelling));
    code_.tags.push_back(std::move(drafts_[i].tag));
  }
  for (const auto& table : function_.label_tables) {
    auto& targets = code_.jump_tables.emplace_back();
    for (const Operand& label : table) targets.push_back(first_draft_[label.target]);
  }
  for (CallSite& site : code_.calls) {
    if (site.target != kNoColumn) site.target = columns_[site.target].offset;
  }
  find_blocks();
  number_blocks();
}

// Constants first (one copy fills them), then what a frame computes, then the registers.
void FunctionLoader::place_columns() {
  uint32_t offset = 0;
  const auto place = [&](ColumnInfo& c) {
    offset = static_cast<uint32_t>(aligned(offset, c.bytes == 0 ? 4 : kColumnAlign));
    c.offset = offset;
    offset += column_bytes(c);
  };
  for (ColumnInfo& c : columns_) {
    if (c.kind == ColumnInfo::kConstant) place(c);
  }
  code_.constants.resize(offset);
  for (const ColumnInfo& c : columns_) {
    if (c.kind != ColumnInfo::kConstant) continue;
    if (c.bytes == 0) std::memcpy(&code_.constants[c.offset], &c.value, 4);
    for (uint32_t l = 0; c.bytes && l < kLanes; ++l)
      std::memcpy(&code_.constants[c.offset + l * c.bytes], &c.value, std::min(c.bytes, 8u));
  }
  for (ColumnInfo& c : columns_) {
    if (c.kind != ColumnInfo::kSpecial) continue;
    place(c);
    code_.specials.push_back({c.special, c.offset, c.bytes, c.value});
  }
  for (ColumnInfo& c : columns_) {
    if (c.kind == ColumnInfo::kRegister) place(c);
  }
  code_.register_bytes = static_cast<uint32_t>(aligned(offset, kColumnAlign));
  code_.register_count = std::clamp<uint32_t>(static_cast<uint32_t>(function_.registers.size() / 4), 16, 255);
}

void FunctionLoader::fill_instruction(Instruction& i, const Draft& draft) {
  const auto offset_of = [this](ColumnId id) { return id == kNoColumn ? kNoColumn : columns_[id].offset; };
  i.d = offset_of(i.d);
  i.a = offset_of(i.a);
  i.b = offset_of(i.b);
  i.c = offset_of(i.c);
  i.e = offset_of(i.e);
  i.guard = draft.guard == kNoColumn ? kNoGuard : columns_[draft.guard].offset;
  i.list = static_cast<uint32_t>(code_.operands.size());
  for (ColumnId id : draft.list) code_.operands.push_back(offset_of(id));
  if (draft.target_statement >= 0) i.immediate = first_draft_[static_cast<size_t>(draft.target_statement)];
  if (i.control != Control::kNone) return;
  code_.inner[i.index] = draft.handler;
  code_.observed[i.index] = draft.observed;
  i.full = draft.handler.full;
  i.masked = draft.handler.masked;
  if (i.guard != kNoGuard) {
    i.full = &guarded_full;
    i.masked = &guarded_masked;
  }
}

// A block begins where something jumps to and after whatever ends one.
void FunctionLoader::find_blocks() {
  const uint32_t n = static_cast<uint32_t>(code_.instructions.size());
  std::vector<bool> leads(n + 1, false);
  leads[0] = true;
  for (const Instruction& i : code_.instructions) {
    if (i.control == Control::kNone) continue;
    leads[i.index + 1] = true;
    if (i.control == Control::kBranch) leads[static_cast<size_t>(i.immediate)] = true;
  }
  for (const auto& table : code_.jump_tables) {
    for (uint32_t target : table) leads[target] = true;
  }
  code_.block_of.resize(n);
  for (uint32_t at = 0; at < n; ++at) {
    if (leads[at]) code_.blocks.push_back({at, at, 0, false});
    BasicBlock& block = code_.blocks.back();
    code_.block_of[at] = static_cast<uint32_t>(code_.blocks.size() - 1);
    block.has_terminator = code_.instructions[at].control != Control::kNone;
    block.end = block.has_terminator ? at : at + 1;
  }
}

// Reverse post-order: where fragments of a warp may meet, those behind in this order run first.
void FunctionLoader::number_blocks() {
  const auto successors = [this](const BasicBlock& block) {
    std::vector<uint32_t> next;
    const auto add = [&](uint64_t at) {
      if (at < code_.block_of.size()) next.push_back(code_.block_of[at]);
    };
    if (!block.has_terminator) {
      add(block.end);
      return next;
    }
    const Instruction& i = code_.instructions[block.end];
    const bool falls = i.guard != kNoGuard || i.control == Control::kCall || i.control == Control::kBarrier ||
                       i.control == Control::kTrap;
    if (falls) add(block.end + 1);
    if (i.control == Control::kBranch) add(static_cast<uint64_t>(i.immediate));
    if (i.control == Control::kBranchIndexed) {
      for (uint32_t target : code_.jump_tables[static_cast<size_t>(i.immediate)]) add(target);
    }
    std::ranges::sort(next);  // the last in the text is visited first: what leaves a loop is ordered behind its body
    return next;
  };
  struct Visit {
    uint32_t block;
    std::vector<uint32_t> next;
  };
  std::vector<bool> seen(code_.blocks.size(), false);
  std::vector<uint32_t> finished;
  std::vector<Visit> stack;
  for (uint32_t root = 0; root < code_.blocks.size(); ++root) {
    if (seen[root]) continue;
    seen[root] = true;
    stack.push_back({root, successors(code_.blocks[root])});
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.next.empty()) {
        finished.push_back(top.block);
        stack.pop_back();
        continue;
      }
      const uint32_t next = top.next.back();
      top.next.pop_back();
      if (seen[next]) continue;
      seen[next] = true;
      stack.push_back({next, successors(code_.blocks[next])});
    }
    if (root == 0) std::ranges::reverse(finished);
  }
  for (uint32_t order = 0; order < finished.size(); ++order) code_.blocks[finished[order]].order = order;
}

}  // namespace ptx::emulator
