// Visible names at a point of a text: nested scopes of registers, variables, functions and labels.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/emulator/syntax_tree.h"

namespace ptx::emulator {

struct Symbol {
  enum class Kind : uint8_t { kRegister, kVariable, kFunction, kLabel, kLabelTable, kPrototype };
  Kind kind = Kind::kRegister;
  uint32_t index = 0;  // register, label's statement or table
  const Variable* variable = nullptr;
  SyntaxFunction* function = nullptr;
};

class Scopes {
 public:
  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }

  // False if the innermost scope already has the name.
  bool declare(const std::string& name, Symbol symbol) { return scopes_.back().names.emplace(name, symbol).second; }

  bool declare_outermost(const std::string& name, Symbol symbol) {
    return scopes_.front().names.emplace(name, symbol).second;
  }

  bool holds(const std::string& name) const {  // in the innermost scope
    return scopes_.back().names.contains(name) || find_in_range(scopes_.back(), name).has_value();
  }

  size_t depth() const { return scopes_.size(); }

  // Declares %r0 to %r44 for %r<45>, without one entry each.
  bool declare_range(const std::string& prefix, uint32_t count, uint32_t first) {
    return scopes_.back().ranges.emplace(prefix, Range{count, first}).second;
  }

  std::optional<Symbol> find(std::string_view name) const {
    const std::string key(name);
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (auto found = scope->names.find(key); found != scope->names.end()) return found->second;
      if (auto found = find_in_range(*scope, key)) return found;
    }
    return std::nullopt;
  }

 private:
  struct Range {
    uint32_t count, first;
  };
  struct Scope {
    std::unordered_map<std::string, Symbol> names;
    std::unordered_map<std::string, Range> ranges;
  };

  static std::optional<Symbol> find_in_range(const Scope& scope, const std::string& name) {
    if (scope.ranges.empty()) return std::nullopt;
    size_t digits = name.size();
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
    for (size_t split = digits; split < name.size() && name.size() - split <= 9; ++split) {
      auto found = scope.ranges.find(name.substr(0, split));
      if (found == scope.ranges.end() || (name[split] == '0' && name.size() - split > 1)) continue;
      const uint32_t number = static_cast<uint32_t>(std::stoul(name.substr(split)));
      if (number < found->second.count) return Symbol{Symbol::Kind::kRegister, found->second.first + number};
    }
    return std::nullopt;
  }

  std::vector<Scope> scopes_ = std::vector<Scope>(1);
};

}  // namespace ptx::emulator
