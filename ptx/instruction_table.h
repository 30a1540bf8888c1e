// All instructions that the builder can write: spelling, operands, minimum target and PTX version. The builder refuses
// anything else, the verifier checks operands against the table, and a test checks it against ptxas.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/ir.h"

namespace ptx {

// pattern   "{a|b}" stands for either; {T:..} and {S:..} also bind a type, {V:..} the number of lanes, {A:..} the
// space.
//           $int, $bits, $scope and the like stand for lists (instruction_forms.cpp).
// operands  results = sources, alternatives after ';'. A type, T or S (bound), W (twice as wide as T), H (half of T),
//           p (predicate), i (integer constant), L (label), [g] [s] [l] [c] [m] [A] (address in global, shared, local,
//           constant, parameter or the bound memory), 4*b32 or V*T (list), T|p (pair); '?' marks what may be left out.
struct Row {
  std::string_view pattern;
  std::string_view operands;
  Target minimum = sm_75;
  Version version = {63};
};
std::span<const Row> instruction_rows();

struct Slot {
  enum class Kind : uint8_t { kValue, kConstant, kAddress, kLabel };
  Kind kind = Kind::kValue;
  Type type = Type::kB32;
  Space space = Space::kGlobal;
  int count = 1;        // lanes; more than 1 is a list
  bool listed = false;  // in braces
  bool paired = false;  // value|predicate
  bool optional = false;
};

struct Signature {
  std::vector<Slot> slots;  // results first
  int n_results = 0;
};

// One row with its alternatives resolved: "fma.rn.f32".
struct Form {
  std::string spelling;
  const Row* row;
  std::vector<Signature> signatures;
};
const Form* find_form(std::string_view spelling);  // null if unknown
const std::vector<Form>& instruction_forms();      // in the order of the rows

}  // namespace ptx
