// Limits that Linux's control groups set to this process, of version 1 or 2, with those of all groups around its own.
#pragma once
#include <cstdint>
#include <filesystem>

namespace warpchat {

// root: where /proc and /sys are; another one in tests.

// Bytes that may still be used; UINT64_MAX: no limit.
uint64_t memory_left_in_control_groups(const std::filesystem::path& root = "/");

// Processors' worth of time that may be used; infinity: no limit.
double processors_of_control_groups(const std::filesystem::path& root = "/");

}  // namespace warpchat
