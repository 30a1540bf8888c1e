// The processor's cores as the system describes them. Threads belong on the fast ones if cores differ.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace warpchat {

struct FastCores {
  uint32_t n = 1;              // fast cores that this process may run on; hyper-threads count once
  std::vector<uint32_t> cpus;  // their CPU numbers, with hyper-threads; empty if all cores are alike
};

// devices: Linux's folder of devices. Cores without information there count as alike.
FastCores fast_cores(std::span<const uint32_t> usable_cpus, const std::filesystem::path& devices);

// Result for this machine, determined once; n is no more than a control group's quota of processor time.
const FastCores& fast_cores();

uint32_t n_usable_cpus();  // within that quota, with hyper-threads and slow cores; at least 1

// Restricts the calling thread to these CPUs; no effect if the system refuses.
void stay_on(std::span<const uint32_t> cpus);

}  // namespace warpchat
