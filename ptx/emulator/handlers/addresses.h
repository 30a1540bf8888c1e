// The 32 addresses of an access, and units of 4 or 8 bytes read from them. With AVX-512 they stay in four registers
// from the address column to the gather; otherwise the compiler vectorises plain loops. Columns are stored in whole
// registers: data stored in parts and loaded whole stalls store forwarding.
#pragma once

#include <type_traits>

#include "ptx/emulator/handlers/lanes.h"

namespace ptx::emulator::EMULATOR_ISA {

constexpr uint32_t kGatherBytes = 4;  // must be readable at every address, even for smaller units

template <class T>
inline T peek(const uint8_t* p) {
  T value;
  __builtin_memcpy(&value, p, sizeof(T));
  return value;
}
// The element of a unit at bit `shift`, extended to the unit's width: narrower intermediate types would force vectors
// through memory.
template <class M, class U>
inline auto element(U unit, uint32_t shift) {
  constexpr uint32_t kRest = 8 * (sizeof(U) - sizeof(M));
  using Extended = std::conditional_t<std::is_signed_v<M>, std::make_signed_t<U>, U>;
  return static_cast<Extended>(unit << (kRest - shift)) >> kRest;
}

inline uint8_t* host(uint64_t address) { return reinterpret_cast<uint8_t*>(address); }

#if defined(__AVX512F__)
inline __m512i every(uint64_t value) { return _mm512_set1_epi64(static_cast<int64_t>(value)); }

struct Addresses {
  __m512i a, b, c, d;  // eight lanes each; not an array, which the compiler would keep in memory

  template <class F>
  [[gnu::always_inline]] void each(F f) {
    f(a, 0), f(b, 8), f(c, 16), f(d, 24);
  }
  template <class F>
  [[gnu::always_inline]] void each(F f) const {
    f(a, 0), f(b, 8), f(c, 16), f(d, 24);
  }

