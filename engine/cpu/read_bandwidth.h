// Bandwidth of a pool's threads when they only read memory: the roofline of decoding.
#pragma once
#include <cstdint>
#include <span>

namespace warpchat {

class ThreadPool;

// Bytes per second of repeated reads: the best of three rounds over up to 256 MiB, which a large cache may hold, or of
// three stretches of 64 MiB, each read once, if there is more. 0: less than 32 MiB, too little to measure.
double read_bandwidth(ThreadPool& pool, std::span<const uint8_t> memory);

}  // namespace warpchat
