// AMX tile instructions: eight registers of 16 rows of 64 bytes. The register number is part of the instruction, so it
// is a template argument. The configuration sets rows and bytes per row (Intel 64 and IA-32 Software Developer's
// Manual, volume 1, chapter 18).
#pragma once
#include <cstddef>
#include <cstdint>

namespace warpchat {
namespace {

// config: 64 bytes. Zeroes all registers.
__attribute__((always_inline)) inline void configure_tiles(const void* config) {
  asm volatile("ldtilecfg %0" : : "m"(*static_cast<const uint8_t(*)[64]>(config)));
}
// Lets the processor and the system drop the registers' contents.
__attribute__((always_inline)) inline void release_tiles() { asm volatile("tilerelease"); }

template <int kTile>
__attribute__((always_inline)) inline void zero_tile() {
  asm volatile("tilezero %%tmm%c0" : : "n"(kTile));
}
template <int kTile>  // stride: bytes between rows
__attribute__((always_inline)) inline void load_tile(const void* from, size_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "n"(kTile) : "memory");
}
template <int kTile>
__attribute__((always_inline)) inline void store_tile(void* to, size_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "n"(kTile) : "memory");
}

// sums[m][n] += sum over k of signed_bytes[m][k] * unsigned_bytes[k / 4][4 * n + k % 4], in 32 bits.
template <int kSums, int kSigned, int kUnsigned>
__attribute__((always_inline)) inline void multiply_tiles() {
  asm volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "n"(kSums), "n"(kSigned), "n"(kUnsigned));
}

}  // namespace
}  // namespace warpchat
