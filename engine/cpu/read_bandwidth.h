// How fast the threads of a pool can read memory and do nothing else: what the speed of decoding is held against.
#pragma once
#include <cstdint>
#include <span>

namespace warpchat {

class ThreadPool;

// Bytes per second, as when all of the memory is read again and again: the best of three rounds over up to 256 MiB,
// which a large cache may hold, or of three stretches of 64 MiB, each read once, where there is more. 0: the memory is
// below 32 MiB, too little to tell.
double read_bandwidth(ThreadPool& pool, std::span<const uint8_t> memory);

}  // namespace warpchat