  [[gnu::always_inline]] static Addresses all(uint64_t address) {
    const __m512i same = every(address);
    return {same, same, same, same};
  }
  [[gnu::always_inline]] static Addresses from(const uint64_t* base, uint64_t offset) {
    Addresses at = all(offset);
    at.each([&](__m512i& part, uint32_t l) { part = _mm512_add_epi64(part, _mm512_load_si512(base + l)); });
    return at;
  }
  [[gnu::always_inline]] static Addresses from(const uint32_t* base, uint32_t offset) {
    Addresses at = all(0);
    at.each([&](__m512i& part, uint32_t l) {
      const __m256i low = _mm256_load_si256(reinterpret_cast<const __m256i*>(base + l));
      part = _mm512_cvtepu32_epi64(_mm256_add_epi32(low, _mm256_set1_epi32(static_cast<int32_t>(offset))));
    });
    return at;
  }
  [[gnu::always_inline]] void store(uint64_t* to) const {
    each([&](__m512i part, uint32_t l) { _mm512_store_si512(to + l, part); });
  }
  [[gnu::always_inline]] void add(uint64_t value) {
    each([&](__m512i& part, uint32_t) { part = _mm512_add_epi64(part, every(value)); });
  }
  // From offsets in local memory to the lanes' host addresses: local_at for every lane.
  [[gnu::always_inline]] void into_local(uint64_t local) {
    each([&](__m512i& part, uint32_t l) {
      const __m512i lane = _mm512_add_epi64(every(local + 16 * l), _mm512_set_epi64(112, 96, 80, 64, 48, 32, 16, 0));
      const __m512i piece = _mm512_slli_epi64(_mm512_srli_epi64(part, 4), 9);
      part = _mm512_add_epi64(_mm512_add_epi64(lane, piece), _mm512_and_epi64(part, every(15)));
    });
  }
  // Whether all `lanes` are in [start, start + last] and have none of low_bits set.
  [[gnu::always_inline]] bool within(uint32_t lanes, uint64_t start, uint64_t last, uint64_t low_bits) const {
    __mmask8 bad = 0;
    __m512i bits = _mm512_setzero_si512();
    each([&](__m512i part, uint32_t l) {
      const __mmask8 active = static_cast<__mmask8>(lanes >> l);
      const __m512i into = _mm512_sub_epi64(part, every(start));
      bad = _kor_mask8(bad, _mm512_mask_cmpgt_epu64_mask(active, into, every(last)));
      bits = _mm512_mask_or_epi64(bits, active, bits, part);
    });
    return _kortestz_mask8_u8(bad, _mm512_test_epi64_mask(bits, every(low_bits)));
  }
  // Whether consecutive lanes are `stride` bytes apart.
  [[gnu::always_inline]] bool strided(uint64_t stride) const {
    const __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i expected =
        _mm512_add_epi64(_mm512_broadcastq_epi64(_mm512_castsi512_si128(a)), _mm512_mullo_epi64(lane, every(stride)));
    if (_mm512_cmpneq_epi64_mask(a, expected)) return false;
    __mmask8 differs = 0;
    each([&](__m512i part, uint32_t l) {
      const __m512i here = _mm512_add_epi64(expected, every(l * stride));
      differs = _kor_mask8(differs, _mm512_cmpneq_epi64_mask(part, here));
    });
    return _kortestz_mask8_u8(differs, differs);
  }
  // Whether `lanes` have these offsets from an address.
  [[gnu::always_inline]] bool has_offsets(uint32_t lanes, uint64_t address, const uint64_t* offsets) const {
    __mmask8 differs = 0;
    each([&](__m512i part, uint32_t l) {
      const __m512i here = _mm512_add_epi64(every(address), _mm512_load_si512(offsets + l));
      differs = _kor_mask8(differs, _mm512_mask_cmpneq_epi64_mask(static_cast<__mmask8>(lanes >> l), part, here));
    });
    return _kortestz_mask8_u8(differs, differs);
  }
  [[gnu::always_inline]] uint64_t of(uint32_t lane) const {
    alignas(64) uint64_t addresses[kLanes];
    store(addresses);
    return addresses[lane];
  }
  [[gnu::always_inline]] uint64_t first() const {
    return static_cast<uint64_t>(_mm_cvtsi128_si64(_mm512_castsi512_si128(a)));
  }
  [[gnu::always_inline]] uint64_t third() const {
    return static_cast<uint64_t>(_mm_cvtsi128_si64(_mm512_extracti64x2_epi64(a, 1)));
  }
};

inline __m512i gather_words(__m512i old, uint32_t lanes, __m512i low, __m512i high) {
  const __m256i first = _mm512_castsi512_si256(old), second = _mm512_extracti64x4_epi64(old, 1);
  const __m256i a = _mm512_mask_i64gather_epi32(first, static_cast<__mmask8>(lanes), low, nullptr, 1);
  const __m256i b = _mm512_mask_i64gather_epi32(second, static_cast<__mmask8>(lanes >> 8), high, nullptr, 1);
  return _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
}

// Gathers units of 4 or 8 bytes; lanes outside `lanes` keep their values.
template <class U>
[[gnu::always_inline]] inline void gather(U* to, const Addresses& at, uint32_t lanes) {
  const auto old = [&](uint32_t l) {  // not loaded if no lane keeps it
    return lanes == kAllLanes ? _mm512_setzero_si512() : _mm512_load_si512(to + l);
  };
  if constexpr (sizeof(U) == 8) {
    at.each([&](__m512i part, uint32_t l) {
      const __mmask8 take = static_cast<__mmask8>(lanes >> l);
      _mm512_store_si512(to + l, _mm512_mask_i64gather_epi64(old(l), take, part, nullptr, 1));
    });
  } else {
    _mm512_store_si512(to, gather_words(old(0), lanes, at.a, at.b));
    _mm512_store_si512(to + 16, gather_words(old(16), lanes >> 16, at.c, at.d));
  }
}
#else
struct Addresses {
  alignas(64) uint64_t lane[kLanes];

