// AMX tile registers in memory, for processors without them: the functions of engine/cpu/kernels/tiles.h. By Intel's
// manual, using a register against its configuration ends the program; so does this.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace warpchat {
namespace {

constexpr int kTileRegisters = 8;
constexpr uint32_t kMaxTileRows = 16, kMaxTileRowBytes = 64;

struct TileRegister {
  uint32_t rows, row_bytes;  // in use; both zero: it is not configured
  uint8_t bytes[kMaxTileRows][kMaxTileRowBytes];
};
thread_local TileRegister tile_registers[kTileRegisters];
thread_local bool tiles_are_configured = false;

inline void must(bool holds) {
  if (!holds) std::abort();
}
template <int kTile>
TileRegister& tile_register() {
  static_assert(kTile >= 0 && kTile < kTileRegisters);
  must(tiles_are_configured && tile_registers[kTile].rows > 0);
  return tile_registers[kTile];
}

inline void configure_tiles(const void* config) {
  uint8_t bytes[64];
  __builtin_memcpy(bytes, config, sizeof bytes);
  must(bytes[0] == 1 && bytes[1] == 0);               // palette, first row
  for (int i = 2; i < 16; ++i) must(bytes[i] == 0);   // reserved
  for (int i = 32; i < 48; ++i) must(bytes[i] == 0);  // row bytes of registers beyond palette 1
  for (int i = 56; i < 64; ++i) must(bytes[i] == 0);  // rows of these registers
  __builtin_memset(tile_registers, 0, sizeof tile_registers);
  for (int i = 0; i < kTileRegisters; ++i) {
    TileRegister& tile = tile_registers[i];
    tile.rows = bytes[48 + i];
    tile.row_bytes = bytes[16 + 2 * i] | bytes[17 + 2 * i] << 8;
    must(tile.rows <= kMaxTileRows && tile.row_bytes <= kMaxTileRowBytes && (tile.rows == 0) == (tile.row_bytes == 0));
  }
  tiles_are_configured = true;
}
inline void release_tiles() { tiles_are_configured = false; }

template <int kTile>
void zero_tile() {
  __builtin_memset(tile_register<kTile>().bytes, 0, sizeof(TileRegister::bytes));
}
template <int kTile>
void load_tile(const void* from, size_t stride) {
  TileRegister& tile = tile_register<kTile>();
  zero_tile<kTile>();
  for (uint32_t row = 0; row < tile.rows; ++row)
    __builtin_memcpy(tile.bytes[row], static_cast<const uint8_t*>(from) + row * stride, tile.row_bytes);
}
template <int kTile>
void store_tile(void* to, size_t stride) {
  const TileRegister& tile = tile_register<kTile>();
  for (uint32_t row = 0; row < tile.rows; ++row)
    __builtin_memcpy(static_cast<uint8_t*>(to) + row * stride, tile.bytes[row], tile.row_bytes);
}

template <int kSums, int kSigned, int kUnsigned>
void multiply_tiles() {
  static_assert(kSums != kSigned && kSums != kUnsigned && kSigned != kUnsigned);
  TileRegister &sums = tile_register<kSums>(), &a = tile_register<kSigned>(), &b = tile_register<kUnsigned>();
  must(a.rows == sums.rows && b.row_bytes == sums.row_bytes && a.row_bytes == 4 * b.rows && sums.row_bytes % 4 == 0);
  for (uint32_t m = 0; m < sums.rows; ++m)
    for (uint32_t n = 0; n < sums.row_bytes; n += 4) {
      int32_t sum;
      __builtin_memcpy(&sum, &sums.bytes[m][n], sizeof sum);
      for (uint32_t k = 0; k < a.row_bytes; ++k)
        sum += static_cast<int8_t>(a.bytes[m][k]) * int32_t{b.bytes[k / 4][n + k % 4]};
      __builtin_memcpy(&sums.bytes[m][n], &sum, sizeof sum);
    }
}

}  // namespace
}  // namespace warpchat
