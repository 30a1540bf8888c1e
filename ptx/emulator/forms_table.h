// The rows of the instruction tables, by subject: arithmetic, data movement, warps and matrices.
#pragma once

#include <array>
#include <span>

#include "ptx/emulator/forms.h"

namespace ptx::emulator {

std::span<const FormRow> arithmetic_forms();
std::span<const FormRow> movement_forms();
std::span<const FormRow> warp_forms();

inline std::array<std::span<const FormRow>, 3> form_tables() {
  return {arithmetic_forms(), movement_forms(), warp_forms()};
}

}  // namespace ptx::emulator
