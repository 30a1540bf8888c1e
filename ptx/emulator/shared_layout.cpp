// Finds functions reachable from kernels by calls and addresses, then places the variables in one pass.
#include "ptx/emulator/shared_layout.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>

namespace ptx::emulator {
namespace {

void visit(const Operand& operand, const std::function<void(const Operand&)>& see) {
  see(operand);
  for (const Operand& element : operand.elements) visit(element, see);
  if (operand.second) visit(*operand.second, see);
}

// Functions that a body calls or whose address it takes, and shared variables that it names.
struct Uses {
  std::set<const SyntaxFunction*> functions;
  std::set<const Variable*> variables;
};

Uses uses_of(const SyntaxFunction& function) {
  Uses uses;
  for (const auto& v : function.variables)
    if (v->space == Space::shared) uses.variables.insert(v.get());
  for (const Statement& statement : function.body) {
    for (const Operand& operand : statement.operands) {
      visit(operand, [&](const Operand& o) {
        if (o.function) uses.functions.insert(o.function);
        if (o.variable && o.variable->space == Space::shared) uses.variables.insert(o.variable);
      });
    }
  }
  return uses;
}

// Functions whose addresses initialise variables may be called from anywhere.
std::vector<const SyntaxFunction*> functions_in_variables(const SyntaxModule& module) {
  std::set<std::string> symbols;
  for (const auto& v : module.variables)
    for (const Initialiser& value : v->initialisers) symbols.insert(value.symbol);
  std::vector<const SyntaxFunction*> functions;
  for (const auto& f : module.functions)
    if (symbols.count(f->name)) functions.push_back(f.get());
  return functions;
}

}  // namespace

SharedLayout lay_out_shared(const SyntaxModule& module) {
  std::unordered_map<const SyntaxFunction*, Uses> uses;
  std::vector<const Variable*> variables;
  const auto add = [&](const auto& v) {
    if (v->space == Space::shared && !v->is_unsized) variables.push_back(v.get());
  };
  for (const auto& v : module.variables) add(v);
  for (const auto& f : module.functions) {
    uses[f.get()] = uses_of(*f);
    for (const auto& v : f->variables) add(v);
  }
  SharedLayout layout;
  std::unordered_map<const Variable*, std::vector<const SyntaxFunction*>> kernels_of;
  for (const auto& entry : module.functions) {
    if (!entry->is_entry) continue;
    layout.bytes[entry.get()] = 0;
    std::vector<const SyntaxFunction*> open = functions_in_variables(module);
    open.push_back(entry.get());
    std::set<const SyntaxFunction*> reached(open.begin(), open.end());
    std::set<const Variable*> used;
    while (!open.empty()) {
      const Uses& here = uses[open.back()];
      open.pop_back();
      used.insert(here.variables.begin(), here.variables.end());
      for (const SyntaxFunction* f : here.functions)
        if (reached.insert(f).second) open.push_back(f);
    }
    for (const Variable* v : used) kernels_of[v].push_back(entry.get());
  }
  for (const Variable* v : variables) {
    uint64_t offset = 0;
    for (const SyntaxFunction* kernel : kernels_of[v]) offset = std::max(offset, layout.bytes[kernel]);
    offset = (offset + v->align - 1) / v->align * v->align;
    layout.offsets[v] = offset;
    for (const SyntaxFunction* kernel : kernels_of[v]) layout.bytes[kernel] = offset + v->size;
  }
  return layout;
}

}  // namespace ptx::emulator
