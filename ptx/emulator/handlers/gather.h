// One unit of 1, 2, 4 or 8 bytes from each of 32 host addresses. Where the addresses follow each other these are
// whole vectors, else the machine's gathers where it has them.
#pragma once

#include "ptx/emulator/handlers/lanes.h"

namespace ptx::emulator::EMULATOR_ISA {

constexpr uint32_t kGatherBytes = 4;  // must be readable at every address, however small the unit

template <class T>
inline T peek(const uint8_t* p) {
  T value;
  __builtin_memcpy(&value, p, sizeof(T));
  return value;
}
inline uint8_t* host(uint64_t address) { return reinterpret_cast<uint8_t*>(address); }

// What follows is written out for AVX-512. A column is always stored in whole registers: what is stored in pieces
// and read back whole waits for the store to leave the core.
#if defined(__AVX512F__)
inline bool contiguous(const uint64_t* addresses, uint64_t stride) {
  const __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i step = _mm512_set1_epi64(static_cast<int64_t>(8 * stride));
  __m512i expected = _mm512_add_epi64(_mm512_set1_epi64(static_cast<int64_t>(addresses[0])),
                                      _mm512_mullo_epi64(lane, _mm512_set1_epi64(static_cast<int64_t>(stride))));
  __mmask8 differs = 0;
  for (uint32_t l = 0; l < kLanes; l += 8) {
    differs |= _mm512_cmpneq_epi64_mask(_mm512_load_si512(addresses + l), expected);
    expected = _mm512_add_epi64(expected, step);
  }
  return differs == 0;
}

// Whether the accesses of all `lanes` lie in [start, start + last] and have none of the low bits.
inline bool all_within(uint32_t lanes, uint64_t start, uint64_t last, uint64_t low_bits, const uint64_t* addresses) {
  const __m512i starts = _mm512_set1_epi64(static_cast<int64_t>(start));
  const __m512i lasts = _mm512_set1_epi64(static_cast<int64_t>(last));
  const __m512i lows = _mm512_set1_epi64(static_cast<int64_t>(low_bits));
  __mmask8 bad = 0;
  for (uint32_t l = 0; l < kLanes; l += 8) {
    const __mmask8 active = static_cast<__mmask8>(lanes >> l);
    const __m512i at = _mm512_load_si512(addresses + l);
    bad |= _mm512_mask_cmpgt_epu64_mask(active, _mm512_sub_epi64(at, starts), lasts);
    bad |= _mm512_mask_test_epi64_mask(active, at, lows);
  }
  return bad == 0;
}

// The masked forms, with every lane: g++ 12 warns of the undefined registers inside the plain ones.
inline __m512i gather_words(const uint64_t* from) {
  const __m256i none = _mm256_setzero_si256();
  const __m256i low = _mm512_mask_i64gather_epi32(none, 0xff, _mm512_load_si512(from), nullptr, 1);
  const __m256i high = _mm512_mask_i64gather_epi32(none, 0xff, _mm512_load_si512(from + 8), nullptr, 1);
  return _mm512_maskz_inserti64x4(0xff, _mm512_castsi256_si512(low), high, 1);
}

template <class U>
inline void gather(U* to, const uint64_t* from) {
  if constexpr (sizeof(U) == 8) {
    for (uint32_t l = 0; l < kLanes; l += 8) {
      const __m512i at = _mm512_load_si512(from + l);
      _mm512_store_si512(to + l, _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), 0xff, at, nullptr, 1));
    }
    return;
  }
  const __m512i low = gather_words(from), high = gather_words(from + 16);
  if constexpr (sizeof(U) == 4) {
    _mm512_store_si512(to, low);
    _mm512_store_si512(to + 16, high);
  } else if constexpr (sizeof(U) == 2) {
    const __m256i a = _mm512_maskz_cvtepi32_epi16(0xffff, low), b = _mm512_maskz_cvtepi32_epi16(0xffff, high);
    _mm512_store_si512(to, _mm512_maskz_inserti64x4(0xff, _mm512_castsi256_si512(a), b, 1));
  } else {
    const __m128i a = _mm512_maskz_cvtepi32_epi8(0xffff, low), b = _mm512_maskz_cvtepi32_epi8(0xffff, high);
    _mm256_store_si256(reinterpret_cast<__m256i*>(to), _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1));
  }
}
#else
inline bool contiguous(const uint64_t* addresses, uint64_t stride) {
  uint64_t difference = 0;
  const uint64_t first = addresses[0];
  EMULATOR_LANES difference |= addresses[l] ^ (first + l * stride);
  return difference == 0;
}

inline bool all_within(uint32_t lanes, uint64_t start, uint64_t last, uint64_t low_bits, const uint64_t* addresses) {
  uint64_t bad = 0;
  EMULATOR_LANES {
    const uint64_t refused = (addresses[l] - start > last ? 1 : 0) | (addresses[l] & low_bits);
    bad |= lanes >> l & 1 ? refused : 0;
  }
  return bad == 0;
}

template <class U>
inline void gather(U* to, const uint64_t* from) {
#if defined(__AVX2__)
  if constexpr (sizeof(U) == 4) {
    for (uint32_t l = 0; l < kLanes; l += 8) {
      const auto four = [&](uint32_t first) {
        const __m256i at = _mm256_load_si256(reinterpret_cast<const __m256i*>(from + first));
        return _mm256_mask_i64gather_epi32(_mm_setzero_si128(), nullptr, at, _mm_set1_epi32(-1), 1);
      };
      _mm256_store_si256(reinterpret_cast<__m256i*>(to + l), _mm256_set_m128i(four(l + 4), four(l)));
    }
    return;
  }
#endif
#pragma GCC unroll 32
  for (uint32_t l = 0; l < kLanes; ++l) to[l] = peek<U>(host(from[l]));
}
#endif

}  // namespace ptx::emulator::EMULATOR_ISA
