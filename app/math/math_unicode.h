// Formulas as lines of plain characters, for the terminal: x², α ≤ ∑ᵢ₌₁ⁿ √2.
#pragma once
#include <optional>
#include <string>

#include "app/math/tex.h"

namespace warpchat {

// Aligned equations are a line each, others are one line. nullopt: it does not fit in a line so that it reads well (a
// matrix, a letter of an alphabet that terminals lack).
std::optional<std::string> math_in_unicode(const MathNode& tree);

}  // namespace warpchat
