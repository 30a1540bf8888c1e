// Finds loads from one base register whose bytes are close together, as compilers emit when alignment forbids wider
// ones. The first fetches for all in units of 8 bytes; the others find their registers filled (LoadGroup). This is
// valid for weak loads with only arithmetic and other weak loads in between.
#include "ptx/emulator/load_groups.h"

#include <algorithm>
#include <set>

#include "ptx/emulator/counters.h"
#include "ptx/emulator/function_loader.h"

namespace ptx::emulator {
namespace {

constexpr int64_t kMaxBytes = kUnitBytes * kMaxUnits, kMaxGap = 8;
constexpr uint32_t kMaxSlots = 64;  // bits of Warp::fetched

bool is_weak(const Draft& draft) { return (draft.code.flags & (access::kPolls | 7u << access::kOrderShift)) == 0; }

// Whether a later load of global memory may move before this instruction.
bool lets_pass(const Draft& draft) {
  using enum InstructionClass;
  if (draft.code.control != Control::kNone || draft.spelling.find(".sync") != std::string::npos) return false;
  const InstructionClass c = class_of_instruction(draft.spelling);
  if (c <= kMove) return true;
  const bool elsewhere =
      c == kLoadShared || c == kStoreShared || c == kLoadLocal || c == kStoreLocal || c == kLoadConstant;
  return (elsewhere || c == kLoadGlobal) && is_weak(draft);
}

struct Candidate {
  std::vector<uint32_t> loads;  // drafts, in order
  int64_t begin, end;           // byte range, relative to the base register
  std::set<ColumnId> touched;   // registers read or written since the first load
};

// The unit that contains all of a load's bytes; the last unit ends with the group.
int64_t unit_of(int64_t at, int64_t group_bytes) { return std::min(at / kUnitBytes, (group_bytes - 1) / kUnitBytes); }
int64_t unit_begin(int64_t unit, int64_t group_bytes) { return std::min(unit * kUnitBytes, group_bytes - kUnitBytes); }

}  // namespace

void grouped_full(Warp& w, const Instruction& i) {
  if (!(w.fetched >> i.list & 1)) w.inner[i.index].full(w, i);
}
void grouped_masked(Warp& w, const Instruction& i) {
  if (!(w.fetched >> i.list & 1)) w.inner[i.index].masked(w, i);
}

bool FunctionLoader::may_group(const Draft& draft) const {
  const Instruction& i = draft.code;
  const auto is_register = [&](ColumnId id) { return id != kNoColumn && columns_[id].kind == ColumnInfo::kRegister; };
  return draft.loaded_bytes != 0 && draft.loaded_bytes <= 4 && i.count == 1 && draft.list.empty() &&
         draft.guard == kNoColumn && is_weak(draft) && (i.flags & (access::kAddress32 | access::kAddressNone)) == 0 &&
         static_cast<Space>(i.flags >> access::kSpaceShift & 7) == Space::global && is_register(i.d) &&
         is_register(i.a) && i.d != i.a;
}

void FunctionLoader::group_loads() {
  for (const BasicBlock& block : code_.blocks) {
    std::vector<Candidate> open;
    uint32_t n_slots = 0;
    const auto close_if = [&](auto&& ends) {
      for (const Candidate& c : open) {
        if (ends(c) && n_slots < kMaxSlots) n_slots += add_group(c.loads, c.begin, c.end, n_slots) ? 1 : 0;
      }
      std::erase_if(open, ends);
    };
    for (uint32_t k = block.begin; k < block.end; ++k) {
      const Draft& draft = drafts_[k];
      if (!lets_pass(draft)) {
        close_if([](const Candidate&) { return true; });
        continue;
      }
      if (may_group(draft)) {
        const int64_t begin = draft.code.immediate, end = begin + draft.loaded_bytes;
        const auto near = [&](const Candidate& c) {
          return drafts_[c.loads[0]].code.a == draft.code.a && begin <= c.end + kMaxGap && end >= c.begin - kMaxGap &&
                 std::max(end, c.end) - std::min(begin, c.begin) <= kMaxBytes && !c.touched.contains(draft.code.d);
        };
        const auto found = std::ranges::find_if(open, near);
        if (found == open.end()) {
          open.push_back({{k}, begin, end, {}});
        } else {
          found->loads.push_back(k);
          found->begin = std::min(found->begin, begin);
          found->end = std::max(found->end, end);
        }
      }
      const Effects effects = effects_of(draft, false);
      close_if([&](const Candidate& c) {
        return std::ranges::find(effects.writes, drafts_[c.loads[0]].code.a) != effects.writes.end();
      });
      for (Candidate& c : open) {
        c.touched.insert(effects.reads.begin(), effects.reads.end());
        c.touched.insert(effects.writes.begin(), effects.writes.end());
      }
    }
    close_if([](const Candidate&) { return true; });
  }
}

// False if grouping gains nothing. Columns are still ids without offsets.
bool FunctionLoader::add_group(const std::vector<uint32_t>& loads, int64_t begin, int64_t end, uint32_t slot) {
  const int64_t bytes = end - begin;
  if (bytes < kUnitBytes) return false;
  LoadGroup group{begin, static_cast<uint32_t>(bytes), 1, slot, static_cast<uint32_t>(code_.grouped_loads.size()), 0};
  std::vector<uint32_t> members;
  for (uint32_t k : loads) {
    const Draft& draft = drafts_[k];
    const int64_t at = draft.code.immediate - begin, unit = unit_of(at, bytes), into = at - unit_begin(unit, bytes);
    const bool fits = into + draft.loaded_bytes <= kUnitBytes && at % draft.loaded_bytes == 0;
    if (!fits && k == loads[0]) break;
    if (!fits) continue;
    members.push_back(k);
    code_.grouped_loads.push_back({draft.code.d, static_cast<uint8_t>(unit), static_cast<uint8_t>(8 * into),
                                   static_cast<uint8_t>(draft.loaded_bytes),
                                   static_cast<uint8_t>(columns_[draft.code.d].bytes), draft.extends_sign});
    group.align = std::max(group.align, draft.loaded_bytes);
  }
  group.n_loads = static_cast<uint32_t>(members.size());
  if (members.size() <= static_cast<size_t>((bytes + kUnitBytes - 1) / kUnitBytes)) {
    code_.grouped_loads.resize(group.first_load);
    return false;
  }
  for (uint32_t k : members) drafts_[k].group = static_cast<uint32_t>(code_.load_groups.size());
  drafts_[members[0]].leads_group = true;
  code_.load_groups.push_back(group);
  return true;
}

// Registers that each group's first load writes and the others rely on, for liveness.
void FunctionLoader::add_group_effects(std::vector<Effects>& effects) const {
  for (size_t k = 0; k < drafts_.size(); ++k) {
    if (drafts_[k].group == kNoGroup) continue;
    if (!drafts_[k].leads_group) {
      effects[k].reads.push_back(drafts_[k].code.d);
      continue;
    }
    const LoadGroup& group = code_.load_groups[drafts_[k].group];
    for (uint32_t l = 0; l < group.n_loads; ++l)
      effects[k].writes.push_back(code_.grouped_loads[group.first_load + l].column);
  }
}

void FunctionLoader::finish_groups() {
  for (GroupedLoad& load : code_.grouped_loads) load.column = columns_[load.column].offset;
  for (size_t k = 0; k < drafts_.size(); ++k) {
    const Draft& draft = drafts_[k];
    if (draft.group == kNoGroup) continue;
    const auto set = [&](Instruction& i, HandlerPair leader) {
      i.list = draft.leads_group ? draft.group : code_.load_groups[draft.group].slot;
      i.full = draft.leads_group ? leader.full : &grouped_full;
      i.masked = draft.leads_group ? leader.masked : &grouped_masked;
    };
    set(code_.instructions[k], *layout_.registry->find("load_group"));
    set(code_.observed_instructions[k], *layout_.registry->find("!load_group"));
  }
}

}  // namespace ptx::emulator
