// Translates an access's addresses to host addresses per lane: windows, bounds and alignment. `quick` checks the whole
// warp at once and translates only if every lane is valid. `resolve` goes lane by lane, reports invalid lanes and
// redirects them to scratch memory.
#pragma once

#include "ptx/emulator/handlers/addresses.h"

namespace ptx::emulator::EMULATOR_ISA {

enum AccessFlags : uint32_t {
  kAddress32 = 1,      // the address register has 32 bits
  kAddressNone = 2,    // the address is the immediate alone
  kPolls = 4,          // volatile, relaxed or acquire: another thread may answer
  kFrameRelative = 8,  // local: the immediate is relative to the frame, whose base is in column e
  kStrong = 7u << 4,   // volatile, relaxed or stronger: other threads may wait for it
};

// kSpace below is the syntax tree's Space. kStride is the lane distance worth testing for; 0 means the access's size.
constexpr uint64_t kScratchBytes = 64;
inline thread_local uint8_t scratch[kScratchBytes] __attribute__((aligned(64)));

[[gnu::always_inline]] inline Addresses addresses_of(Warp& w, const Instruction& i) {
  const uint64_t offset = static_cast<uint64_t>(i.immediate);
  if (__builtin_expect(!(i.flags & (kAddressNone | kAddress32)), 1)) {
    return Addresses::from(column<uint64_t>(w, i.a), offset);
  }
  if (i.flags & kAddressNone) return Addresses::all(offset);
  return Addresses::from(column<uint32_t>(w, i.a), static_cast<uint32_t>(offset));
}
inline void read_addresses(Warp& w, const Instruction& i, uint64_t* addresses) { addresses_of(w, i).store(addresses); }

// Whether the accesses of all `lanes` are in [start, start + room) and aligned; short ones leave space for a gather.
[[gnu::always_inline]] inline bool all_inside(const Addresses& at, uint32_t lanes, uint64_t start, uint64_t room,
                                              uint32_t bytes) {
  const uint64_t reach = bytes < kGatherBytes ? kGatherBytes : bytes;
  return room >= reach && at.within(lanes, start, room - reach, bytes - 1);
}

inline uint8_t* global_pointer(Warp& w, const Instruction& i, uint32_t lane, uint64_t address, uint32_t bytes) {
  if (address & (bytes - 1)) {
    fault_at(w, i, FaultKind::kMisaligned, lane, address, bytes);
    return scratch;
  }
  Range& range = w.ranges[i.index];
  const uint64_t into = address - range.start;
  if (into < range.bytes && range.bytes - into >= bytes) return reinterpret_cast<uint8_t*>(address);
  if (find_range(w, i, address, bytes, range)) return reinterpret_cast<uint8_t*>(address);
  fault_at(w, i, FaultKind::kIllegalAddress, lane, address, bytes);
  return scratch;
}

inline uint8_t* window_pointer(Warp& w, const Instruction& i, uint32_t lane, uint64_t offset, uint32_t bytes,
                               uint64_t limit, FaultKind kind) {
  if (offset & (bytes - 1)) {
    fault_at(w, i, FaultKind::kMisaligned, lane, offset, bytes);
    return scratch;
  }
  if (offset >= limit || limit - offset < bytes) {
    fault_at(w, i, kind, lane, offset, bytes);
    return scratch;
  }
  return nullptr;
}

struct Global {
  static constexpr uint32_t kSpace = 1, kStride = 0;
  [[gnu::always_inline]] static bool quick(Warp& w, const Instruction& i, uint32_t lanes, uint32_t bytes,
                                           Addresses& at) {
    const Range& range = w.ranges[i.index];
    return all_inside(at, lanes, range.start, range.bytes, bytes);
  }
  static void resolve(Warp& w, const Instruction& i, uint32_t lanes, uint32_t bytes, const uint64_t* addresses,
                      uint8_t** pointers) {
    for (uint32_t l = 0; l < kLanes; ++l)
      pointers[l] = lanes >> l & 1 ? global_pointer(w, i, l, addresses[l], bytes) : scratch;
  }
};

struct Shared {
  static constexpr uint32_t kSpace = 3, kStride = 0;
  [[gnu::always_inline]] static bool quick_from(uint64_t window, Warp& w, uint32_t lanes, uint32_t bytes,
                                                Addresses& at) {
    if (!all_inside(at, lanes, window, w.shared_bytes, bytes)) return false;
    at.add(reinterpret_cast<uint64_t>(w.shared) - window);
    return true;
  }
  [[gnu::always_inline]] static bool quick(Warp& w, const Instruction&, uint32_t lanes, uint32_t bytes, Addresses& at) {
    return quick_from(0, w, lanes, bytes, at);
  }
  static void resolve(Warp& w, const Instruction& i, uint32_t lanes, uint32_t bytes, const uint64_t* addresses,
                      uint8_t** pointers) {
    for (uint32_t l = 0; l < kLanes; ++l) {
      pointers[l] = scratch;
      if (!(lanes >> l & 1)) continue;
      uint8_t* refused = window_pointer(w, i, l, addresses[l], bytes, w.shared_bytes, FaultKind::kSharedBounds);
      pointers[l] = refused ? refused : w.shared + addresses[l];
    }
  }
};

struct Local {
  static constexpr uint32_t kSpace = 4, kStride = 16;  // distance between lanes at the same offset
  [[gnu::always_inline]] static bool quick_from(uint64_t window, Warp& w, uint32_t lanes, uint32_t bytes,
                                                Addresses& at) {
    if (bytes > 16 || !all_inside(at, lanes, window, w.local_bytes, bytes)) return false;
    at.add(0 - window);
    at.into_local(reinterpret_cast<uint64_t>(w.local));
    return true;
  }
  [[gnu::always_inline]] static bool quick(Warp& w, const Instruction& i, uint32_t lanes, uint32_t bytes,
                                           Addresses& at) {
    return quick_from(0 - frame_of(w, i), w, lanes, bytes, at);
  }
  static void resolve(Warp& w, const Instruction& i, uint32_t lanes, uint32_t bytes, const uint64_t* addresses,
                      uint8_t** pointers) {
    const uint64_t frame = frame_of(w, i);
    for (uint32_t l = 0; l < kLanes; ++l) {
      pointers[l] = scratch;
      if (!(lanes >> l & 1)) continue;
      const uint64_t offset = addresses[l] + frame;
      uint8_t* refused = window_pointer(w, i, l, offset, bytes, w.local_bytes, FaultKind::kLocalBounds);
      pointers[l] = refused ? refused : local_at(w, l, offset);
    }
  }
  static uint64_t frame_of(Warp& w, const Instruction& i) {
    return i.flags & kFrameRelative ? *column<uint64_t>(w, i.e) : 0;
  }
};

struct Generic {
  static constexpr uint32_t kSpace = 0, kStride = 0;
  static uint8_t* one(Warp& w, const Instruction& i, uint32_t lane, uint64_t address, uint32_t bytes) {
    uint8_t* refused;
    if (address < kSharedWindow) return global_pointer(w, i, lane, address, bytes);
    if (address - kSharedWindow < kWindowBytes) {
      refused = window_pointer(w, i, lane, address - kSharedWindow, bytes, w.shared_bytes, FaultKind::kSharedBounds);
      return refused ? refused : w.shared + (address - kSharedWindow);
    }
    if (address - kLocalWindow < kWindowBytes) {
      refused = window_pointer(w, i, lane, address - kLocalWindow, bytes, w.local_bytes, FaultKind::kLocalBounds);
      return refused ? refused : local_at(w, lane, address - kLocalWindow);
    }
    refused = window_pointer(w, i, lane, address - kParamWindow, bytes, w.parameter_bytes, FaultKind::kIllegalAddress);
    return refused ? refused : const_cast<uint8_t*>(w.parameters) + (address - kParamWindow);
  }
  [[gnu::always_inline]] static bool quick(Warp& w, const Instruction& i, uint32_t lanes, uint32_t bytes,
                                           Addresses& at) {
    return Global::quick(w, i, lanes, bytes, at) || Shared::quick_from(kSharedWindow, w, lanes, bytes, at) ||
           Local::quick_from(kLocalWindow, w, lanes, bytes, at);
  }
  static void resolve(Warp& w, const Instruction& i, uint32_t lanes, uint32_t bytes, const uint64_t* addresses,
                      uint8_t** pointers) {
    for (uint32_t l = 0; l < kLanes; ++l) pointers[l] = lanes >> l & 1 ? one(w, i, l, addresses[l], bytes) : scratch;
  }
};

}  // namespace ptx::emulator::EMULATOR_ISA
