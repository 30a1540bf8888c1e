// Finds registers that may be read before being written, registers computed from them, and the instructions that touch
// either.
#include <algorithm>
#include <set>

#include "ptx/emulator/function_loader.h"

namespace ptx::emulator {
namespace {

using Rule = TrackedInstruction::Rule;
using Role = TrackedInstruction::Role;

bool begins_with(const std::string& spelling, std::initializer_list<std::string_view> words) {
  const std::string_view word = std::string_view(spelling).substr(0, spelling.find('.'));
  return std::ranges::find(words, word) != words.end();
}

bool uses_memory(const std::string& spelling) {
  return begins_with(spelling, {"ld", "ldu", "st", "atom", "red", "cp", "prefetch", "prefetchu", "mbarrier", "ldmatrix",
                                "stmatrix", "bar", "barrier", "brx", "nanosleep"}) ||
         spelling.starts_with("wmma.load") || spelling.starts_with("wmma.store");
}

Rule rule_of(const std::string& spelling) {
  if (uses_memory(spelling)) return Rule::kDefined;
  if (begins_with(spelling, {"call", "shfl", "vote", "match", "redux", "activemask", "mma", "wmma", "elect"}))
    return Rule::kDefined;
  if (begins_with(spelling, {"selp"})) return Rule::kSelect;
  const bool joins_predicates = spelling.starts_with("set") && (spelling.find(".and.") != std::string::npos ||
                                                                spelling.find(".or.") != std::string::npos ||
                                                                spelling.find(".xor.") != std::string::npos);
  if (joins_predicates ||
      begins_with(spelling, {"mov", "and", "or", "xor", "lop3", "prmt", "bfi", "shf", "slct", "cvt", "copysign"}))
    return Rule::kAny;
  return Rule::kAll;
}

}  // namespace

// The reads of an instruction with their roles. A call's arguments are stored in the thread's own memory.
std::vector<std::pair<ColumnId, Role>> FunctionLoader::roles_of(const Draft& draft, const std::string& spelling) const {
  std::vector<std::pair<ColumnId, Role>> roles;
  Draft unguarded = draft;
  unguarded.guard = kNoColumn;
  const bool is_memory = uses_memory(spelling), selects = rule_of(spelling) == Rule::kSelect;
  const bool hands_on = is_memory || rule_of(spelling) != Rule::kDefined;
  const Space space = static_cast<Space>(draft.code.flags >> access::kSpaceShift & 7);
  const bool is_private = spelling.starts_with("st.local") || spelling.starts_with("st.param") ||
                          (spelling.starts_with("st") && space == Space::local);
  for (ColumnId id : effects_of(unguarded, false).reads) {
    if (!hands_on) break;
    Role role = is_memory ? Role::kNeeded : Role::kPassed;
    if (is_memory && id != draft.code.a && spelling.starts_with("st")) {
      if (is_private) continue;
      role = Role::kStored;
    }
    if (selects && id == draft.code.a) role = Role::kFirst;
    if (selects && id == draft.code.b) role = Role::kSecond;
    if (selects && id == draft.code.a && id == draft.code.b) role = Role::kPassed;
    roles.emplace_back(id, role);
  }
  if (draft.guard != kNoColumn && columns_[draft.guard].kind == ColumnInfo::kRegister)
    roles.emplace_back(draft.guard, Role::kGuard);
  return roles;
}

void FunctionLoader::track_definedness() {
  const size_t n_registers = function_.registers.size();
  std::vector<std::set<ColumnId>> origins(columns_.size());  // undefined registers from which a column may be computed
  for (ColumnId id = 0; id < n_registers; ++id) {
    if (maybe_undefined_[id]) origins[id].insert(id);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t k = 0; k < drafts_.size(); ++k) {
      if (rule_of(code_.spellings[k]) == Rule::kDefined) continue;
      std::set<ColumnId> from;
      for (const auto& [id, role] : roles_of(drafts_[k], code_.spellings[k])) {
        if (role < Role::kNeeded) from.insert(origins[id].begin(), origins[id].end());
      }
      for (ColumnId to : effects_of(drafts_[k], false).writes) {
        const size_t before = origins[to].size();
        origins[to].insert(from.begin(), from.end());
        changed = changed || origins[to].size() != before;
      }
    }
  }
  std::vector<uint32_t> words(columns_.size(), kNoColumn);
  code_.defined_offset = code_.register_bytes;
  for (ColumnId id = 0; id < columns_.size(); ++id) {
    if (origins[id].empty()) continue;
    words[id] = code_.defined_offset + code_.defined_bytes;
    code_.defined_bytes += 4;
  }
  if (code_.defined_bytes == 0) return;
  code_.register_bytes += (code_.defined_bytes + 63) / 64 * 64;
  const auto name = [&](ColumnId id) {
    std::string text = id < n_registers ? function_.registers[id].name : "a value";
    if (origins[id].contains(id)) return text;
    const char* between = ", computed from ";
    for (ColumnId origin : origins[id]) {
      text += between + function_.registers[origin].name;
      between = " or ";
    }
    return text;
  };
  code_.tracked_of.assign(drafts_.size(), 0);
  for (size_t k = 0; k < drafts_.size(); ++k) {
    TrackedInstruction t;
    t.rule = rule_of(code_.spellings[k]);
    for (const auto& [id, role] : roles_of(drafts_[k], code_.spellings[k])) {
      if (words[id] == kNoColumn)
        t.has_other_source = t.has_other_source || role == Role::kPassed;
      else
        t.sources.push_back({words[id], name(id), role});
    }
    for (ColumnId id : {drafts_[k].code.a, drafts_[k].code.b, drafts_[k].code.c}) {
      t.has_other_source = t.has_other_source || (id != kNoColumn && columns_[id].kind == ColumnInfo::kSpecial);
    }
    for (ColumnId id : effects_of(drafts_[k], false).writes) {
      if (words[id] != kNoColumn) t.results.push_back(words[id]);
    }
    if (t.sources.empty() && t.results.empty()) continue;
    code_.tracked.push_back(std::move(t));
    code_.tracked_of[k] = static_cast<uint32_t>(code_.tracked.size());
  }
}

}  // namespace ptx::emulator
