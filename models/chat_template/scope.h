// Scopes of a template: loop bodies, macros and blocks have their own names and look outwards for others. Assignments
// stay in the innermost scope.
#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include "models/chat_template/meter.h"
#include "models/chat_template/value.h"

namespace warpchat::jinja {

struct Scope : Object {
  explicit Scope(const Scope* surrounding) : outer(surrounding) {}

  const Value* find(std::string_view name) const {
    for (const Scope* scope = this; scope; scope = scope->outer) {
      Meter::charge(scope->names.size());
      for (const auto& [known, value] : scope->names) {
        if (known == name) return &value;
      }
    }
    return nullptr;
  }

  void set(std::string_view name, Value value) {
    for (auto& [known, held] : names) {
      if (known != name) continue;
      held = std::move(value);
      return;
    }
    names.emplace_back(name, std::move(value));
  }

  const Scope* outer;
  std::vector<std::pair<std::string_view, Value>> names;  // names live as long as the template
};

}  // namespace warpchat::jinja
