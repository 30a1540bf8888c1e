#include "ptx/emitter.h"

#include <algorithm>
#include <map>
#include <set>

#include "ptx/flow_graph.h"
#include "ptx/instruction_table.h"
#include "ptx/layout.h"
#include "ptx/number.h"

namespace ptx {
namespace {

constexpr size_t kLineWidth = 110;

// %tid and its like are taken; PTX ISA, "Special Registers".
bool is_special(const std::string& name) {
  static const std::set<std::string> kNames = {"tid",
                                               "ntid",
                                               "laneid",
                                               "warpid",
                                               "nwarpid",
                                               "ctaid",
                                               "nctaid",
                                               "smid",
                                               "nsmid",
                                               "gridid",
                                               "clusterid",
                                               "nclusterid",
                                               "cluster_ctaid",
                                               "cluster_nctaid",
                                               "cluster_ctarank",
                                               "cluster_nctarank",
                                               "is_explicit_cluster",
                                               "lanemask_eq",
                                               "lanemask_le",
                                               "lanemask_lt",
                                               "lanemask_ge",
                                               "lanemask_gt",
                                               "clock",
                                               "clock_hi",
                                               "clock64",
                                               "globaltimer",
                                               "globaltimer_lo",
                                               "globaltimer_hi",
                                               "total_smem_size",
                                               "dynamic_smem_size",
                                               "aggr_smem_size",
                                               "current_graph_exec"};
  return kNames.contains(name) || name.starts_with("envreg") || name.starts_with("pm") ||
         name.starts_with("reserved_smem");
}

// Letters, digits and underscores of a role.
std::string cleaned(const std::string& role) {
  std::string name;
  for (char c : role) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name.empty() ? "value" : name;
}

// Distinct names: role, role_2, role_3, ...
class Namer {
 public:
  std::string fresh(const std::string& role, const char* prefix) {
    const std::string base = cleaned(role);
    for (int& n = used_[base];;) {
      std::string name = base + (++n > 1 ? "_" + std::to_string(n) : "");
      if (!is_special(name) && taken_.insert(name).second) return prefix + name;
    }
  }

