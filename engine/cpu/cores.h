// The processor's cores, as the system tells of them: where they are not all alike, threads belong on the fast ones.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace warpchat {

struct FastCores {
  uint32_t n = 1;              // cores that this process may run on, of the fast kind: hyper-threads count once
  std::vector<uint32_t> cpus;  // their numbers, hyper-threads too; empty where all are alike
};

// devices: Linux's folder of devices. What is not told there counts as alike.
FastCores fast_cores(std::span<const uint32_t> usable_cpus, const std::filesystem::path& devices);

// Those of this machine, asked for once.
const FastCores& fast_cores();

uint32_t n_usable_cpus();  // of this process, hyper-threads and slow cores too; at least 1

// The calling thread runs on these alone from now on; where the system refuses, as before.
void stay_on(std::span<const uint32_t> cpus);

}  // namespace warpchat
