#include "ptx/emulator/link.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "ptx/emulator/code.h"

namespace ptx::emulator {
namespace {

bool is_definition(const SyntaxFunction& f) { return f.is_defined; }
bool is_definition(const Variable& v) { return !v.is_extern; }

// Each block has its own dynamic shared memory, whatever its name in a module.
bool is_dynamic_shared(const Variable& v) { return v.is_extern && v.is_unsized && v.space == Space::shared; }

// Maps each name, declaration and redundant weak definition to the definition used.
template <class Item>
struct Resolution {
  struct Definition {
    Item* item;
    size_t module;
  };
  std::map<std::string, Definition> definitions;
  std::unordered_map<const Item*, Item*> replaced;

  Item* find(const std::string& name) const {
    const auto found = definitions.find(name);
    return found == definitions.end() ? nullptr : found->second.item;
  }
  template <class T>
  void redirect(T*& pointer) const {
    if (const auto found = replaced.find(pointer); found != replaced.end()) pointer = found->second;
  }
};

class Linker {
 public:
  Linker(std::vector<SyntaxModule>& modules, const std::vector<LinkInput>& inputs)
      : modules_(modules), inputs_(inputs) {}

  SyntaxModule run() {
    for (size_t m = 0; m < modules_.size(); ++m) define(m);
    for (size_t m = 0; m < modules_.size(); ++m) resolve(m);
    for (size_t m = 0; m < modules_.size(); ++m) redirect(m);
    keep_local_names_apart();
    if (!problems_.empty()) throw LoadError(std::move(problems_));
    return join();
  }

 private:
  void complain(std::string message) { problems_.push_back({{}, std::move(message), {}}); }

  void define(size_t m) {
    for (auto& f : modules_[m].functions) define(functions_, *f, m);
    for (auto& v : modules_[m].variables) define(variables_, *v, m);
  }

  template <class Item>
  void define(Resolution<Item>& resolution, Item& item, size_t m) {
    if (!is_definition(item) || !item.is_visible) return;
    const typename Resolution<Item>::Definition own{&item, m};
    const auto [entry, is_first] = resolution.definitions.try_emplace(item.name, own);
    if (is_first) return;
    auto& earlier = entry->second;
    if (!earlier.item->is_weak && !item.is_weak)
      return complain(item.name + " is defined in " + inputs_[earlier.module].name + " and in " + inputs_[m].name);
    if (earlier.item->is_weak && !item.is_weak) earlier = own;
  }

  void resolve(size_t m) {
    for (auto& f : modules_[m].functions)
      if ((f->is_visible || f->is_extern || !f->is_defined) && resolve(functions_, *f)) check_signature(*f, m);
    for (auto& v : modules_[m].variables)
      if ((v->is_visible || v->is_extern) && !is_dynamic_shared(*v)) resolve(variables_, *v);
  }

  template <class Item>
  bool resolve(Resolution<Item>& resolution, const Item& item) {
    Item* definition = resolution.find(item.name);
    if (definition != nullptr && definition != &item) resolution.replaced[&item] = definition;
    return definition != nullptr;
  }

  static std::vector<uint64_t> sizes(const Signature& signature) {
    std::vector<uint64_t> list;
    for (const Variable* v : signature.returns) list.push_back(v->size);
    list.push_back(0);  // between results and parameters
    for (const Variable* v : signature.parameters) list.push_back(v->size);
    return list;
  }

  void check_signature(const SyntaxFunction& declared, size_t m) {
    const auto& definition = functions_.definitions.at(declared.name);
    if (sizes(declared.signature) == sizes(definition.item->signature)) return;
    complain("function " + declared.name + " has other parameters in " + inputs_[m].name + " than in " +
             inputs_[definition.module].name);
  }

  void redirect(size_t m) {
    std::set<std::string> undefined;
    for (auto& f : modules_[m].functions)
      for (Statement& statement : f->body)
        for (Operand& operand : statement.operands) redirect(operand, undefined);
    for (const auto& v : modules_[m].variables)
      for (const Initialiser& value : v->initialisers) check_symbol(value.symbol, m, undefined);
    for (const std::string& name : undefined) complain(inputs_[m].name + " uses " + name + ", which no input defines");
  }

