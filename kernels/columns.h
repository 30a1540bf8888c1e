// The columns of a launch: a kernel made for up to so many of them computes as many as its last parameter says.
#pragma once
#include <cstdint>
#include <optional>

#include "ptx/builder.h"

namespace warpchat {

constexpr uint32_t ceil_div(uint32_t n, uint32_t d) { return n / d + (n % d != 0); }

// Declares n_columns, so after all other parameters. Nothing for one column.
inline std::optional<ptx::Reg<ptx::u32>> declare_columns(ptx::Builder& b, uint32_t columns) {
  if (columns == 1) return {};
  return b.param<ptx::u32>("n_columns");
}
// Ends the threads of columns beyond.
inline void leave_beyond_columns(ptx::Builder& b, const std::optional<ptx::Reg<ptx::u32>>& n_columns,
                                 const ptx::Reg<ptx::u32>& column) {
  if (n_columns) b.return_if(column >= *n_columns);
}

}  // namespace warpchat
