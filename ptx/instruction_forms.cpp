// Expands the instruction table's rows: every spelling with operand types and counts resolved.
#include <unordered_map>

#include "ptx/instruction_table.h"

namespace ptx {
namespace {

struct Macro {
  std::string_view name, list;
};
constexpr Macro kMacros[] = {
    {"$int", "u16|u32|u64|s16|s32|s64"},
    {"$wide_int", "u32|u64|s32|s64"},
    {"$memory_int", "u8|u16|u32|u64|s8|s16|s32|s64"},
    {"$memory", "u8|u16|u32|u64|s8|s16|s32|s64|b8|b16|b32|b64|f32|f64"},
    {"$bits", "b16|b32|b64"},
    {"$shape", "m16n16k16|m8n32k16|m32n8k16"},
    {"$eviction", "evict_first|evict_last|no_allocate"},
    {"$order", "relaxed|acquire|release|acq_rel"},
    {"$scope", "cta|gpu|sys"},
    {"$compare", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"},
};

// Types and counts bound by a pattern's alternatives.
struct Bindings {
  Type t = Type::kB32, s = Type::kB32;
  int lanes = 1;
  Space space = Space::kGlobal;
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t end; (end = text.find(separator)) != text.npos; text.remove_prefix(end + 1)) {
    parts.push_back(text.substr(0, end));
  }
  parts.push_back(text);
  return parts;
}

std::vector<std::string_view> alternatives(std::string_view list) {
  std::vector<std::string_view> all;
  for (std::string_view part : split(list, '|')) {
    std::string_view expanded = part;
    for (const Macro& macro : kMacros) {
      if (macro.name == part) expanded = macro.list;
    }
    for (std::string_view item : split(expanded, '|')) all.push_back(item);
  }
  return all;
}

Type type_named(std::string_view name) {
  Type type = Type::kPred;
  if (name != "p") parse_type(name, type);  // a misspelt name fails every test of the row
  return type;
}

void bind(Bindings& bindings, char letter, std::string_view choice) {
  if (letter == 'T') bindings.t = type_named(choice);
  if (letter == 'S') bindings.s = type_named(choice);
  if (letter == 'V') bindings.lanes = choice.empty() ? 1 : choice.back() - '0';
  if (letter == 'A') bindings.space = choice == "shared" ? Space::kShared : Space::kGlobal;
}

Type twice(Type type) {
  switch (type) {
    case Type::kU16:
      return Type::kU32;
    case Type::kS16:
      return Type::kS32;
    case Type::kU32:
      return Type::kU64;
    default:
      return Type::kS64;
  }
}

Space space_of(char letter, const Bindings& bindings) {
  switch (letter) {
    case 's':
      return Space::kShared;
    case 'l':
      return Space::kLocal;
    case 'c':
      return Space::kConst;
    case 'm':
      return Space::kParam;
    case 'A':
      return bindings.space;
    default:
      return Space::kGlobal;
  }
}

Slot parse_slot(std::string_view token, const Bindings& bindings) {
  Slot slot;
  if (token.ends_with('?')) slot.optional = true, token.remove_suffix(1);
  if (token.ends_with("|p")) slot.paired = true, token.remove_suffix(2);
  if (token[0] == '[') {
    slot.kind = Slot::Kind::kAddress, slot.space = space_of(token[1], bindings);
    return slot;
  }
  if (const size_t star = token.find('*'); star != token.npos) {
    slot.count = token[0] == 'V' ? bindings.lanes : token[0] - '0';
    slot.listed = token[0] != 'V' || bindings.lanes > 1;
    token.remove_prefix(star + 1);
  }
  if (token == "i")
    slot.kind = Slot::Kind::kConstant;
  else if (token == "L")
    slot.kind = Slot::Kind::kLabel;
  else if (token == "T")
    slot.type = bindings.t;
  else if (token == "S")
    slot.type = bindings.s;
  else if (token == "W")
    slot.type = twice(bindings.t);
  else if (token == "H")
    slot.type = bindings.t == Type::kB64 ? Type::kB32 : Type::kB16;
  else
    slot.type = type_named(token);
  return slot;
}

Signature parse_signature(std::string_view text, const Bindings& bindings) {
  Signature signature;
  for (std::string_view token : split(text, ' ')) {
    if (token == "=")
      signature.n_results = static_cast<int>(signature.slots.size());
    else if (!token.empty())
      signature.slots.push_back(parse_slot(token, bindings));
  }
  return signature;
}

int widest_access(Target target) { return runs(target, sm_100) ? 32 : 16; }

// Appends the forms for `rest`, the unexpanded remainder of the row's pattern.
void expand(const Row& row, std::string spelled, std::string_view rest, Bindings bindings, std::vector<Form>& forms) {
  const size_t open = rest.find('{');
  spelled += rest.substr(0, open);
  if (open == rest.npos) {
    if (bindings.lanes * bytes_of(bindings.t) > widest_access(row.minimum)) return;
    Form form{std::move(spelled), &row, {}};
    for (std::string_view signature : split(row.operands, ';')) {
      form.signatures.push_back(parse_signature(signature, bindings));
    }
    forms.push_back(std::move(form));
    return;
  }
  const size_t close = rest.find('}', open);
  std::string_view list = rest.substr(open + 1, close - open - 1);
  const bool binds = list.size() > 1 && list[1] == ':';
  const char letter = binds ? list[0] : 0;
  if (binds) list.remove_prefix(2);
  for (std::string_view choice : alternatives(list)) {
    Bindings chosen = bindings;
    bind(chosen, letter, choice);
    expand(row, spelled + std::string(choice), rest.substr(close + 1), chosen, forms);
  }
}

std::vector<Form> expand_all() {
  std::vector<Form> forms;
  for (const Row& row : instruction_rows()) expand(row, "", row.pattern, {}, forms);
  return forms;
}

}  // namespace

const std::vector<Form>& instruction_forms() {
  static const std::vector<Form> kForms = expand_all();
  return kForms;
}

const Form* find_form(std::string_view spelling) {
  static const std::unordered_map<std::string_view, const Form*> kBySpelling = [] {
    std::unordered_map<std::string_view, const Form*> map;
    for (const Form& form : instruction_forms()) map.emplace(form.spelling, &form);
    return map;
  }();
  const auto found = kBySpelling.find(spelling);
  return found == kBySpelling.end() ? nullptr : found->second;
}

}  // namespace ptx
