// The columns of a launch: a kernel supports up to spec.columns and computes n_columns, its last parameter.
#pragma once
#include <cstdint>
#include <optional>

#include "ptx/builder.h"

namespace warpchat {

constexpr uint32_t ceil_div(uint32_t n, uint32_t d) { return n / d + (n % d != 0); }

// Declares n_columns; call it after all other parameters. Returns nothing for one column.
inline std::optional<ptx::Reg<ptx::u32>> declare_columns(ptx::Builder& b, uint32_t columns) {
  if (columns == 1) return {};
  return b.param<ptx::u32>("n_columns");
}
// Exits the threads of columns beyond n_columns.
inline void leave_beyond_columns(ptx::Builder& b, const std::optional<ptx::Reg<ptx::u32>>& n_columns,
                                 const ptx::Reg<ptx::u32>& column) {
  if (n_columns) b.return_if(column >= *n_columns);
}

}  // namespace warpchat