 private:
  std::map<std::string, int> used_;
  std::set<std::string> taken_;
};

std::vector<bool> used_registers(const Body& body) {
  std::vector<bool> used(body.registers.size());
  for (const ArgumentRegister& argument : body.arguments) used[argument.index] = true;
  for (const Instruction& instruction : body.code) {
    for_each_read(instruction, [&](int r) { used[r] = true; });
    for_each_write(instruction, [&](int r) { used[r] = true; });
  }
  return used;
}

// A name as Namer makes it: "%sum_12" is the 12th of "%sum".
struct Numbered {
  std::string stem;
  size_t number = 0;  // 0: none
};
Numbered numbered(const std::string& name) {
  const size_t digits = name.find_last_not_of("0123456789") + 1;
  if (digits == name.size() || name[digits - 1] != '_' || name[digits] == '0' || name.size() - digits > 6)
    return {name};
  return {name.substr(0, digits - 1), std::stoul(name.substr(digits))};
}

// The numbered names of one stem. A role may end as other names do, and so be of another type.
struct Numbers {
  std::string_view declared;
  bool are_alike = true;
  size_t n = 0, highest = 0;
  // Shorter as one range, which also names some registers that there are not.
  bool is_range() const { return are_alike && n >= 6 && highest < 2 * n; }
};

// .reg lines, one declared type after the other; "%sum_<65>" stands for %sum_0 to %sum_64.
std::string spell_registers(const Body& body, const std::vector<std::string>& all_names) {
  constexpr std::string_view kDeclared[] = {"pred", "b16", "b32", "b64", "f32", "f64"};
  const auto declared_as = [&](size_t r) { return info(body.registers[r].type).declared; };
  std::vector<std::string> names = all_names;
  for (const ArgumentRegister& argument : body.arguments) names[argument.index].clear();  // the signature has them
  std::map<std::string, Numbers> stems;
  for (size_t r = 0; r < names.size(); ++r) {
    const Numbered name = numbered(names[r]);
    if (name.number == 0) continue;
    Numbers& stem = stems.try_emplace(name.stem, Numbers{declared_as(r)}).first->second;
    stem.are_alike &= stem.declared == declared_as(r);
    stem.highest = std::max(stem.highest, name.number);
    ++stem.n;
  }
  std::string text;
  for (std::string_view declared : kDeclared) {
    std::string line;
    std::set<std::string> ranges;
    for (size_t r = 0; r < names.size(); ++r) {
      if (names[r].empty() || declared_as(r) != declared) continue;
      std::string spelled = names[r];
      const Numbered name = numbered(names[r]);
      if (name.number != 0 && stems[name.stem].is_range()) {
        if (!ranges.insert(name.stem).second) continue;
        spelled = name.stem + "_<" + std::to_string(stems[name.stem].highest + 1) + ">";
      }
      if (!line.empty() && line.size() + spelled.size() + 2 > kLineWidth) {
        text += line + ";\n";
        line.clear();
      }
      line += line.empty() ? "  .reg ." + std::string(declared) + " " : ", ";
      line += spelled;
    }
    if (!line.empty()) text += line + ";\n";
  }
  return text;
}

std::string spell_bytes(const std::vector<uint8_t>& data) {
  std::string text;
  for (size_t i = 0; i < data.size(); ++i) {
    if (i) text += i % 32 ? ", " : ",\n  ";
    text += std::to_string(data[i]);
  }
  return text;
}

std::string spell_array(const Symbol& symbol) {
  return "." + std::string(spell(symbol.space)) + " .align " + std::to_string(symbol.alignment) + " .b8 " +
         symbol.name + "[" + std::to_string(symbol.bytes()) + "]";
}

std::string spell_parameter(const Symbol& symbol) {
  if (!symbol.pointer) return "  .param ." + std::string(info(symbol.element).plain) + " " + symbol.name;
  return "  .param .u64 .ptr .global .align " + std::to_string(symbol.alignment) + " " + symbol.name;
}

std::string describe_parameter(const Symbol& symbol) {
  if (!symbol.pointer) return "";
  return "  // " + std::string(info(symbol.element).name) +
         (symbol.count ? " [" + std::to_string(symbol.count) + "]" : "");
}

// All parts of the dynamic shared memory are offsets into this.
std::string dynamic_shared(const Body& body) { return body.name + "_dynamic"; }

std::string spell_declarations(const Body& body) {
  std::string text;
  uint32_t alignment = 0;
  for (const Symbol& symbol : body.symbols) {
    if (symbol.space == Space::kConst) text += spell_array(symbol) + " = {" + spell_bytes(symbol.data) + "};\n";
    if (symbol.dynamic) alignment = std::max(alignment, symbol.alignment);
  }
  if (alignment) {
    text += ".extern .shared .align " + std::to_string(alignment) + " .b8 " + dynamic_shared(body) + "[];\n";
  }
  return text.empty() ? text : text + "\n";
}

std::string spell_signature(const Body& body) {
  std::vector<const Symbol*> parameters;
  for (const Symbol& symbol : body.symbols) {
    if (symbol.space == Space::kParam) parameters.push_back(&symbol);
  }
  std::string text = ".visible .entry " + body.name + "(";
  for (size_t i = 0; i < parameters.size(); ++i) {
    text += "\n" + spell_parameter(*parameters[i]) + (i + 1 < parameters.size() ? "," : "") +
            describe_parameter(*parameters[i]);
  }
  text += parameters.empty() ? ")\n" : "\n)\n";
  if (body.max_threads) text += ".maxntid " + std::to_string(body.max_threads) + "\n";
  if (body.min_blocks) text += ".minnctapersm " + std::to_string(body.min_blocks) + "\n";
  return text + "{\n";
}

// A function's arguments lie in registers.
std::string spell_function_signature(const Body& body, const std::vector<std::string>& names) {
  std::string text = ".func " + body.name + "(";
  size_t width = text.size();
  for (const ArgumentRegister& argument : body.arguments) {
    const std::string one =
        ".reg ." + std::string(info(body.registers[argument.index].type).declared) + " " + names[argument.index];
    const bool first = &argument == body.arguments.data();
    const bool breaks = width + one.size() + 2 > kLineWidth;
    text += (first ? "" : ",") + std::string(breaks ? "\n  " : first ? "" : " ") + one;
    width = (breaks ? 2 : width + 2) + one.size();
  }
  return text + ")\n{\n";
}

std::string describe_claim(const Claim& claim, Where at) {
  switch (claim.kind) {
    case Claim::Kind::kNone:
      return "";
    case Claim::Kind::kBlockUniform:
      return "  // the same in the whole block (" + spell(at) + ")";
    case Claim::Kind::kWarpUniform:
      return "  // the same in the whole warp";
    case Claim::Kind::kAligned:
      return "  // a multiple of " + std::to_string(claim.alignment) + " (" + spell(at) + ")";
  }
  return "";
}

}  // namespace

// Registers of one role are numbered by what they are declared as, and those of its second and third type say so, as
// %mul_f32_2, so that each row of numbers can be declared at once.
std::vector<std::string> name_registers(const Body& body) {
  const std::vector<bool> used = used_registers(body);
  std::vector<std::string> names(body.registers.size());
  std::map<std::string, std::string_view> first_type;  // of a role
  Namer namer;
  for (size_t r = 0; r < names.size(); ++r) {
    if (!used[r]) continue;
    const std::string& role = body.registers[r].role;
    const std::string_view declared = info(body.registers[r].type).declared;
    const bool is_first = first_type.try_emplace(role, declared).first->second == declared;
    names[r] = namer.fresh(is_first ? role : role + "_" + std::string(declared), "%");
  }
  return names;
}

std::vector<std::string> name_labels(const Body& body) {
  std::vector<std::string> names;
  Namer namer;
  for (const std::string& role : body.labels) names.push_back(namer.fresh(role, "$"));
  return names;
}

std::string spell_header(Target target, Version version) {
  return ".version " + spell(version) + "\n.target " + spell(target) + "\n.address_size 64\n\n";
}

Version needed_version(const Body& body) {
  Version version = oldest_version(body.target);
  for (const Instruction& instruction : body.code) {
    if (instruction.form) version = std::max(version, instruction.form->row->version);
  }
  for (const FunctionPointer& function : body.functions) version = std::max(version, function->version);
  if (lay_out_parameters(body).bytes > kMaxOldParameterBytes) version = std::max(version, kLongParameters);
  return version;
}

std::string spell_operand(const Body& body, const std::vector<std::string>& registers,
                          const std::vector<std::string>& labels, const Operand& operand) {
  const auto again = [&](const Operand& part) { return spell_operand(body, registers, labels, part); };
  const auto with_offset = [&](const std::string& base) {
    if (operand.offset == 0) return base;
    return base + "+" + std::to_string(operand.offset);  // PTX writes a negative one +-4
  };
  const auto symbol = [&] {
    const Symbol& s = body.symbols[operand.symbol];
    return s.dynamic ? dynamic_shared(body) : s.name;
  };
  switch (operand.kind) {
    case Operand::Kind::kNone:
      return "";
    case Operand::Kind::kRegister:
      return (operand.negated ? "!" : "") + registers[operand.index];
    case Operand::Kind::kImmediate:
      return spell_immediate(operand);
    case Operand::Kind::kSpecial:
      return std::string(operand.text);
    case Operand::Kind::kSymbol:
      return with_offset(symbol());
    case Operand::Kind::kAddress:
      return with_offset(operand.index >= 0 ? registers[operand.index] : symbol());
    case Operand::Kind::kLabel:
      return labels[operand.index];
    case Operand::Kind::kSink:
      return "_";
    case Operand::Kind::kPair:
      return again(operand.parts[0]) + "|" + again(operand.parts[1]);
    case Operand::Kind::kList:
      break;
  }
  std::string list = "{";
  for (const Operand& part : operand.parts) list += (list.size() > 1 ? ", " : "") + again(part);
  return list + "}";
}

namespace {

class LineWriter {
 public:
  LineWriter(const Body& body, const std::vector<std::string>& registers, const std::vector<std::string>& labels)
      : body_(body), registers_(registers), labels_(labels) {}

