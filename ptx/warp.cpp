#include "ptx/warp.h"

namespace ptx {
namespace {

void check_barrier(const Body& body, int id, Where at) {
  if (id < 1 || id > 15) fail(body, at, "barrier " + std::to_string(id) + "; a block has 1 to 15, and 0 for all of it");
}

Operand number(uint32_t value) { return immediate_operand(value, Type::kU32); }

}  // namespace

// PTX ISA, "shfl.sync": the fourth operand holds the segment mask in bits 8-12 and the bound of the source lane in 0-4.
ShuffleResult shuffle(Body& body, const char* mode, Type type, const Operand& value, const AnyIn& lane,
                      const AnyIn& lanes, int width, bool wants_flag) {
  const Where at = lane.at;
  if (width < 1 || width > static_cast<int>(kWarpSize) || (width & (width - 1)) != 0) {
    fail(body, at, "a shuffle in segments of " + std::to_string(width) + " lanes; expected a power of two up to 32");
  }
  const uint32_t bound = std::string_view(mode) == "up" ? 0 : 0x1f;
  const uint32_t segments = (kWarpSize - static_cast<uint32_t>(width)) << 8;
  const Operand result = new_register(body, type, body.registers[value.index].role, at);
  const Operand flag = wants_flag ? new_register(body, Type::kPred, "in_range", at) : Operand{};
  append(body, {.spelling = "shfl.sync." + std::string(mode) + ".b32",
                .operands = {wants_flag ? pair_operand(result, flag) : result, value, lane.operand,
                             number(segments | bound), lanes.operand},
                .n_results = 1,
                .at = at});
  return {result, flag};
}

template <class T>
Reg<T> Warps::op(const char* spelling, std::initializer_list<AnyIn> ins) {
  std::vector<Operand> sources;
  for (const AnyIn& in : ins) sources.push_back(in.operand);
  return {*body_, emit(*body_, spelling, T::kType, std::move(sources), ins.begin()->at)};
}

Pred Warps::any(In<pred> p, Lanes lanes) { return op<pred>("vote.sync.any.pred", {p, lanes}); }
Pred Warps::all(In<pred> p, Lanes lanes) { return op<pred>("vote.sync.all.pred", {p, lanes}); }
Pred Warps::agree(In<pred> p, Lanes lanes) { return op<pred>("vote.sync.uni.pred", {p, lanes}); }
Reg<b32> Warps::ballot(In<pred> p, Lanes lanes) { return op<b32>("vote.sync.ballot.b32", {p, lanes}); }
Reg<b32> Warps::active_lanes(Where at) { return {*body_, emit(*body_, "activemask.b32", Type::kB32, {}, at)}; }
Reg<b32> Warps::match_any(Raw<b32> x, Lanes lanes) { return op<b32>("match.any.sync.b32", {x, lanes}); }
Reg<b32> Warps::match_any(Raw<b64> x, Lanes lanes) { return op<b32>("match.any.sync.b64", {x, lanes}); }
Reg<b32> Warps::match_all(Raw<b32> x, Lanes lanes) { return op<b32>("match.all.sync.b32", {x, lanes}); }
Reg<b32> Warps::match_all(Raw<b64> x, Lanes lanes) { return op<b32>("match.all.sync.b64", {x, lanes}); }

Pred Warps::elect(Lanes lanes) {
  const Operand leader = new_register(*body_, Type::kB32, "leader", lanes.at);
  const Operand elected = new_register(*body_, Type::kPred, "elected", lanes.at);
  append(*body_, {.spelling = "elect.sync",
                  .operands = {pair_operand(leader, elected), lanes.operand},
                  .n_results = 1,
                  .at = lanes.at});
  return {*body_, elected};
}

Reg<u32> Warps::reduce_add(In<u32> x, Lanes lanes) { return op<u32>("redux.sync.add.u32", {x, lanes}); }
Reg<s32> Warps::reduce_add(In<s32> x, Lanes lanes) { return op<s32>("redux.sync.add.s32", {x, lanes}); }
Reg<u32> Warps::reduce_min(In<u32> x, Lanes lanes) { return op<u32>("redux.sync.min.u32", {x, lanes}); }
Reg<s32> Warps::reduce_min(In<s32> x, Lanes lanes) { return op<s32>("redux.sync.min.s32", {x, lanes}); }
Reg<u32> Warps::reduce_max(In<u32> x, Lanes lanes) { return op<u32>("redux.sync.max.u32", {x, lanes}); }
Reg<s32> Warps::reduce_max(In<s32> x, Lanes lanes) { return op<s32>("redux.sync.max.s32", {x, lanes}); }
Reg<b32> Warps::reduce_and(In<b32> x, Lanes lanes) { return op<b32>("redux.sync.and.b32", {x, lanes}); }
Reg<b32> Warps::reduce_or(In<b32> x, Lanes lanes) { return op<b32>("redux.sync.or.b32", {x, lanes}); }
Reg<b32> Warps::reduce_xor(In<b32> x, Lanes lanes) { return op<b32>("redux.sync.xor.b32", {x, lanes}); }

void Warps::warp_barrier(Lanes lanes) { emit(*body_, "bar.warp.sync", {lanes.operand}, lanes.at); }
void Warps::barrier(Where at) { emit(*body_, "bar.sync", {number(0)}, at); }
void Warps::barrier(int id, In<u32> threads) {
  check_barrier(*body_, id, threads.at);
  emit(*body_, "bar.sync", {number(static_cast<uint32_t>(id)), threads.operand}, threads.at);
}
void Warps::barrier(const Reg<u32>& id, In<u32> threads) {
  emit(*body_, "bar.sync", {id.operand(), threads.operand}, threads.at);
}
void Warps::barrier_arrive(int id, In<u32> threads) {
  check_barrier(*body_, id, threads.at);
  emit(*body_, "bar.arrive", {number(static_cast<uint32_t>(id)), threads.operand}, threads.at);
}
Reg<u32> Warps::barrier_count(In<pred> p) {
  return {*body_, emit(*body_, "bar.red.popc.u32", Type::kU32, {number(0), p.operand}, p.at)};
}
Pred Warps::barrier_and(In<pred> p) {
  return {*body_, emit(*body_, "bar.red.and.pred", Type::kPred, {number(0), p.operand}, p.at)};
}
Pred Warps::barrier_or(In<pred> p) {
  return {*body_, emit(*body_, "bar.red.or.pred", Type::kPred, {number(0), p.operand}, p.at)};
}

void Warps::fence_acq_rel(Scope scope, Where at) { emit(*body_, "fence.acq_rel." + std::string(spell(scope)), {}, at); }
void Warps::fence_sc(Scope scope, Where at) { emit(*body_, "fence.sc." + std::string(spell(scope)), {}, at); }
void Warps::fence_proxy_async(Where at) { emit(*body_, "fence.proxy.async", {}, at); }
void Warps::fence_mbarrier_init(Where at) { emit(*body_, "fence.mbarrier_init.release.cluster", {}, at); }

}  // namespace ptx
