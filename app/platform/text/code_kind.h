// Kinds of words in code, each of which has a colour (app/formats/code_scanner.h finds them).
#pragma once
#include <cstddef>
#include <cstdint>

namespace warpchat {

enum class CodeKind : uint8_t {
  kPlain,
  kKeyword,
  kType,
  kString,
  kNumber,
  kComment,
  kFunction,   // and the keys of JSON, YAML, INI, CSS
  kDirective,  // of a preprocessor, a decorator
  kAdded,
  kRemoved,
};
inline constexpr size_t kCodeKinds = 10;

}  // namespace warpchat