  std::string line(const Instruction& i) const {
    switch (i.kind) {
      case Instruction::Kind::kLabel:
        return labels_[i.operands[0].index] + ":\n";
      case Instruction::Kind::kComment:
        return "  // " + i.spelling + "\n";
      case Instruction::Kind::kRaw:
        return "  " + guard(i) + raw(i) + "  // raw (" + spell(i.at) + ")\n";
      case Instruction::Kind::kCall:
        return "  call.uni " + i.spelling + ", (" + operands(i) + ");\n";
      case Instruction::Kind::kOperation:
        break;
    }
    return "  " + guard(i) + i.spelling + (i.operands.empty() ? "" : " ") + operands(i) + ";" +
           describe_claim(i.claim, i.at) + "\n";
  }

 private:
  std::string operands(const Instruction& i) const {
    std::string text;
    for (const Operand& o : i.operands) text += (text.empty() ? "" : ", ") + operand(o);
    return text;
  }
  std::string operand(const Operand& o) const {
    const std::string text = spell_operand(body_, registers_, labels_, o);
    return o.kind == Operand::Kind::kAddress ? "[" + text + "]" : text;
  }
  std::string guard(const Instruction& i) const { return is_guarded(i) ? "@" + operand(i.guard) + " " : ""; }
  // {0} stands for the first operand, and so on.
  std::string raw(const Instruction& i) const {
    std::string text = i.spelling;
    for (size_t k = 0; k < i.operands.size(); ++k) {
      const std::string mark = "{" + std::to_string(k) + "}";
      for (size_t at = 0; (at = text.find(mark, at)) != text.npos;)
        text.replace(at, mark.size(), operand(i.operands[k]));
    }
    return text;
  }

