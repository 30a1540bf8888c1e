// The tile registers of AMX as instructions: eight of 16 rows of 64 bytes. A register's number is part of the
// instruction, so it is a constant here. Rows and bytes of a row in use are those of the configuration (Intel 64 and
// IA-32 Software Developer's Manual, volume 1, chapter 18).
#pragma once
#include <cstddef>
#include <cstdint>

namespace warpchat {
namespace {

// config: 64 bytes. All registers become zero.
__attribute__((always_inline)) inline void configure_tiles(const void* config) {
  asm volatile("ldtilecfg %0" : : "m"(*static_cast<const uint8_t(*)[64]>(config)));
}
// The processor need not keep them any more, nor the system save them.
__attribute__((always_inline)) inline void release_tiles() { asm volatile("tilerelease"); }

template <int kTile>
__attribute__((always_inline)) inline void zero_tile() {
  asm volatile("tilezero %%tmm%c0" : : "n"(kTile));
}
template <int kTile>  // stride: bytes from row to row
__attribute__((always_inline)) inline void load_tile(const void* from, size_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "n"(kTile) : "memory");
}
template <int kTile>
__attribute__((always_inline)) inline void store_tile(void* to, size_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "n"(kTile) : "memory");
}

// sums[m][n] += the sum over k of signed_bytes[m][k] * unsigned_bytes[k / 4][4 * n + k % 4], in 32 bits.
template <int kSums, int kSigned, int kUnsigned>
__attribute__((always_inline)) inline void multiply_tiles() {
  asm volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "n"(kSums), "n"(kSigned), "n"(kUnsigned));
}

}  // namespace
}  // namespace warpchat
