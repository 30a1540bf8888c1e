// Thread and block indices, clocks, and scheduler hints. Constants are read once, at the kernel's start.
#pragma once
#include "ptx/memory.h"

namespace ptx {

enum class Axis : uint8_t { kX, kY, kZ };

class Specials {
 public:
  explicit Specials(Body& body) : body_(&body) {}

  Reg<u32> thread(Axis axis = Axis::kX, Where at = Where::current());   // in its block
  Reg<u32> threads(Axis axis = Axis::kX, Where at = Where::current());  // per block
  Reg<u32> block(Axis axis = Axis::kX, Where at = Where::current());    // in the grid
  Reg<u32> blocks(Axis axis = Axis::kX, Where at = Where::current());   // of the grid
  Reg<u32> lane(Where at = Where::current());                           // in its warp, 0 to 31
  Reg<u32> warp(Where at = Where::current());                           // in its block, which must be one-dimensional
  Reg<u32> n_sms(Where at = Where::current());                          // multiprocessors of the device
  Reg<u32> sm(Where at = Where::current());                             // the one that currently runs this block
  Reg<b32> lanes_below(Where at = Where::current());                    // mask of the lanes below this one
  Reg<b32> lanes_up_to(Where at = Where::current());                    // mask that includes this lane
  Reg<b32> lanes_above(Where at = Where::current());
  Reg<b32> lane_bit(Where at = Where::current());              // 1 << lane
  Reg<u32> dynamic_shared_bytes(Where at = Where::current());  // as the launch gave them

  Reg<u32> clock(Where at = Where::current());  // current cycle of this multiprocessor
  Reg<u64> clock64(Where at = Where::current());
  Reg<u64> globaltimer(Where at = Where::current());     // nanoseconds; the resolution is 1 microsecond at best
  void nanosleep(In<u32> nanoseconds);                   // approximately; may return at once
  void launch_dependents(Where at = Where::current());   // sm_90; allows the stream's next grid to begin
  void wait_prerequisites(Where at = Where::current());  // sm_90; until the preceding grids have written everything
  void lower_registers(int per_thread, Where at = Where::current());  // sm_90a; setmaxnreg, a multiple of 8
  void raise_registers(int per_thread, Where at = Where::current());
  void trap(Where at = Where::current());  // ends the launch with an error

  // The author vouches that x is the same in every thread of the block (or warp), which the analysis cannot prove;
  // barriers are then allowed under conditions on x.
  template <Value V>
  Reg<ElementOf<V>> uniform(const V& x, Where at = Where::current()) {
    return {*body_, claim(*body_, ElementOf<V>::kType, x.operand(), {Claim::Kind::kBlockUniform}, at)};
  }
  template <Value V>
  Reg<ElementOf<V>> warp_uniform(const V& x, Where at = Where::current()) {
    return {*body_, claim(*body_, ElementOf<V>::kType, x.operand(), {Claim::Kind::kWarpUniform}, at)};
  }
  // The author vouches that x is a multiple of `factor`, a power of two; used for address alignment.
  template <IndexValue V>
  Reg<ElementOf<V>> multiple_of(int factor, const V& x, Where at = Where::current()) {
    return {*body_, claim(*body_, ElementOf<V>::kType, x.operand(), {Claim::Kind::kAligned, factor}, at)};
  }

 private:
  template <class T>
  Reg<T> once(std::string_view special, const char* role, Where at);
  template <class T>
  Reg<T> now(std::string_view special, Where at);
  Body* body_;
};

}  // namespace ptx
