// One unit of 1, 2, 4 or 8 bytes from each of 32 host addresses. Where the addresses follow each other these are
// whole vectors, else the machine's gathers where it has them.
#pragma once

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

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

inline bool contiguous(const uint64_t* addresses, uint64_t stride) {
  uint64_t difference = 0;
  const uint64_t first = addresses[0];
  EMULATOR_LANES difference |= addresses[l] ^ (first + l * stride);
  return difference == 0;
}

#if defined(__AVX512F__)
// The masked forms, with every lane: g++ 12 warns of the undefined registers inside the plain ones.
inline __m256i gather_words(__m512i addresses) {
  return _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), 0xff, addresses, nullptr, 1);
}
inline void narrow(uint32_t* to, __m256i words) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), words); }
inline void narrow(uint16_t* to, __m256i words) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_maskz_cvtepi32_epi16(0xff, words));
}
inline void narrow(uint8_t* to, __m256i words) { _mm256_mask_cvtepi32_storeu_epi8(to, 0xff, words); }

template <class U>
inline void gather(U* to, const uint64_t* from) {
  for (uint32_t l = 0; l < kLanes; l += 8) {
    const __m512i addresses = _mm512_load_si512(from + l);
    if constexpr (sizeof(U) == 8)
      _mm512_storeu_si512(to + l, _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), 0xff, addresses, nullptr, 1));
    else
      narrow(to + l, gather_words(addresses));
  }
}
#else  // AVX2's gathers are no faster than loads one by one
template <class U>
inline void gather(U* to, const uint64_t* from) {
#pragma GCC unroll 32
  for (uint32_t l = 0; l < kLanes; ++l) to[l] = peek<U>(host(from[l]));
}
#endif

}  // namespace ptx::emulator::EMULATOR_ISA