  void redirect(Operand& operand, std::set<std::string>& undefined) {
    functions_.redirect(operand.function);
    variables_.redirect(operand.variable);
    const SyntaxFunction* f = operand.function;
    const Variable* v = operand.variable;
    if (f != nullptr && !f->is_defined && builtin_named(f->name) == nullptr) undefined.insert(f->name);
    if (v != nullptr && v->is_extern && !is_dynamic_shared(*v)) undefined.insert(v->name);
    for (Operand& element : operand.elements) redirect(element, undefined);
    if (operand.second) redirect(*operand.second, undefined);
  }

  // Initialisers refer to symbols by name; a module's own come first.
  void check_symbol(const std::string& name, size_t m, std::set<std::string>& undefined) const {
    const auto defines = [&](const auto& items) {
      return std::ranges::any_of(items, [&](const auto& item) { return item->name == name && is_definition(*item); });
    };
    if (name.empty() || functions_.find(name) != nullptr || variables_.find(name) != nullptr) return;
    if (!defines(modules_[m].functions) && !defines(modules_[m].variables)) undefined.insert(name);
  }

  // Module-private names that collide with another module's get the module's number, so that initialisers find the
  // right one.
  void keep_local_names_apart() {
    std::map<std::string, size_t> uses;
    for (const SyntaxModule& module : modules_)
      for (const std::string& name : defined_names(module)) ++uses[name];
    for (size_t m = 0; m < modules_.size(); ++m) {
      std::set<std::string> local;
      const auto add = [&](const auto& item) {
        if (!item.is_visible && uses[item.name] > 1) local.insert(item.name);
      };
      for (const auto& f : modules_[m].functions)
        if (f->is_defined && !f->is_entry) add(*f);
      for (const auto& v : modules_[m].variables)
        if (!v->is_extern) add(*v);
      rename(modules_[m], local, "." + std::to_string(m + 1));
    }
  }

  static std::set<std::string> defined_names(const SyntaxModule& module) {
    std::set<std::string> names;
    for (const auto& f : module.functions)
      if (is_definition(*f)) names.insert(f->name);
    for (const auto& v : module.variables)
      if (is_definition(*v)) names.insert(v->name);
    return names;
  }

  static void rename(SyntaxModule& module, const std::set<std::string>& names, const std::string& suffix) {
    const auto change = [&](std::string& name) {
      if (names.contains(name)) name += suffix;
    };
    for (auto& f : module.functions) change(f->name);
    for (auto& v : module.variables) {
      change(v->name);
      for (Initialiser& value : v->initialisers) change(value.symbol);
    }
  }

  SyntaxModule join() {
    SyntaxModule all;
    for (SyntaxModule& module : modules_) {
      all.version = std::max(all.version, module.version);
      all.is_debug |= module.is_debug;
      if (module.target >= all.target) {
        if (module.target > all.target) all.target_suffix = 0;
        all.target = module.target;
        if (module.target_suffix != 0) all.target_suffix = module.target_suffix;
      }
      for (auto& f : module.functions) move_to(all.functions, functions_, f);
      for (auto& v : module.variables) move_to(all.variables, variables_, v);
    }
    return all;
  }

  template <class Item>
  static void move_to(std::vector<std::unique_ptr<Item>>& all, const Resolution<Item>& resolution,
                      std::unique_ptr<Item>& item) {
    const bool is_unused = !is_definition(*item) && !is_kept(*item);
    if (!is_unused && !resolution.replaced.contains(item.get())) all.push_back(std::move(item));
  }
  static bool is_kept(const SyntaxFunction& f) { return builtin_named(f.name) != nullptr; }
  static bool is_kept(const Variable& v) { return is_dynamic_shared(v); }

  std::vector<SyntaxModule>& modules_;
  const std::vector<LinkInput>& inputs_;
  Resolution<SyntaxFunction> functions_;
  Resolution<Variable> variables_;
  std::vector<Problem> problems_;
};

}  // namespace

SyntaxModule link(std::vector<SyntaxModule> modules, const std::vector<LinkInput>& inputs) {
  return Linker(modules, inputs).run();
}

}  // namespace ptx::emulator
