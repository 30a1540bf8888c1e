#include "ptx/emulator/profile.h"

#include <stdexcept>

namespace ptx::emulator {
namespace {

struct TargetRow {
  uint32_t target, threads_per_sm, blocks_per_sm, shared_optin,
      shared_per_sm;  // CUDA C++ Programming Guide, compute capabilities
};
constexpr TargetRow kTargets[] = {
    {75, 1024, 16, 64, 64},  {80, 2048, 32, 163, 164}, {86, 1536, 16, 99, 100},   {87, 1536, 16, 163, 164},
    {89, 1536, 24, 99, 100}, {90, 2048, 32, 227, 228}, {100, 2048, 32, 227, 228}, {120, 1536, 24, 99, 100},
};

uint32_t number_in(std::string_view text, std::string_view whole) {
  uint32_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '9' || value > 100000)
      throw std::invalid_argument("cannot read a number in profile " + std::string(whole));
    value = value * 10 + static_cast<uint32_t>(c - '0');
  }
  if (text.empty()) throw std::invalid_argument("a number is missing in profile " + std::string(whole));
  return value;
}

void set_target(Profile& profile, uint32_t target, std::string_view whole) {
  for (const TargetRow& row : kTargets) {
    if (row.target != target) continue;
    profile.target = target;
    profile.max_threads_per_sm = row.threads_per_sm;
    profile.max_blocks_per_sm = row.blocks_per_sm;
    profile.shared_bytes_per_block_optin = row.shared_optin * 1024;
    profile.shared_bytes_per_sm = row.shared_per_sm * 1024;
    return;
  }
  throw std::invalid_argument("unknown target in profile " + std::string(whole) +
                              ": expected sm_75, 80, 86, 87, 89, 90, 100 or 120");
}

}  // namespace

Profile profile_named(std::string_view text) {
  Profile profile;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    if (part.starts_with("sm_"))
      set_target(profile, number_in(part.substr(3), text), text);
    else if (part.starts_with("sms="))
      profile.sm_count = number_in(part.substr(4), text);
    else
      throw std::invalid_argument("unknown part " + std::string(part) + " in profile " + std::string(text) +
                                  ": expected sm_XX or sms=N");
  }
  if (profile.sm_count == 0) throw std::invalid_argument("profile " + std::string(text) + " has no processor");
  return profile;
}

}  // namespace ptx::emulator
