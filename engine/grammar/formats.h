// The values of `format` as patterns, from the RFCs that JSON Schema names.
#pragma once
#include <string>
#include <string_view>

#include "engine/grammar/characters.h"

namespace warpchat::grammar {

enum class FormatKind { kHeld, kRefused, kUnknown };  // kUnknown: in no version of the standard, an annotation

FormatKind kind_of_format(std::string_view name);

// The strings of a format that is held.
Expr strings_of_format(Characters& characters, std::string_view name);

}  // namespace warpchat::grammar
