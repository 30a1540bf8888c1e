// Exchanges between the lanes of a warp: vote, match, redux, elect, activemask, bar.warp.sync. Each waits until the
// lanes of its mask have arrived; exited lanes count as arrived.
#include <bit>
#include <cmath>
#include <functional>
#include <string>

#include "ptx/emulator/common/common.h"

namespace ptx::emulator {

bool lanes_are_here(Warp& w, const Instruction& i) {
  const uint32_t* mask = common::column<uint32_t>(w, i.e);
  uint32_t ready = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if ((w.active >> l & 1) && (mask[l] & w.live & ~w.active) == 0) ready |= 1u << l;
  }
  if (ready == w.active) return true;
  w.stop = true;
  w.ready = ready;
  return false;
}

}  // namespace ptx::emulator

namespace ptx::emulator::common {
namespace {

template <class F>
void waiting(Registry& r, const char* name, F) {
  static const auto masked = [](Warp& w, const Instruction& i) {
    if (lanes_are_here(w, i)) F{}(w, i, w.active);
  };
  static const auto full = [](Warp& w, const Instruction& i) { F{}(w, i, kAllLanes); };
  add_handler(r, name, "", full, masked, 0);
}

// Votes and reductions combine active lanes with the same mask.
template <class F>
void for_each_group(Warp& w, const Instruction& i, uint32_t lanes, F f) {
  const uint32_t* mask = column<uint32_t>(w, i.e);
  uint32_t left = lanes;
  while (left) {
    const uint32_t first = static_cast<uint32_t>(std::countr_zero(left));
    uint32_t group = 0;
    for (uint32_t l = first; l < kLanes; ++l) group |= (left >> l & 1) && mask[l] == mask[first] ? 1u << l : 0;
    left &= ~group;
    f(group, group & mask[first]);
  }
}

uint32_t voter_bits(Warp& w, const Instruction& i) { return predicate(w, i.a) ^ (i.flags & 1 ? ~0u : 0); }

template <class F>
void vote(Warp& w, const Instruction& i, uint32_t lanes, F truth) {
  const uint32_t bits = voter_bits(w, i);
  for_each_group(w, i, lanes, [&](uint32_t group, uint32_t voters) {
    set_predicate(w, i.d, truth(bits & voters, voters) ? ~0u : 0, group);
  });
}

template <class T>
void match_any(Warp& w, const Instruction& i, uint32_t lanes) {
  const T* a = column<T>(w, i.a);
  uint32_t result[kLanes] = {};
  for_each_group(w, i, lanes, [&](uint32_t group, uint32_t members) {
    for (uint32_t l = 0; l < kLanes; ++l) {
      if (!(group >> l & 1)) continue;
      for (uint32_t other = 0; other < kLanes; ++other)
        result[l] |= (members >> other & 1) && a[other] == a[l] ? 1u << other : 0;
    }
  });
  write(w, i.d, result, lanes);
}

template <class T>
void match_all(Warp& w, const Instruction& i, uint32_t lanes) {
  const T* a = column<T>(w, i.a);
  uint32_t result[kLanes] = {}, same = 0;
  for_each_group(w, i, lanes, [&](uint32_t group, uint32_t members) {
    const uint32_t first = static_cast<uint32_t>(std::countr_zero(members ? members : group));
    bool equal = true;
    for (uint32_t l = 0; l < kLanes; ++l) equal = equal && (!(members >> l & 1) || a[l] == a[first]);
    for (uint32_t l = 0; l < kLanes; ++l) result[l] = (group >> l & 1) ? (equal ? members : 0) : result[l];
    same |= equal ? group : 0;
  });
  if (i.d != kNoColumn) write(w, i.d, result, lanes);
  if (w.operands[i.list] != kNoColumn) set_predicate(w, w.operands[i.list], same, lanes);
}

template <class T, class F, class First>
void reduce(Warp& w, const Instruction& i, uint32_t lanes, F f, First of_first) {
  const T* a = column<T>(w, i.a);
  T result[kLanes] = {};
  for_each_group(w, i, lanes, [&](uint32_t group, uint32_t members) {
    bool first = true;
    T sum{};
    for (uint32_t l = 0; l < kLanes; ++l) {
      if (!(members >> l & 1)) continue;
      sum = first ? of_first(a[l]) : f(sum, a[l]);
      first = false;
    }
    for (uint32_t l = 0; l < kLanes; ++l) result[l] = (group >> l & 1) ? sum : result[l];
  });
  write(w, i.d, result, lanes);
}

template <class T, class F>
void reduction(Registry& r, const char* name, F) {
  waiting(r, name,
          [](Warp& w, const Instruction& i, uint32_t lanes) { reduce<T>(w, i, lanes, F{}, [](T x) { return x; }); });
}

// Minimum or maximum of reals (.abs: of magnitudes). With .NaN any NaN wins; otherwise numbers win over NaN.
template <class Before, bool of_magnitudes, bool nan_decides>
struct Extreme {
  float operator()(float a, float b) const {
    if (of_magnitudes) a = std::fabs(a), b = std::fabs(b);
    if (a != a || b != b) {
      const bool both = a != a && b != b;
      return nan_decides || both ? std::bit_cast<float>(0x7fffffffu) : a != a ? b : a;
    }
    return Before{}(a, b) || (a == b && std::signbit(a) == Before{}(0, 1)) ? a : b;  // -0 is less than +0
  }
};

template <class Before, bool of_magnitudes, bool nan_decides>
void real_reduction(Registry& r, const std::string& name) {
  waiting(r, name.c_str(), [](Warp& w, const Instruction& i, uint32_t lanes) {
    using F = Extreme<Before, of_magnitudes, nan_decides>;
    reduce<float>(w, i, lanes, F{}, [](float x) { return F{}(x, x); });
  });
}

template <class Before>
void real_reductions(Registry& r, const std::string& name) {
  real_reduction<Before, false, false>(r, name);
  real_reduction<Before, true, false>(r, name + ".abs");
  real_reduction<Before, false, true>(r, name + ".NaN");
  real_reduction<Before, true, true>(r, name + ".abs.NaN");
}

}  // namespace

void register_warp_operations(Registry& r) {
  waiting(r, "vote.all", [](Warp& w, const Instruction& i, uint32_t lanes) {
    vote(w, i, lanes, [](uint32_t yes, uint32_t all) { return yes == all; });
  });
  waiting(r, "vote.any", [](Warp& w, const Instruction& i, uint32_t lanes) {
    vote(w, i, lanes, [](uint32_t yes, uint32_t) { return yes != 0; });
  });
  waiting(r, "vote.uni", [](Warp& w, const Instruction& i, uint32_t lanes) {
    vote(w, i, lanes, [](uint32_t yes, uint32_t all) { return yes == all || yes == 0; });
  });
  waiting(r, "vote.ballot", [](Warp& w, const Instruction& i, uint32_t lanes) {
    uint32_t result[kLanes] = {};
    const uint32_t bits = voter_bits(w, i);
    for_each_group(w, i, lanes, [&](uint32_t group, uint32_t voters) {
      for (uint32_t l = 0; l < kLanes; ++l) result[l] = (group >> l & 1) ? bits & voters : result[l];
    });
    write(w, i.d, result, lanes);
  });
  waiting(r, "match.any.b32", [](Warp& w, const Instruction& i, uint32_t lanes) { match_any<uint32_t>(w, i, lanes); });
  waiting(r, "match.any.b64", [](Warp& w, const Instruction& i, uint32_t lanes) { match_any<uint64_t>(w, i, lanes); });
  waiting(r, "match.all.b32", [](Warp& w, const Instruction& i, uint32_t lanes) { match_all<uint32_t>(w, i, lanes); });
  waiting(r, "match.all.b64", [](Warp& w, const Instruction& i, uint32_t lanes) { match_all<uint64_t>(w, i, lanes); });
  reduction<uint32_t>(r, "redux.add.u32", [](uint32_t a, uint32_t b) { return a + b; });
  reduction<uint32_t>(r, "redux.add.s32", [](uint32_t a, uint32_t b) { return a + b; });
  reduction<uint32_t>(r, "redux.min.u32", [](uint32_t a, uint32_t b) { return b < a ? b : a; });
  reduction<uint32_t>(r, "redux.max.u32", [](uint32_t a, uint32_t b) { return b > a ? b : a; });
  reduction<int32_t>(r, "redux.min.s32", [](int32_t a, int32_t b) { return b < a ? b : a; });
  reduction<int32_t>(r, "redux.max.s32", [](int32_t a, int32_t b) { return b > a ? b : a; });
  reduction<uint32_t>(r, "redux.and.b32", [](uint32_t a, uint32_t b) { return a & b; });
  reduction<uint32_t>(r, "redux.or.b32", [](uint32_t a, uint32_t b) { return a | b; });
  reduction<uint32_t>(r, "redux.xor.b32", [](uint32_t a, uint32_t b) { return a ^ b; });
  real_reductions<std::less<float>>(r, "redux.min.f32");
  real_reductions<std::greater<float>>(r, "redux.max.f32");
  waiting(r, "bar.warp", [](Warp& w, const Instruction& i, uint32_t lanes) {
    for_each_group(w, i, lanes, [&](uint32_t, uint32_t members) { observe_warp_barrier(w, members); });
  });
  waiting(r, "elect", [](Warp& w, const Instruction& i, uint32_t lanes) {
    uint32_t leader[kLanes] = {}, elected = 0;
    for_each_group(w, i, lanes, [&](uint32_t group, uint32_t members) {
      const uint32_t first = static_cast<uint32_t>(std::countr_zero(members ? members : group));
      elected |= 1u << first;
      for (uint32_t l = 0; l < kLanes; ++l) leader[l] = (group >> l & 1) ? first : leader[l];
    });
    if (i.d != kNoColumn) write(w, i.d, leader, lanes);
    if (w.operands[i.list] != kNoColumn) set_predicate(w, w.operands[i.list], elected, lanes);
  });
  const auto active_mask = [](Warp& w, const Instruction& i) {
    uint32_t* d = column<uint32_t>(w, i.d);
    for (uint32_t l = 0; l < kLanes; ++l) d[l] = w.active >> l & 1 ? w.active : d[l];
  };
  add_handler(r, "activemask", "", active_mask, active_mask, 0);
}

}  // namespace ptx::emulator::common