  static Addresses all(uint64_t address) {
    Addresses at;
    EMULATOR_LANES at.lane[l] = address;
    return at;
  }
  static Addresses from(const uint64_t* base, uint64_t offset) {
    Addresses at;
    EMULATOR_LANES at.lane[l] = base[l] + offset;
    return at;
  }
  static Addresses from(const uint32_t* base, uint32_t offset) {
    Addresses at;
    EMULATOR_LANES at.lane[l] = static_cast<uint32_t>(base[l] + offset);
    return at;
  }
  void store(uint64_t* to) const { EMULATOR_LANES to[l] = lane[l]; }
  void add(uint64_t value) { EMULATOR_LANES lane[l] += value; }
  void into_local(uint64_t local) { EMULATOR_LANES lane[l] = local + (lane[l] >> 4 << 9) + (l << 4) + (lane[l] & 15); }
  bool within(uint32_t lanes, uint64_t start, uint64_t last, uint64_t low_bits) const {
    uint64_t bad = 0;
    EMULATOR_LANES {
      const uint64_t refused = (lane[l] - start > last ? 1 : 0) | (lane[l] & low_bits);
      bad |= lanes >> l & 1 ? refused : 0;
    }
    return bad == 0;
  }
  bool strided(uint64_t stride) const {
    if (lane[kLanes - 1] - lane[0] != (kLanes - 1) * stride) return false;
    uint64_t difference = 0;
    EMULATOR_LANES difference |= lane[l] ^ (lane[0] + l * stride);
    return difference == 0;
  }
  bool has_offsets(uint32_t lanes, uint64_t address, const uint64_t* offsets) const {
    uint64_t difference = 0;
    EMULATOR_LANES difference |= lanes >> l & 1 ? lane[l] ^ (address + offsets[l]) : 0;
    return difference == 0;
  }
  uint64_t of(uint32_t l) const { return lane[l]; }
  uint64_t first() const { return lane[0]; }
  uint64_t third() const { return lane[2]; }
};

template <class U>
inline void gather(U* to, const Addresses& at) {
#if defined(__AVX2__)
  if constexpr (sizeof(U) == 4) {
    const auto four = [&](uint32_t l) {
      const __m256i from = _mm256_load_si256(reinterpret_cast<const __m256i*>(at.lane + l));
      return _mm256_i64gather_epi32(nullptr, from, 1);
    };
    for (uint32_t l = 0; l < kLanes; l += 8)
      _mm256_store_si256(reinterpret_cast<__m256i*>(to + l), _mm256_set_m128i(four(l + 4), four(l)));
    return;
  }
#endif
#pragma GCC unroll 32
  for (uint32_t l = 0; l < kLanes; ++l) to[l] = peek<U>(host(at.lane[l]));
}
// Lanes outside `lanes` keep their values: they load them from where they are.
template <class U>
inline void gather(U* to, const Addresses& at, uint32_t lanes) {
  if (lanes == kAllLanes) return gather(to, at);
  Addresses some;
  EMULATOR_LANES some.lane[l] = lanes >> l & 1 ? at.lane[l] : reinterpret_cast<uint64_t>(to + l);
  gather(to, some);
}
#endif

// If the lanes of a warp read nearly contiguously, it probably walks through memory, so prefetch past the last lane.
// Only the first three lanes are examined; others may be an iteration behind.
[[gnu::always_inline]] inline void prefetch_behind(const Addresses& at, uint32_t bytes) {
  constexpr uint64_t kLine = 64;
  const uint64_t stride = (at.third() - at.first()) / 2;
  if (stride == 0 || stride > bytes * 5 / 4) return;
  const uint64_t next = at.first() + kLanes * stride;
  for (uint64_t line = 0; line < kLanes * stride; line += kLine) __builtin_prefetch(host(next + line));
}

}  // namespace ptx::emulator::EMULATOR_ISA
