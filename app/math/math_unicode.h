// Formulas as lines of plain characters, for the terminal: x², α ≤ ∑ᵢ₌₁ⁿ √2.
#pragma once
#include <optional>
#include <string>

#include "app/math/tex.h"

namespace warpchat {

// kMany: aligned equations are a line each, and matrices and cases stand in brackets of several lines. kEquations:
// those stand in one, "(1 2; 3 4)". kOne: there are no lines. nullopt: it does not read well so (a letter of an
// alphabet that terminals lack).
enum class MathLines { kOne, kEquations, kMany };
std::optional<std::string> math_in_unicode(const MathNode& tree, MathLines lines = MathLines::kMany);

}  // namespace warpchat
