// The emulated device: target, size and limits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ptx::emulator {

struct Profile {
  uint32_t target = 90;   // sm_90
  uint32_t sm_count = 4;  // small, so that even small grids share multiprocessors
  uint32_t max_threads_per_block = 1024;
  uint32_t max_threads_per_sm = 2048;
  uint32_t max_blocks_per_sm = 32;
  uint32_t shared_bytes_per_block = 48 * 1024;  // without the opt-in
  uint32_t shared_bytes_per_block_optin = 227 * 1024;
  uint32_t shared_bytes_per_sm = 228 * 1024;
  uint32_t registers_per_sm = 64 * 1024;
  uint64_t memory_bytes = 16ull << 30;
  uint32_t local_bytes_limit = 512 * 1024;  // per thread
  bool operator==(const Profile&) const = default;
};

// "sm_90" or "sm_86,sms=2"; throws std::invalid_argument that names the unknown part.
Profile profile_named(std::string_view text);

}  // namespace ptx::emulator
