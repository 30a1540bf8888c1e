// The form that an answer must have.
#pragma once
#include <cstdint>
#include <string>

namespace warpchat {

struct AnswerForm {
  enum class Kind : uint8_t { kFree, kSchema, kGrammar };
  Kind kind = Kind::kFree;
  std::string text = {};  // kSchema: a JSON Schema; kGrammar: GBNF. Both as in engine/grammar/constraint.h
  bool is_free() const { return kind == Kind::kFree; }
  bool operator==(const AnswerForm&) const = default;
};

}  // namespace warpchat