  const Body& body_;
  const std::vector<std::string>&registers_, &labels_;
};

int count_lines(const std::string& text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }

}  // namespace

Text spell(const Body& body, const std::vector<std::string>& registers, const std::vector<std::string>& labels,
           Version version) {
  const bool is_function = !body.arguments.empty();
  Text text{spell_header(body.target, version),
            spell_declarations(body),
            is_function ? spell_function_signature(body, registers) : spell_signature(body),
            {}};
  text.entry += spell_registers(body, registers);
  for (const Symbol& symbol : body.symbols) {
    const bool in_entry = symbol.space == Space::kLocal || (symbol.space == Space::kShared && !symbol.dynamic);
    if (in_entry) text.entry += "  " + spell_array(symbol) + ";\n";
  }
  const LineWriter writer(body, registers, labels);
  int called = 0;
  for (const FunctionPointer& function : body.functions)
    called += count_lines(function->declarations) + count_lines(function->text) + 1;
  int line = called + count_lines(text.header) + count_lines(text.declarations) + count_lines(text.entry) + 1;
  for (const Instruction& instruction : body.code) {
    const std::string written = writer.line(instruction);
    text.lines.push_back(line);
    line += count_lines(written);
    text.entry += written;
  }
  const bool returns = !body.code.empty() && ends_thread(body.code.back()) && !is_guarded(body.code.back());
  text.entry += returns ? "}\n" : "  ret;\n}\n";
  return text;
}

}  // namespace ptx
