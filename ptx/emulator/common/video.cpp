// Video instructions, in 64-bit integers: extracts and extends parts, saturates or wraps the result, then merges it
// with the third source.
#include "ptx/emulator/video_operation.h"

#include "ptx/emulator/common/common.h"

namespace ptx::emulator::common {
namespace {

int64_t extended(uint32_t bits, uint32_t width, bool is_signed) {
  const uint64_t mask = (1ull << width) - 1;
  const int64_t value = static_cast<int64_t>(bits & mask);
  return is_signed && (bits >> (width - 1) & 1) ? value - static_cast<int64_t>(mask) - 1 : value;
}

int64_t saturated(int64_t value, uint32_t width, bool is_signed) {
  const int64_t low = is_signed ? -(1ll << (width - 1)) : 0, high = (1ll << (is_signed ? width - 1 : width)) - 1;
  return value < low ? low : value > high ? high : value;
}

bool holds(VideoTest test, int64_t a, int64_t b) {
  switch (test) {
    case VideoTest::kEq:
      return a == b;
    case VideoTest::kNe:
      return a != b;
    case VideoTest::kLt:
      return a < b;
    case VideoTest::kLe:
      return a <= b;
    case VideoTest::kGt:
      return a > b;
    default:
      return a >= b;
  }
}

int64_t compute(const VideoRequest& q, int64_t a, int64_t b, uint32_t c) {
  switch (q.operation) {
    case VideoOperation::kAdd:
      return a + b;
    case VideoOperation::kSubtract:
      return a - b;
    case VideoOperation::kDifference:
      return a > b ? a - b : b - a;
    case VideoOperation::kMinimum:
      return a < b ? a : b;
    case VideoOperation::kMaximum:
      return a > b ? a : b;
    case VideoOperation::kAverage:
      return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case VideoOperation::kSet:
      return holds(q.test, a, b);
    case VideoOperation::kMad: {
      const bool wide_sign = q.a_signed || q.b_signed || q.product_negated;
      const int64_t product = a * b, addend = extended(c, 32, wide_sign || q.c_negated);
      const int64_t sum =
          (q.product_negated ? -product : product) + (q.c_negated ? -addend : addend) + (q.plus_one ? 1 : 0);
      return sum >> q.shift;
    }
    default:
      break;
  }
  const uint64_t n = q.wraps                         ? static_cast<uint64_t>(b) & 31
                     : static_cast<uint64_t>(b) > 32 ? 32
                                                     : static_cast<uint64_t>(b);
  return q.operation == VideoOperation::kShiftLeft ? static_cast<int64_t>(static_cast<uint64_t>(a) << n) : a >> n;
}

uint32_t merged(const VideoRequest& q, int64_t value, uint32_t c) {
  const int64_t other = extended(c, 32, q.d_signed), own = extended(static_cast<uint32_t>(value), 32, q.d_signed);
  switch (q.merge) {
    case VideoMerge::kAdd:
      return static_cast<uint32_t>(value) + c;
    case VideoMerge::kMin:
      return static_cast<uint32_t>(own < other ? own : other);
    case VideoMerge::kMax:
      return static_cast<uint32_t>(own > other ? own : other);
    case VideoMerge::kInsert: {
      const uint32_t offset = q.d_select & 0xff, mask = ((1u << (q.d_select >> 8)) - 1) << offset;
      return (c & ~mask) | (static_cast<uint32_t>(value) << offset & mask);
    }
    default:
      return static_cast<uint32_t>(value);
  }
}

uint32_t scalar(const VideoRequest& q, uint32_t a, uint32_t b, uint32_t c) {
  const int64_t x = extended(a >> (q.a_select & 0xff), q.a_select >> 8, q.a_signed),
                y = extended(b >> (q.b_select & 0xff), q.b_select >> 8, q.b_signed);
  int64_t value = compute(q, x, y, c);
  const uint32_t width = q.merge == VideoMerge::kInsert ? q.d_select >> 8 : 32;
  if (q.saturates) value = saturated(value, width, q.d_signed);
  return merged(q, value, c);
}

uint32_t parallel(const VideoRequest& q, uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t width = 32 / q.parts, mask = (1u << width) - 1;
  const uint64_t both = a | uint64_t{b} << 32;
  uint32_t result = c;
  for (uint32_t p = 0; p < q.parts; ++p) {
    if (!(q.d_select >> p & 1)) continue;
    const uint32_t from_a = q.a_select >> 4 * p & 15, from_b = q.b_select >> 4 * p & 15;
    const int64_t x = extended(static_cast<uint32_t>(both >> from_a * width), width, q.a_signed);
    const int64_t y = extended(static_cast<uint32_t>(both >> from_b * width), width, q.b_signed);
    int64_t value = compute(q, x, y, 0);
    if (q.saturates) value = saturated(value, width, q.d_signed);
    if (q.merge == VideoMerge::kAdd)
      result += static_cast<uint32_t>(value);
    else
      result = (result & ~(mask << p * width)) | (static_cast<uint32_t>(value) & mask) << p * width;
  }
  return result;
}

}  // namespace

void register_video(Registry& r) {
  add(r, "video", "", [](Warp& w, const Instruction& i, uint32_t lanes) {
    const VideoRequest q = VideoRequest::unpack(i.flags, i.immediate);
    const uint32_t *a = column<uint32_t>(w, i.a), *b = column<uint32_t>(w, i.b), *c = column<uint32_t>(w, i.c);
    uint32_t result[kLanes];
    for (uint32_t l = 0; l < kLanes; ++l)
      result[l] = q.parts == 1 ? scalar(q, a[l], b[l], c[l]) : parallel(q, a[l], b[l], c[l]);
    write(w, i.d, result, lanes);
  });
}

}  // namespace ptx::emulator::common
