// How fast the threads of a pool can read memory and do nothing else: what the speed of decoding is held against.
#pragma once
#include <cstdint>
#include <span>

namespace warpchat {

class ThreadPool;

// Bytes per second, the best of three stretches of up to 64 MiB, each read once, so that no cache helps where the
// memory is larger than the caches; takes some 20 ms. 0: the memory is below 32 MiB, too little to tell.
double read_bandwidth(ThreadPool& pool, std::span<const uint8_t> memory);

}  // namespace warpchat
