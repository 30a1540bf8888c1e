// A video instruction: its operation and operand parts, packed into Instruction::flags and immediate.
#pragma once

#include <cstdint>

namespace ptx::emulator {

enum class VideoOperation : uint8_t {
  kAdd,
  kSubtract,
  kDifference,
  kMinimum,
  kMaximum,
  kShiftLeft,
  kShiftRight,
  kMad,
  kSet,
  kAverage
};
enum class VideoTest : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe };
enum class VideoMerge : uint8_t { kNone, kAdd, kMin, kMax, kInsert };

struct VideoRequest {
  VideoOperation operation{};
  VideoTest test{};
  VideoMerge merge{};  // with the third source
  uint32_t parts = 1;  // 1, or 2 halves, or 4 bytes
  bool d_signed = false, a_signed = false, b_signed = false, saturates = false, wraps = false, plus_one = false;
  bool product_negated = false, c_negated = false;
  uint32_t shift = 0;  // vmad: 0, 7 or 15
  // One part: bit offset | width << 8. Several: a nibble per part selects from the pair b:a.
  uint32_t a_select = 0, b_select = 0;
  uint32_t d_select = 0;  // one part: position of an inserted result, as above; several: mask of written parts

  uint32_t pack_flags() const {
    return static_cast<uint32_t>(operation) | static_cast<uint32_t>(test) << 4 | static_cast<uint32_t>(merge) << 7 |
           parts << 10 | uint32_t{d_signed} << 13 | uint32_t{a_signed} << 14 | uint32_t{b_signed} << 15 |
           uint32_t{saturates} << 16 | uint32_t{wraps} << 17 | uint32_t{plus_one} << 18 |
           uint32_t{product_negated} << 19 | uint32_t{c_negated} << 20 | shift << 21;
  }
  int64_t pack_selects() const {
    return static_cast<int64_t>(a_select | uint64_t{b_select} << 16 | uint64_t{d_select} << 32);
  }

  static VideoRequest unpack(uint32_t flags, int64_t selects) {
    VideoRequest r;
    r.operation = static_cast<VideoOperation>(flags & 15);
    r.test = static_cast<VideoTest>(flags >> 4 & 7);
    r.merge = static_cast<VideoMerge>(flags >> 7 & 7);
    r.parts = flags >> 10 & 7;
    r.d_signed = flags >> 13 & 1;
    r.a_signed = flags >> 14 & 1;
    r.b_signed = flags >> 15 & 1;
    r.saturates = flags >> 16 & 1;
    r.wraps = flags >> 17 & 1;
    r.plus_one = flags >> 18 & 1;
    r.product_negated = flags >> 19 & 1;
    r.c_negated = flags >> 20 & 1;
    r.shift = flags >> 21 & 15;
    r.a_select = selects & 0xffff;
    r.b_select = selects >> 16 & 0xffff;
    r.d_select = static_cast<uint32_t>(selects >> 32);
    return r;
  }
};

}  // namespace ptx::emulator
