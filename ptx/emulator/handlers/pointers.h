// From the addresses of an access to host pointers, per lane: windows, bounds and alignment.
// A lane whose access is refused reports its fault and gets a scratch piece, so that copies need no branches.
#pragma once

#include "ptx/emulator/handlers/lanes.h"

namespace ptx::emulator::EMULATOR_ISA {

enum AccessFlags : uint32_t {
  kAddress32 = 1,      // the address register has 32 bits
  kAddressNone = 2,    // the address is the immediate alone
  kPolls = 4,          // another thread may answer: volatile, relaxed, acquire
  kFrameRelative = 8,  // local: the immediate counts from the frame, whose base is in column e
};

// kSpace below is Space of the syntax tree.
constexpr uint64_t kScratchBytes = 64;
inline thread_local uint8_t scratch[kScratchBytes] __attribute__((aligned(64)));

inline void read_addresses(Warp& w, const Instruction& i, uint64_t* addresses) {
  const uint64_t offset = static_cast<uint64_t>(i.immediate);
  if (i.flags & kAddressNone) {
    EMULATOR_LANES addresses[l] = offset;
  } else if (i.flags & kAddress32) {
    const uint32_t* base = column<uint32_t>(w, i.a);
    EMULATOR_LANES addresses[l] = static_cast<uint32_t>(base[l] + static_cast<uint32_t>(offset));
  } else {
    const uint64_t* base = column<uint64_t>(w, i.a);
    EMULATOR_LANES addresses[l] = base[l] + offset;
  }
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
  static constexpr uint32_t kSpace = 1;
  static void resolve(Warp& w, const Instruction& i, uint32_t lanes, uint32_t bytes, const uint64_t* addresses,
                      uint8_t** pointers) {
    const Range range = w.ranges[i.index];
    uint64_t bad = 0;
    EMULATOR_LANES {
      const uint64_t into = addresses[l] - range.start;
      const bool refused = into >= range.bytes || range.bytes - into < bytes || (addresses[l] & (bytes - 1)) != 0;
      const bool active = lanes >> l & 1;
      bad |= refused && active ? 1 : 0;
      pointers[l] = active ? reinterpret_cast<uint8_t*>(addresses[l]) : scratch;
    }
    if (__builtin_expect(bad == 0, 1)) return;
    for (uint32_t l = 0; l < kLanes; ++l) {
      if (lanes >> l & 1) pointers[l] = global_pointer(w, i, l, addresses[l], bytes);
    }
  }
};

struct Shared {
  static constexpr uint32_t kSpace = 3;
  static void resolve(Warp& w, const Instruction& i, uint32_t lanes, uint32_t bytes, const uint64_t* addresses,
                      uint8_t** pointers) {
    const uint64_t limit = w.shared_bytes;
    uint64_t bad = 0;
    uint8_t* const base = w.shared;
    EMULATOR_LANES {
      const uint64_t offset = addresses[l];
      const bool refused = offset >= limit || limit - offset < bytes || (offset & (bytes - 1)) != 0;
      const bool active = lanes >> l & 1;
      bad |= refused && active ? 1 : 0;
      pointers[l] = active ? base + offset : scratch;
    }
    if (__builtin_expect(bad == 0, 1)) return;
    for (uint32_t l = 0; l < kLanes; ++l) {
      if (!(lanes >> l & 1)) continue;
      uint8_t* refused = window_pointer(w, i, l, addresses[l], bytes, limit, FaultKind::kSharedBounds);
      if (refused) pointers[l] = refused;
    }
  }
};

struct Local {
  static constexpr uint32_t kSpace = 4;
  static void resolve(Warp& w, const Instruction& i, uint32_t lanes, uint32_t bytes, const uint64_t* addresses,
                      uint8_t** pointers) {
    const uint64_t frame = i.flags & kFrameRelative ? *column<uint64_t>(w, i.e) : 0;
    for (uint32_t l = 0; l < kLanes; ++l) {
      pointers[l] = scratch;
      if (!(lanes >> l & 1)) continue;
      const uint64_t offset = addresses[l] + frame;
      uint8_t* refused = window_pointer(w, i, l, offset, bytes, w.local_bytes, FaultKind::kLocalBounds);
      pointers[l] = refused ? refused : local_at(w, l, offset);
    }
  }
};

struct Generic {
  static constexpr uint32_t kSpace = 0;
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
  static void resolve(Warp& w, const Instruction& i, uint32_t lanes, uint32_t bytes, const uint64_t* addresses,
                      uint8_t** pointers) {
    uint64_t windows = 0;
    EMULATOR_LANES windows |= lanes >> l & 1 ? addresses[l] >> 48 : 0;
    if (windows == 0) return Global::resolve(w, i, lanes, bytes, addresses, pointers);
    for (uint32_t l = 0; l < kLanes; ++l) pointers[l] = lanes >> l & 1 ? one(w, i, l, addresses[l], bytes) : scratch;
  }
};

inline bool contiguous(uint8_t* const* pointers, uint64_t stride) {
  uint64_t difference = 0;
  const uint64_t first = reinterpret_cast<uint64_t>(pointers[0]);
  EMULATOR_LANES difference |= reinterpret_cast<uint64_t>(pointers[l]) ^ (first + l * stride);
  return difference == 0;
}

}  // namespace ptx::emulator::EMULATOR_ISA
