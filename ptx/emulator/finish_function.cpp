// From drafts to code: frame layout, basic blocks, columns with offsets.
#include <algorithm>
#include <cstring>

#include "ptx/emulator/flow.h"
#include "ptx/emulator/function_loader.h"
#include "ptx/emulator/guard.h"
#include "ptx/emulator/liveness.h"

namespace ptx::emulator {
namespace {

constexpr uint32_t kColumnAlign = 64;
uint64_t aligned(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }

uint32_t column_bytes(const ColumnInfo& c) {
  return c.bytes == 0 ? 4 : static_cast<uint32_t>(aligned(c.bytes * kLanes, kColumnAlign));
}

}  // namespace

// A kernel's parameters are in its parameter buffer, a function's in its frame; both have natural alignment.
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
  uint64_t frame = code_.frame_bytes;
  for (const auto& v : function_.variables) {
    if (frame_.contains(v.get())) continue;
    if (v->space != Space::local && v->space != Space::param) continue;  // placed with the module's variables
    frame = aligned(frame, v->align);
    frame_[v.get()] = frame;
    frame += v->size;
  }
  if (function_.is_entry) code_.shared_bytes = layout_.shared_bytes.at(&function_);
  if (frame > 1u << 24)
    refuse(function_.at, "the local variables of " + function_.name + " need " + std::to_string(frame) + " bytes");
  code_.frame_bytes = static_cast<uint32_t>(aligned(frame, 16));
}

void FunctionLoader::finish() {
  code_.frame_bytes = static_cast<uint32_t>(aligned(code_.frame_bytes, 16));
  first_draft_.push_back(static_cast<uint32_t>(drafts_.size()));
  for (const auto& table : function_.label_tables) {
    auto& targets = code_.jump_tables.emplace_back();
    for (const Operand& label : table) targets.push_back(first_draft_[label.target]);
  }
  for (size_t i = 0; i < drafts_.size(); ++i) {
    Instruction& instruction = code_.instructions.emplace_back(drafts_[i].code);
    instruction.index = static_cast<uint32_t>(i);
    const ColumnId guard = drafts_[i].guard;
    instruction.guard = guard == kNoColumn ? kNoGuard : guard;  // a column id until it gets an offset
    if (drafts_[i].target_statement >= 0)
      instruction.immediate = first_draft_[static_cast<size_t>(drafts_[i].target_statement)];
  }
  find_blocks(code_);
  const auto successors = successors_of(code_);
  order_blocks(code_, successors);
  group_loads();
  place_columns(successors);
  code_.inner.resize(drafts_.size());
  for (size_t i = 0; i < drafts_.size(); ++i) {
    fill_instruction(code_.instructions[i], drafts_[i]);
    code_.positions.push_back(drafts_[i].at);
    code_.spellings.push_back(std::move(drafts_[i].spelling));
    code_.tags.push_back(std::move(drafts_[i].tag));
  }
  find_forks(code_, successors);
  track_definedness();
  make_observed();
  for (CallSite& site : code_.calls) {
    if (site.target != kNoColumn) site.target = columns_[site.target].offset;
  }
}

// The variant of the code for launches with checks.
void FunctionLoader::make_observed() {
  code_.observed_instructions = code_.instructions;
  code_.observed_inner = code_.inner;
  std::vector<bool> is_read(columns_.size(), false);
  for (const Draft& draft : drafts_) {
    for (uint32_t r : effects_of(draft, false).reads) is_read[r] = true;
  }
  code_.unread_elements.resize(drafts_.size());
  for (size_t k = 0; k < drafts_.size(); ++k) {
    const Draft& draft = drafts_[k];
    if (draft.observed.full == nullptr) continue;
    Instruction& i = code_.observed_instructions[k];
    code_.observed_inner[k] = draft.observed;
    if (i.guard == kNoGuard) {
      i.full = draft.observed.full;
      i.masked = draft.observed.masked;
    }
    const auto unread = [&](ColumnId id) {
      return id == kNoColumn || (columns_[id].kind == ColumnInfo::kRegister && !is_read[id]);
    };
    const bool only_loads = code_.spellings[k].starts_with("ld") || code_.spellings[k].starts_with("wmma.load");
    if (!only_loads) continue;  // an atomic needs the value it reads
    for (uint32_t e = 0; e < draft.list_defs; ++e) code_.unread_elements[k] |= unread(draft.list[e]) ? 1u << e : 0;
    if (draft.list.empty() && draft.writes_d && unread(draft.code.d)) code_.unread_elements[k] = 1;
  }
  finish_groups();
  for (size_t k = 0; k < code_.tracked_of.size(); ++k) {
    Instruction& i = code_.observed_instructions[k];
    if (code_.tracked_of[k] == 0 || i.control != Control::kNone) continue;
    code_.tracked[code_.tracked_of[k] - 1].handler = {i.full, i.masked};
    i.full = &tracked_full;
    i.masked = &tracked_masked;
  }
}

