// Matches a statement's modifiers against the rows of forms_table.h.
//
// A row's modifiers are groups separated by spaces:
//   cc                a word that must stand there          ?sat          one that may
//   t=u32|s32         one of several, kept under a name     ?b=and|or     perhaps one of several
//   rnd=rn|rz!rn      perhaps one of several, else rn       ~uni          not part of the handler's name
//   t#=u32|f32        named in the handler by its bits: b32
// As in ptxas, modifiers are accepted in any order, except in rows that begin with `op` and among types (t, u, v:
// set.u16.f16 is not set.f16.u16). If several groups know a word, the first takes it.
// Operands: d destination; s source (register or number); r source register; p and P predicates, written and read; i
// number; a address; D and S registers at least as wide as the type; V and W the same, or vectors of .vN; X and Y like
// d and s, or vectors of .vN; v a vector of any length; x anything that the lowering checks. `:` names the type or its
// group (wide: twice the type; packed: two 8-bit reals); ? is optional.
#include "ptx/emulator/forms.h"

#include <algorithm>
#include <span>
#include <sstream>
#include <unordered_map>

#include "ptx/emulator/forms_table.h"

namespace ptx::emulator {
namespace {

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = text.find(at);
    if (end != 0) parts.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return parts;
}

Group parse_group(std::string text) {
  Group group;
  while (text[0] == '?' || text[0] == '~') {
    (text[0] == '?' ? group.is_optional : group.is_silent) = true;
    text.erase(0, 1);
  }
  const size_t equals = text.find('=');
  if (equals == std::string::npos) {
    group.name = text;
    group.words = {text};
    return group;
  }
  group.name = text.substr(0, equals);
  if (group.name.back() == '#') {
    group.as_bits = true;
    group.name.pop_back();
  }
  std::string words = text.substr(equals + 1);
  if (const size_t fallback = words.find('!'); fallback != std::string::npos) {
    group.fallback = words.substr(fallback + 1);
    group.is_optional = true;
    words.resize(fallback);
  }
  group.words = split(words, '|');
  return group;
}

OperandPattern parse_pattern(std::string text) {
  OperandPattern pattern;
  if (text[0] == '?') {
    pattern.is_optional = true;
    text.erase(0, 1);
  }
  pattern.kind = text[0];
  pattern.type = text.size() > 2 ? text.substr(2) : "t";
  return pattern;
}

using FormTable = std::unordered_map<std::string_view, std::vector<Form>>;

const FormTable& forms() {
  static const FormTable table = [] {
    FormTable built;
    for (const std::span<const FormRow> rows : form_tables()) {
      for (const FormRow& row : rows) {
        Form form{&row, {}, {}};
        for (const std::string& group : split(row.modifiers, ' ')) form.groups.push_back(parse_group(group));
        for (const std::string& operand : split(row.operands, ' ')) form.operands.push_back(parse_pattern(operand));
        built[row.opcode].push_back(std::move(form));
      }
    }
    return built;
  }();
  return table;
}

// Whether a type precedes another that must come first.
bool comes_too_early(const Form& form, size_t group, const std::vector<std::string>& chosen) {
  const auto is_type = [](const Group& g) { return g.name == "t" || g.name == "u" || g.name == "v"; };
  if (!is_type(form.groups[group])) return false;
  for (size_t g = 0; g < group; ++g)
    if (is_type(form.groups[g]) && !form.groups[g].is_optional && chosen[g].empty()) return true;
  return false;
}

// Number of modifiers before the first that does not fit; a match needs all of them and every required group.
bool try_match(const Form& form, const Statement& statement, std::vector<std::string>& chosen, size_t& fitted) {
  chosen.assign(form.groups.size(), {});
  fitted = 0;
  const bool op_leads = !form.groups.empty() && form.groups[0].name == "op";  // wmma.load, not wmma.sync.load
  if (op_leads && (statement.modifiers.empty() || !std::ranges::count(form.groups[0].words, statement.modifiers[0])))
    return false;
  for (fitted = 0; fitted < statement.modifiers.size(); ++fitted) {
    const std::string& word = statement.modifiers[fitted];
    size_t g = 0;
    while (g < form.groups.size() && (!chosen[g].empty() || !std::ranges::count(form.groups[g].words, word))) ++g;
    if (g == form.groups.size() || comes_too_early(form, g, chosen)) return false;
    chosen[g] = word;
  }
  for (size_t g = 0; g < form.groups.size(); ++g) {
    if (chosen[g].empty() && !form.groups[g].is_optional) return false;
    if (chosen[g].empty()) chosen[g] = form.groups[g].fallback;
  }
  return true;
}

std::string spelled(const Statement& statement) {
  std::string text = statement.opcode;
  for (const std::string& m : statement.modifiers) text += "." + m;
  return text;
}

std::string decimal_version(uint32_t version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

bool target_fits(const FormRow& row, const Dialect& dialect) {
  switch (row.suffix) {
    case Suffix::kAny:
      return row.target <= dialect.target && dialect.suffix != 0;
    case Suffix::kOwn:
      return row.target == dialect.target && dialect.suffix == 'a';
    case Suffix::kOwnOrFamily:
      return row.target == dialect.target && dialect.suffix != 0;
    default:
      return row.target <= dialect.target;
  }
}

std::string target_named(uint32_t target, char suffix) {
  std::string name = "sm_" + std::to_string(target);
  if (suffix != 0) name += suffix;
  return name;
}

void check_age(const Statement& statement, const FormRow& row, const Dialect& dialect) {
  if (!target_fits(row, dialect)) {
    refuse(statement.at, spelled(statement) + " needs " +
                             target_named(row.target, row.suffix == Suffix::kNone ? '\0' : 'a') + ", the target is " +
                             target_named(dialect.target, dialect.suffix));
  }
  if (row.version > dialect.version) {
    refuse(statement.at, spelled(statement) + " needs PTX " + decimal_version(row.version) + ", the text says " +
                             decimal_version(dialect.version));
  }
}

[[noreturn]] void refuse_modifiers(const Statement& statement, size_t best) {
  if (best < statement.modifiers.size()) {
    refuse(statement.at, spelled(statement) + ": modifier ." + statement.modifiers[best] + " does not fit there");
  }
  refuse(statement.at, spelled(statement) + ": a modifier or type is missing");
}

}  // namespace

std::string_view Match::word(std::string_view group) const {
  for (size_t g = 0; g < form->groups.size(); ++g) {
    if (form->groups[g].name == group) return chosen[g];
  }
  return {};
}

std::string Match::handler_name() const {
  std::string name = form->row->handler ? form->row->handler : form->row->opcode;
  for (size_t g = 0; g < chosen.size(); ++g) {
    if (chosen[g].empty() || form->groups[g].is_silent) continue;
    name += '.';
    if (form->groups[g].as_bits)
      name += "b" + std::to_string(8 * size_of(type_named(chosen[g])));
    else
      name += chosen[g];
  }
  return name;
}

std::optional<Match> match_form(const Statement& statement, const Dialect& dialect, size_t skip) {
  const auto found = forms().find(statement.opcode);
  if (found == forms().end()) refuse(statement.at, "unknown instruction " + spelled(statement));
  size_t best = 0, matched = 0;
  const FormRow* too_new = nullptr;
  for (const Form& form : found->second) {
    Match match{&form, {}};
    size_t fitted = 0;
    const bool fits = try_match(form, statement, match.chosen, fitted);
    best = std::max(best, fitted);
    if (!fits || matched++ < skip) continue;
    if (!target_fits(*form.row, dialect) || form.row->version > dialect.version) {
      too_new = form.row;
      continue;
    }
    return match;
  }
  if (too_new && skip == 0) check_age(statement, *too_new, dialect);
  if (matched == 0) refuse_modifiers(statement, best);
  return std::nullopt;
}

}  // namespace ptx::emulator
