// Operations of a warp or block: shuffles, votes, reductions, barriers and fences. A mask names the participating
// lanes; the default is all 32, which requires a convergent warp.
#pragma once
#include "ptx/memory.h"

namespace ptx {

inline constexpr uint32_t kFullWarp = 0xffffffff;

// Lane mask of an operation: bit l for lane l.
class Lanes : public In<b32> {
 public:
  Lanes(Where where = Where::current()) : In<b32>(kFullWarp, where) {}
  template <std::convertible_to<In<b32>> M>
  Lanes(const M& mask, Where where = Where::current()) : In<b32>(mask, where) {}
};

// shfl.sync: "idx", "up", "down", "bfly", within segments of `width` lanes (a power of two).
struct ShuffleResult {
  Operand value, in_range;
};
ShuffleResult shuffle(Body& body, const char* mode, Type type, const Operand& value, const AnyIn& lane,
                      const AnyIn& lanes, int width, bool wants_flag);

template <class T>
struct Shuffled {
  Reg<T> value;
  Pred in_range;  // false if the source lane is outside the segment; value is then the lane's own
};

template <class V>
concept Shuffleable = Value<V> &&(bytes_of(ElementOf<V>::kType) == 4);

class Warps {
 public:
  explicit Warps(Body& body) : body_(&body) {}

  // Shuffles of any 32-bit type: another lane's value, or the lane's own if the source is outside the segment.
  template <Shuffleable V>
  Reg<ElementOf<V>> shuffle(const V& x, In<u32> lane, Lanes lanes = {}, int width = kWarpSize) {
    return move<V>("idx", x, lane, lanes, width);  // from `lane`, modulo width
  }
  template <Shuffleable V>
  Reg<ElementOf<V>> shuffle_up(const V& x, In<u32> by, Lanes lanes = {}, int width = kWarpSize) {
    return move<V>("up", x, by, lanes, width);  // from lane - by
  }
  template <Shuffleable V>
  Reg<ElementOf<V>> shuffle_down(const V& x, In<u32> by, Lanes lanes = {}, int width = kWarpSize) {
    return move<V>("down", x, by, lanes, width);  // from lane + by
  }
  template <Shuffleable V>
  Reg<ElementOf<V>> shuffle_xor(const V& x, In<u32> by, Lanes lanes = {}, int width = kWarpSize) {
    return move<V>("bfly", x, by, lanes, width);  // from lane ^ by
  }
  // shuffle_up that also returns whether the source lane exists: one step of a scan.
  template <Shuffleable V>
  Shuffled<ElementOf<V>> shuffle_up_checked(const V& x, In<u32> by, Lanes lanes = {}, int width = kWarpSize) {
    const auto r = ptx::shuffle(*body_, "up", ElementOf<V>::kType, x.operand(), by, lanes, width, true);
    return {{*body_, r.value}, {*body_, r.in_range}};
  }

  Pred any(In<pred> p, Lanes lanes = {});              // true in some lane of the mask
  Pred all(In<pred> p, Lanes lanes = {});              // true in every lane
  Pred agree(In<pred> p, Lanes lanes = {});            // true in all lanes or in none
  Reg<b32> ballot(In<pred> p, Lanes lanes = {});       // bit l: p in lane l
  Reg<b32> active_lanes(Where at = Where::current());  // currently active lanes; the set may change at once
  Reg<b32> match_any(Raw<b32> x, Lanes lanes = {});    // lanes with the same value
  Reg<b32> match_any(Raw<b64> x, Lanes lanes = {});
  Reg<b32> match_all(Raw<b32> x, Lanes lanes = {});  // the mask if all lanes have the same value, else 0
  Reg<b32> match_all(Raw<b64> x, Lanes lanes = {});
  Pred elect(Lanes lanes = {});  // sm_90; true in one lane of the mask

  Reg<u32> reduce_add(In<u32> x, Lanes lanes = {});  // sm_80, all of redux
  Reg<s32> reduce_add(In<s32> x, Lanes lanes = {});
  Reg<u32> reduce_min(In<u32> x, Lanes lanes = {});
  Reg<s32> reduce_min(In<s32> x, Lanes lanes = {});
  Reg<u32> reduce_max(In<u32> x, Lanes lanes = {});
  Reg<s32> reduce_max(In<s32> x, Lanes lanes = {});
  Reg<b32> reduce_and(In<b32> x, Lanes lanes = {});
  Reg<b32> reduce_or(In<b32> x, Lanes lanes = {});
  Reg<b32> reduce_xor(In<b32> x, Lanes lanes = {});

  void warp_barrier(Lanes lanes = {});                // orders the memory accesses of the mask's lanes
  void barrier(Where at = Where::current());          // for the whole block; every thread or none
  void barrier(int id, In<u32> threads);              // for `threads` threads, in whole warps; ids 1 to 15
  void barrier(const Reg<u32>& id, In<u32> threads);  // the caller ensures the range
  void barrier_arrive(int id, In<u32> threads);       // arrives without waiting
  Reg<u32> barrier_count(In<pred> p);                 // block barrier; returns the number of threads where p holds
  Pred barrier_and(In<pred> p);                       // block barrier; whether p holds in all threads
  Pred barrier_or(In<pred> p);                        // block barrier; whether p holds in any thread

  void fence_acq_rel(Scope scope, Where at = Where::current());
  void fence_sc(Scope scope, Where at = Where::current());  // also ordered with other fence_sc
  void fence_proxy_async(Where at = Where::current());      // sm_90; before bulk copies read data written by stores
  void fence_mbarrier_init(Where at = Where::current());    // sm_90; makes mbarrier.init visible to bulk copies

 private:
  template <Shuffleable V>
  Reg<ElementOf<V>> move(const char* mode, const V& x, const AnyIn& lane, const AnyIn& lanes, int width) {
    return {*body_, ptx::shuffle(*body_, mode, ElementOf<V>::kType, x.operand(), lane, lanes, width, false).value};
  }
  template <class T>
  Reg<T> op(const char* spelling, std::initializer_list<AnyIn> ins);
  Body* body_;
};

}  // namespace ptx