Effects FunctionLoader::effects_of(const Draft& draft, bool guarded_writes_read) const {
  Effects effects;
  const auto is_register = [this](ColumnId id) {
    return id != kNoColumn && columns_[id].kind == ColumnInfo::kRegister;
  };
  const auto reads = [&](ColumnId id) {
    if (is_register(id)) effects.reads.push_back(id);
  };
  const auto writes = [&](ColumnId id) {
    if (!is_register(id)) return;
    effects.writes.push_back(id);
    if (draft.guard != kNoColumn && guarded_writes_read) effects.reads.push_back(id);
  };
  const Instruction& i = draft.code;
  reads(draft.guard);
  for (ColumnId id : {i.a, i.b, i.c}) reads(id);
  if (!draft.writes_e || draft.reads_e) reads(i.e);
  if (draft.writes_e) writes(i.e);
  draft.writes_d ? writes(i.d) : reads(i.d);
  for (size_t k = 0; k < draft.list.size(); ++k) k < draft.list_defs ? writes(draft.list[k]) : reads(draft.list[k]);
  return effects;
}

// Registers with disjoint lifetimes share columns, except those that may be read before being written: the check needs
// a separate column for each.
uint32_t FunctionLoader::place_registers(uint32_t offset, const std::vector<std::vector<uint32_t>>& successors) {
  std::vector<Effects> effects;
  for (const Draft& draft : drafts_) effects.push_back(effects_of(draft, true));
  add_group_effects(effects);
  const Lives lives = find_lives(effects, code_.blocks, successors, static_cast<uint32_t>(columns_.size()));
  maybe_undefined_ = lives.maybe_undefined;
  std::vector<ColumnId> by_start;
  for (ColumnId id = 0; id < columns_.size(); ++id) {
    if (columns_[id].kind == ColumnInfo::kRegister && lives.spans[id].first <= lives.spans[id].last)
      by_start.push_back(id);
  }
  std::ranges::sort(by_start, {}, [&](ColumnId id) { return lives.spans[id].first; });
  struct Slot {
    uint32_t offset, free_after;
  };
  std::map<uint32_t, std::vector<Slot>> slots;  // by width
  for (ColumnId id : by_start) {
    ColumnInfo& c = columns_[id];
    auto& pool = slots[c.bytes];
    const auto& span = lives.spans[id];
    const bool alone = lives.maybe_undefined[id];
    const auto free_slot =
        alone ? pool.end() : std::ranges::find_if(pool, [&](const Slot& s) { return s.free_after < span.first; });
    if (free_slot != pool.end()) {
      c.offset = free_slot->offset;
      free_slot->free_after = span.last;
      continue;
    }
    c.offset = static_cast<uint32_t>(aligned(offset, c.bytes == 0 ? 4 : kColumnAlign));
    offset = c.offset + column_bytes(c);
    if (!alone) pool.push_back({c.offset, span.last});
  }
  return offset;
}

// Constants first (filled by one copy), then computed values, then registers.
void FunctionLoader::place_columns(const std::vector<std::vector<uint32_t>>& successors) {
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
  offset = place_registers(offset, successors);
  code_.register_bytes = static_cast<uint32_t>(aligned(offset, kColumnAlign));
  code_.register_count = estimated_registers();
}

// A rough estimate of a device compiler's register count: from the text's size, within the directives' limits.
uint32_t FunctionLoader::estimated_registers() const {
  constexpr uint32_t kFewest = 16, kMax = 255, kFile = 65536;
  uint32_t max = function_.max_registers > 0 ? std::min(function_.max_registers, kMax) : kMax;
  const uint32_t* required = function_.required_threads;
  const uint32_t threads = required[0] > 0 ? required[0] * required[1] * required[2] : function_.max_threads;
  if (threads > 0) max = std::min(max, kFile / (threads * std::max(1u, function_.min_blocks)));
  return std::clamp(static_cast<uint32_t>(function_.registers.size() / 4), kFewest, std::max(kFewest, max));
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
  if (i.control != Control::kNone) return;
  code_.inner[i.index] = draft.handler;
  i.full = draft.handler.full;
  i.masked = draft.handler.masked;
  if (i.guard != kNoGuard) {
    i.full = &guarded_full;
    i.masked = &guarded_masked;
  }
}

}  // namespace ptx::emulator
