// The 32 addresses of an access, and units of 1, 2, 4 or 8 bytes from there. For AVX-512 they live in four registers
// from the address column to the gather; elsewhere the compiler makes vectors of plain loops. A column is stored in
// whole registers: what is stored in pieces and read back whole waits for the store to leave the core.
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

#if defined(__AVX512F__)
inline __m512i every(uint64_t value) { return _mm512_set1_epi64(static_cast<int64_t>(value)); }

struct Addresses {
  __m512i part[4];  // of eight lanes each

  static Addresses all(uint64_t address) {
    const __m512i same = every(address);
    return {{same, same, same, same}};
  }
  static Addresses from(const uint64_t* base, uint64_t offset) {
    Addresses at = all(offset);
    for (uint32_t p = 0; p < 4; ++p) at.part[p] = _mm512_add_epi64(at.part[p], _mm512_load_si512(base + 8 * p));
    return at;
  }
  static Addresses from(const uint32_t* base, uint32_t offset) {
    Addresses at;
    const __m256i offsets = _mm256_set1_epi32(static_cast<int32_t>(offset));
    for (uint32_t p = 0; p < 4; ++p) {
      const __m256i low = _mm256_load_si256(reinterpret_cast<const __m256i*>(base + 8 * p));
      at.part[p] = _mm512_cvtepu32_epi64(_mm256_add_epi32(low, offsets));
    }
    return at;
  }
  void store(uint64_t* to) const {
    for (uint32_t p = 0; p < 4; ++p) _mm512_store_si512(to + 8 * p, part[p]);
  }
  void add(uint64_t value) {
    for (__m512i& p : part) p = _mm512_add_epi64(p, every(value));
  }
  // Lanes outside `lanes` get `idle`.
  void keep(uint32_t lanes, uint64_t idle) {
    for (uint32_t p = 0; p < 4; ++p)
      part[p] = _mm512_mask_mov_epi64(every(idle), static_cast<__mmask8>(lanes >> 8 * p), part[p]);
  }
  // From offsets in local memory to where a lane's byte lies: local_at of every lane.
  void into_local(uint64_t local) {
    for (uint32_t p = 0; p < 4; ++p) {
      const __m512i lane = _mm512_add_epi64(every(8 * p), _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
      const __m512i piece = _mm512_slli_epi64(_mm512_srli_epi64(part[p], 4), 9);
      const __m512i start = _mm512_add_epi64(every(local), _mm512_slli_epi64(lane, 4));
      part[p] = _mm512_add_epi64(_mm512_add_epi64(start, piece), _mm512_and_epi64(part[p], every(15)));
    }
  }
  // Whether all `lanes` lie in [start, start + last] and have none of the low bits.
  bool within(uint32_t lanes, uint64_t start, uint64_t last, uint64_t low_bits) const {
    __mmask8 bad = 0;
    for (uint32_t p = 0; p < 4; ++p) {
      const __mmask8 active = static_cast<__mmask8>(lanes >> 8 * p);
      const __m512i into = _mm512_sub_epi64(part[p], every(start));
      bad = _kor_mask8(bad, _mm512_mask_cmpgt_epu64_mask(active, into, every(last)));
      bad = _kor_mask8(bad, _mm512_mask_test_epi64_mask(active, part[p], every(low_bits)));
    }
    return _kortestz_mask8_u8(bad, bad);
  }
  bool contiguous(uint64_t stride) const {
    const __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    __m512i expected = _mm512_add_epi64(_mm512_broadcastq_epi64(_mm512_castsi512_si128(part[0])),
                                        _mm512_mullo_epi64(lane, every(stride)));
    if (_mm512_cmpneq_epi64_mask(part[0], expected)) return false;
    __mmask8 differs = 0;
    for (uint32_t p = 1; p < 4; ++p) {
      expected = _mm512_add_epi64(expected, every(8 * stride));
      differs = _kor_mask8(differs, _mm512_cmpneq_epi64_mask(part[p], expected));
    }
    return _kortestz_mask8_u8(differs, differs);
  }
  uint64_t first() const { return static_cast<uint64_t>(_mm_cvtsi128_si64(_mm512_castsi512_si128(part[0]))); }
};

inline __m512i gather_words(__m512i low, __m512i high) {
  const __m256i a = _mm512_i64gather_epi32(low, nullptr, 1);
  const __m256i b = _mm512_i64gather_epi32(high, nullptr, 1);
  return _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
}

template <class U>
inline void gather(U* to, const Addresses& at) {
  if constexpr (sizeof(U) == 8) {
    for (uint32_t p = 0; p < 4; ++p) _mm512_store_si512(to + 8 * p, _mm512_i64gather_epi64(at.part[p], nullptr, 1));
    return;
  }
  const __m512i low = gather_words(at.part[0], at.part[1]), high = gather_words(at.part[2], at.part[3]);
  if constexpr (sizeof(U) == 4) {
    _mm512_store_si512(to, low);
    _mm512_store_si512(to + 16, high);
  } else if constexpr (sizeof(U) == 2) {
    const __m256i a = _mm512_cvtepi32_epi16(low), b = _mm512_cvtepi32_epi16(high);
    _mm512_store_si512(to, _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1));
  } else {
    const __m128i a = _mm512_cvtepi32_epi8(low), b = _mm512_cvtepi32_epi8(high);
    _mm256_store_si256(reinterpret_cast<__m256i*>(to), _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1));
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
  void keep(uint32_t lanes, uint64_t idle) { EMULATOR_LANES lane[l] = lanes >> l & 1 ? lane[l] : idle; }
  void into_local(uint64_t local) { EMULATOR_LANES lane[l] = local + (lane[l] >> 4 << 9) + (l << 4) + (lane[l] & 15); }
  bool within(uint32_t lanes, uint64_t start, uint64_t last, uint64_t low_bits) const {
    uint64_t bad = 0;
    EMULATOR_LANES {
      const uint64_t refused = (lane[l] - start > last ? 1 : 0) | (lane[l] & low_bits);
      bad |= lanes >> l & 1 ? refused : 0;
    }
    return bad == 0;
  }
  bool contiguous(uint64_t stride) const {
    if (lane[kLanes - 1] - lane[0] != (kLanes - 1) * stride) return false;
    uint64_t difference = 0;
    EMULATOR_LANES difference |= lane[l] ^ (lane[0] + l * stride);
    return difference == 0;
  }
  uint64_t first() const { return lane[0]; }
};

template <class U>
inline void gather(U* to, const Addresses& at) {
#if defined(__AVX2__)  // gathers of smaller units are no faster than loads one by one
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
#endif

}  // namespace ptx::emulator::EMULATOR_ISA
