#include "form_examples.h"

#include <algorithm>
#include <map>

namespace ptx::testing {
namespace {

// An operand for the slot; `n` counts registers, so that neighbours differ.
std::string example_operand(const Form& form, const Slot& slot, int& n) {
  const auto reg = [&](Type type) {
    return "%" + std::string(info(in_register(type)).declared) + "_" + std::to_string(n++ % 16);
  };
  if (slot.kind == Slot::Kind::kLabel) return "$end";
  if (slot.kind == Slot::Kind::kConstant) return form.spelling.starts_with("setmaxnreg") ? "40" : "16";
  if (slot.kind == Slot::Kind::kAddress) {
    static const std::map<Space, std::string> kAddresses = {{Space::kGlobal, "[%b64_0+32]"},
                                                            {Space::kShared, "[%b32_0+32]"},
                                                            {Space::kLocal, "[stack]"},
                                                            {Space::kConst, "[table]"},
                                                            {Space::kParam, "[parameter]"}};
    return kAddresses.at(slot.space);
  }
  if (slot.paired) return reg(slot.type) + "|" + reg(Type::kPred);
  if (!slot.listed) return reg(slot.type);
  std::string list = "{" + reg(slot.type);
  for (int i = 1; i < slot.count; ++i) list += ", " + reg(slot.type);
  return list + "}";
}

}  // namespace

std::string example_line(const Form& form, const Signature& signature) {
  std::string line = form.spelling;
  int n = 1;
  for (size_t i = 0; i < signature.slots.size(); ++i) {
    line += (i ? ", " : " ") + example_operand(form, signature.slots[i], n);
  }
  return line + ";\n";
}

std::string kernel_around(const std::vector<std::string>& lines, Target target, Version version, const std::string& end,
                          int& first_line) {
  std::string text = ".version " + spell(version) + "\n.target " + spell(target) + "\n.address_size 64\n" +
                     ".const .align 32 .b8 table[64];\n.visible .entry all(.param .align 32 .b8 parameter[64])\n{\n";
  for (const char* type : {"pred", "b16", "b32", "b64", "f32", "f64"}) {
    text += ".reg ." + std::string(type) + " %" + type + "_<16>;\n";
  }
  text += ".local .align 32 .b8 stack[64];\n";
  first_line = static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1;
  for (const std::string& line : lines) text += line;
  return text + "$end:\n" + end + ";\n}\n";
}

}  // namespace ptx::testing
