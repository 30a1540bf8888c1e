// Time stamps of the persistent decoder's phases, in the blocks that StampRequest asks for.
#pragma once
#include <cstddef>
#include <string>

#include "kernels/common/virtual_block.h"
#include "kernels/persistent/persistent_decoder.h"
#include "ptx/builder.h"

namespace warpchat {

// The kernel's parameters, or a function's arguments.
struct StampAddresses {
  ptx::Global<ptx::u8> stamps;
  ptx::Reg<ptx::u32> n_blocks, n_slots;  // StampRequest; as parameters they take no registers between phases

  // In the order of a call's arguments.
  static StampAddresses arguments(ptx::Builder& b) {
    const auto number = [&](const char* name) { return b.argument<ptx::u32>(name, ptx::Sharing::kWarp); };
    const ptx::Global<ptx::u8> stamps = b.global_argument<ptx::u8>("stamps", ptx::Sharing::kWarp, 16);
    const ptx::Reg<ptx::u32> n_blocks = number("stamped_blocks");
    return {stamps, n_blocks, number("stamp_slots")};
  }
};

// Writes one stamp, if the block has any; called by all threads, one of which writes. phase: with kEndOfPhase at its
// end, before which all threads must have met.
inline void write_stamp(ptx::Builder& b, const VirtualBlock& block, const StampAddresses& at,
                        const ptx::Reg<ptx::u32>& phase) {
  using namespace ptx;
  b.if_(block.thread() == 0 && b.block() < at.n_blocks, [&] {
    Reg<u64> bytes = wide(at.n_slots) * sizeof(Stamp) + 16;  // per block
    Global<u8> own = at.stamps + wide(b.block()) * bytes;
    Reg<u32> count = own.as<u32>().load();
    Global<u8> slot = own + 16 + wide(count % at.n_slots) * sizeof(Stamp);
    slot.as<u64>().store(0, b.globaltimer());
    (slot + offsetof(Stamp, phase)).as<u32>().store(0, phase);
    (slot + offsetof(Stamp, sm)).as<u32>().store(0, b.sm());
    own.as<u32>().store(0, count + 1);
  });
}

// Records when the block's phases begin and end. Each call is a function call, in the stamped blocks alone.
class StampWriter {
 public:
  StampWriter(ptx::Builder& b, ptx::Target target)
      : b_(b),
        at_{b.global<ptx::u8>("stamps"), b.param<ptx::u32>("stamped_blocks"), b.param<ptx::u32>("stamp_slots")},
        write_(write_function(target)) {}
  const StampAddresses& addresses() const { return at_; }

  // Called by all threads; at a phase's end one waits for the others. phase: a register or a constant.
  template <class Number>
  void begin(const Number& phase) {
    b_.if_(b_.block() < at_.n_blocks, [&] { write(phase); });
  }
  template <class Number>
  void end(const Number& phase) {
    b_.if_(b_.block() < at_.n_blocks, [&] {
      b_.barrier();
      write(phase | kEndOfPhase);
    });
  }

 private:
  void write(const ptx::CallOperand& phase) { b_.call(write_, {at_.stamps, at_.n_blocks, at_.n_slots, phase}); }

  static ptx::FunctionPointer write_function(ptx::Target target) {
    ptx::Builder b("write_stamp", target);
    const StampAddresses at = StampAddresses::arguments(b);
    write_stamp(b, VirtualBlock(b), at, b.argument<ptx::u32>("phase", ptx::Sharing::kWarp));
    return b.finish_function();
  }

  ptx::Builder& b_;
  StampAddresses at_;
  ptx::FunctionPointer write_;
};

}  // namespace warpchat
