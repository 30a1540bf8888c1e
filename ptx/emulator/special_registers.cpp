// The table of special registers. A cluster is one block, so its registers are constants.
#include "ptx/emulator/special_registers.h"

#include <iterator>

namespace ptx::emulator {
namespace {

constexpr SpecialComponent kComponents[] = {
    {"%tid.x", Special::tid_x, Type::u32, false},
    {"%tid.y", Special::tid_y, Type::u32, false},
    {"%tid.z", Special::tid_z, Type::u32, false},
    {"%tid.w", Special::zero, Type::u32, false},
    {"%ntid.x", Special::ntid_x, Type::u32, false},
    {"%ntid.y", Special::ntid_y, Type::u32, false},
    {"%ntid.z", Special::ntid_z, Type::u32, false},
    {"%ntid.w", Special::one, Type::u32, false},
    {"%ctaid.x", Special::ctaid_x, Type::u32, false},
    {"%ctaid.y", Special::ctaid_y, Type::u32, false},
    {"%ctaid.z", Special::ctaid_z, Type::u32, false},
    {"%ctaid.w", Special::zero, Type::u32, false},
    {"%nctaid.x", Special::nctaid_x, Type::u32, false},
    {"%nctaid.y", Special::nctaid_y, Type::u32, false},
    {"%nctaid.z", Special::nctaid_z, Type::u32, false},
    {"%nctaid.w", Special::one, Type::u32, false},
    {"%laneid", Special::laneid, Type::u32, false},
    {"%warpid", Special::warpid, Type::u32, false},
    {"%nwarpid", Special::nwarpid, Type::u32, false},
    {"%smid", Special::smid, Type::u32, false},
    {"%nsmid", Special::nsmid, Type::u32, false},
    {"%gridid", Special::gridid, Type::u64, false},
    {"%lanemask_eq", Special::lanemask_eq, Type::u32, false},
    {"%lanemask_le", Special::lanemask_le, Type::u32, false},
    {"%lanemask_lt", Special::lanemask_lt, Type::u32, false},
    {"%lanemask_ge", Special::lanemask_ge, Type::u32, false},
    {"%lanemask_gt", Special::lanemask_gt, Type::u32, false},
    {"%dynamic_smem_size", Special::dynamic_smem_size, Type::u32, false},
    {"%total_smem_size", Special::total_smem_size, Type::u32, false},
    {"%aggr_smem_size", Special::aggr_smem_size, Type::u32, false},
    {"%reserved_smem_offset_begin", Special::reserved_smem_begin, Type::u32, false},
    {"%reserved_smem_offset_end", Special::reserved_smem_end, Type::u32, false},
    {"%reserved_smem_offset_cap", Special::reserved_smem_bytes, Type::u32, false},
    {"%reserved_smem_offset_0", Special::reserved_smem_begin, Type::u32, false},
    {"%reserved_smem_offset_1", Special::reserved_smem_begin, Type::u32, false},  // region 0 is empty
    {"%is_explicit_cluster", Special::zero, Type::pred, false},
    {"%clusterid.x", Special::ctaid_x, Type::u32, false},
    {"%clusterid.y", Special::ctaid_y, Type::u32, false},
    {"%clusterid.z", Special::ctaid_z, Type::u32, false},
    {"%nclusterid.x", Special::nctaid_x, Type::u32, false},
    {"%nclusterid.y", Special::nctaid_y, Type::u32, false},
    {"%nclusterid.z", Special::nctaid_z, Type::u32, false},
    {"%cluster_ctaid.x", Special::zero, Type::u32, false},
    {"%cluster_ctaid.y", Special::zero, Type::u32, false},
    {"%cluster_ctaid.z", Special::zero, Type::u32, false},
    {"%cluster_nctaid.x", Special::one, Type::u32, false},
    {"%cluster_nctaid.y", Special::one, Type::u32, false},
    {"%cluster_nctaid.z", Special::one, Type::u32, false},
    {"%cluster_ctarank", Special::zero, Type::u32, false},
    {"%cluster_nctarank", Special::one, Type::u32, false},
    {"%clock", Special::clock, Type::u32, true},
    {"%clock_hi", Special::clock_hi, Type::u32, true},
    {"%clock64", Special::clock64, Type::u64, true},
    {"%globaltimer", Special::globaltimer, Type::u64, true},
    {"%globaltimer_lo", Special::globaltimer_lo, Type::u32, true},
    {"%globaltimer_hi", Special::globaltimer_hi, Type::u32, true},
    {"%current_graph_exec", Special::zero, Type::u64, false},
    // Defined by the driver: 1 and 2 hold the address of a cooperative grid's workspace, whose second word is the
    // barrier of cooperative_groups; the others are zero.
    {"%envreg1", Special::grid_workspace_high, Type::u32, false},
    {"%envreg2", Special::grid_workspace_low, Type::u32, false},
#define ENVREG(n) \
  { "%envreg" #n, Special::zero, Type::u32, false }
    ENVREG(0),
    ENVREG(3),
    ENVREG(4),
    ENVREG(5),
    ENVREG(6),
    ENVREG(7),
    ENVREG(8),
    ENVREG(9),
    ENVREG(10),
    ENVREG(11),
    ENVREG(12),
    ENVREG(13),
    ENVREG(14),
    ENVREG(15),
    ENVREG(16),
    ENVREG(17),
    ENVREG(18),
    ENVREG(19),
    ENVREG(20),
    ENVREG(21),
    ENVREG(22),
    ENVREG(23),
    ENVREG(24),
    ENVREG(25),
    ENVREG(26),
    ENVREG(27),
    ENVREG(28),
    ENVREG(29),
    ENVREG(30),
    ENVREG(31),
#undef ENVREG
};

constexpr SpecialRegister kWithComponents[] = {
    {"%tid", true},       {"%ntid", true},       {"%ctaid", true},         {"%nctaid", true},
    {"%clusterid", true}, {"%nclusterid", true}, {"%cluster_ctaid", true}, {"%cluster_nctaid", true}};
constexpr SpecialRegister kScalar = {"", false};

}  // namespace

const SpecialRegister* find_special(std::string_view name) {
  if (name.empty() || name[0] != '%') return nullptr;
  for (const SpecialRegister& s : kWithComponents) {
    if (s.name == name) return &s;
  }
  return find_special_component(name) ? &kScalar : nullptr;
}

const SpecialComponent* find_special_component(std::string_view name) {
  for (const SpecialComponent& c : kComponents) {
    if (c.name == name) return &c;
  }
  return nullptr;
}

}  // namespace ptx::emulator
