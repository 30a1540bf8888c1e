// alloca: memory in the function's frame, allocated per lane.
#include "ptx/emulator/block.h"
#include "ptx/emulator/common/common.h"

namespace ptx::emulator::common {
namespace {

// d = local address of a[l] bytes at the next multiple of the alignment; e counts the bytes in use.
template <class T>
void allocate(Warp& w, const Instruction& i, uint32_t lanes) {
  const uint64_t room = i.immediate & 0xffffffff, align = static_cast<uint64_t>(i.immediate) >> 32;
  const T* size = column<T>(w, i.a);
  const uint32_t* base = column<uint32_t>(w, i.b);
  uint32_t* top = column<uint32_t>(w, i.e);
  T* d = column<T>(w, i.d);
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    const uint64_t start = (base[l] + uint64_t{top[l]} + align - 1) / align * align;
    const uint64_t before = start - base[l];
    if (before > room || size[l] > room - before) {
      return fault_at_instruction(w, i, FaultKind::kStackOverflow,
                                  "asks for " + std::to_string(size[l]) + " bytes of the stack, " +
                                      std::to_string(before > room ? 0 : room - before) + " are left");
    }
    top[l] = static_cast<uint32_t>(before + size[l]);
    d[l] = static_cast<T>(start);
  }
}

}  // namespace

void register_stack(Registry& r) {
  add(r, "alloca.u32", "", [](Warp& w, const Instruction& i, uint32_t lanes) { allocate<uint32_t>(w, i, lanes); });
  add(r, "alloca.u64", "", [](Warp& w, const Instruction& i, uint32_t lanes) { allocate<uint64_t>(w, i, lanes); });
}

}  // namespace ptx::emulator::common
