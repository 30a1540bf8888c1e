#include "ptx/special.h"

namespace ptx {
namespace {

struct AxisRow {
  std::string_view thread, threads, block, blocks;
  const char *thread_role, *threads_role, *block_role, *blocks_role;
};
constexpr AxisRow kAxes[] = {
    {"%tid.x", "%ntid.x", "%ctaid.x", "%nctaid.x", "thread", "threads", "block", "blocks"},
    {"%tid.y", "%ntid.y", "%ctaid.y", "%nctaid.y", "thread_y", "threads_y", "block_y", "blocks_y"},
    {"%tid.z", "%ntid.z", "%ctaid.z", "%nctaid.z", "thread_z", "threads_z", "block_z", "blocks_z"},
};

const AxisRow& row(Axis axis) { return kAxes[static_cast<int>(axis)]; }

Operand special_operand(std::string_view name) { return {.kind = Operand::Kind::kSpecial, .text = name}; }

std::string mov(Type type) { return "mov." + std::string(info(type).plain); }

}  // namespace

template <class T>
Reg<T> Specials::once(std::string_view special, const char* role, Where at) {
  return {*body_, in_prologue(*body_, mov(T::kType), T::kType, {special_operand(special)}, role, at)};
}

template <class T>
Reg<T> Specials::now(std::string_view special, Where at) {
  return {*body_, emit(*body_, mov(T::kType), T::kType, {special_operand(special)}, at,
                       std::string(special.substr(1)) + "_now")};
}

Reg<u32> Specials::thread(Axis axis, Where at) { return once<u32>(row(axis).thread, row(axis).thread_role, at); }
Reg<u32> Specials::threads(Axis axis, Where at) { return once<u32>(row(axis).threads, row(axis).threads_role, at); }
Reg<u32> Specials::block(Axis axis, Where at) { return once<u32>(row(axis).block, row(axis).block_role, at); }
Reg<u32> Specials::blocks(Axis axis, Where at) { return once<u32>(row(axis).blocks, row(axis).blocks_role, at); }
Reg<u32> Specials::lane(Where at) { return once<u32>("%laneid", "lane", at); }
Reg<u32> Specials::n_sms(Where at) { return once<u32>("%nsmid", "n_sms", at); }
Reg<u32> Specials::sm(Where at) { return now<u32>("%smid", at); }
Reg<b32> Specials::lanes_below(Where at) { return once<b32>("%lanemask_lt", "lanes_below", at); }
Reg<b32> Specials::lanes_up_to(Where at) { return once<b32>("%lanemask_le", "lanes_up_to", at); }
Reg<b32> Specials::lanes_above(Where at) { return once<b32>("%lanemask_gt", "lanes_above", at); }
Reg<b32> Specials::lane_bit(Where at) { return once<b32>("%lanemask_eq", "lane_bit", at); }
Reg<u32> Specials::dynamic_shared_bytes(Where at) { return once<u32>("%dynamic_smem_size", "dynamic_bytes", at); }

Reg<u32> Specials::warp(Where at) {
  body_->asks_warp = true;
  const Operand width = immediate_operand(5, Type::kU32);  // log2 of the warp size, as a shift
  const Operand result =
      in_prologue(*body_, "shr.u32", Type::kU32, {thread(Axis::kX, at).operand(), width}, "warp", at);
  for (Instruction& i : body_->prologue) {
    if (i.spelling == "shr.u32") i.claim = {Claim::Kind::kWarpUniform};
  }
  return {*body_, result};
}

Reg<u32> Specials::clock(Where at) { return now<u32>("%clock", at); }
Reg<u64> Specials::clock64(Where at) { return now<u64>("%clock64", at); }
Reg<u64> Specials::globaltimer(Where at) { return now<u64>("%globaltimer", at); }

void Specials::nanosleep(In<u32> nanoseconds) { emit(*body_, "nanosleep.u32", {nanoseconds.operand}, nanoseconds.at); }
void Specials::launch_dependents(Where at) { emit(*body_, "griddepcontrol.launch_dependents", {}, at); }
void Specials::wait_prerequisites(Where at) { emit(*body_, "griddepcontrol.wait", {}, at); }
void Specials::lower_registers(int per_thread, Where at) {
  emit(*body_, "setmaxnreg.dec.sync.aligned.u32", {immediate_operand(static_cast<uint64_t>(per_thread), Type::kU32)},
       at);
}
void Specials::raise_registers(int per_thread, Where at) {
  emit(*body_, "setmaxnreg.inc.sync.aligned.u32", {immediate_operand(static_cast<uint64_t>(per_thread), Type::kU32)},
       at);
}
void Specials::trap(Where at) { emit(*body_, "trap", {}, at); }

}  // namespace ptx
