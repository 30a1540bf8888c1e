// The special registers (%tid.x, %clock64, ...): how each is spelled, its type, and when its value is known.
#pragma once

#include <cstdint>
#include <string_view>

#include "ptx/emulator/types.h"

namespace ptx::emulator {

enum class Special : uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  dynamic_smem_size,
  total_smem_size,
  aggr_smem_size,
  reserved_smem_begin,
  reserved_smem_end,
  reserved_smem_bytes,
  grid_workspace_low,
  grid_workspace_high,
  is_explicit_cluster,
  zero,
  one,
  local_base,
  extern_shared,  // addresses that the loader needs; no PTX spelling
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi  // read again at each use
};

struct SpecialRegister {
  std::string_view name;  // without its component
  bool has_components;
};

struct SpecialComponent {
  std::string_view name;  // "%tid.x"
  Special value;
  Type type;        // u32 or u64
  bool is_dynamic;  // changes while the warp runs
};

const SpecialRegister* find_special(std::string_view name);
const SpecialComponent* find_special_component(std::string_view name);  // the whole name if it has no components

}  // namespace ptx::emulator
