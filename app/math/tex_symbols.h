// The symbols of TeX's names.
#pragma once
#include <optional>
#include <string_view>

#include "app/math/tex.h"

namespace warpchat {

struct MathSymbol {
  std::string_view name;  // without the backslash
  char32_t character;
  MathClass math_class = MathClass::kOrdinary;
  bool large = false, limits = false;
};

const MathSymbol* math_symbol(std::string_view name);  // nullptr: there is none

// \sin and the like; limits: \lim, \max take their scripts below.
struct MathFunction {
  std::string_view name;
  bool limits = false;
};
const MathFunction* math_function(std::string_view name);

// \hat and the like.
struct MathAccent {
  std::string_view name;
  char32_t character;
  bool stretches = false, below = false;
};
const MathAccent* math_accent(std::string_view name);

// \begin{pmatrix} and the like.
struct MathEnvironment {
  std::string_view name;
  char32_t left = 0, right = 0;
  MatrixLook look = MatrixLook::kMatrix;
  std::string_view columns = "c";
  bool stands_alone = false;  // it is a formula without marks around it
};
const MathEnvironment* math_environment(std::string_view name);

// A relation with a stroke through it; 0: Unicode has none.
char32_t negated(char32_t relation);

// 0xRRGGBB of "red" or "#F00".
std::optional<uint32_t> math_colour(std::string_view name);

// A character that is written as itself: its look ('-' is a minus) and class.
MathSymbol math_character(char32_t character);

enum class MathAlphabet : uint8_t {
  kItalic,
  kUpright,
  kBold,
  kBoldItalic,
  kBlackboard,
  kScript,
  kFraktur,
  kSans,
  kMono
};
// A letter or digit in an alphabet of Unicode's mathematical symbols; others stay as they are.
char32_t in_alphabet(char32_t character, MathAlphabet alphabet);

}  // namespace warpchat
