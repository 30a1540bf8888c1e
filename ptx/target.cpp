#include "ptx/target.h"

#include <algorithm>
#include <charconv>

#include "ptx/error.h"

namespace ptx {
namespace {

struct TargetRow {
  int sm;
  Version version;  // oldest version that supports it
  TargetLimits limits;
};
constexpr uint32_t kKiB = 1024;

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; PTX ISA, "Release Notes".
constexpr TargetRow kTargets[] = {
    {75, {63}, {64 * kKiB, 1024}},   {80, {70}, {163 * kKiB, 2048}},  {86, {71}, {99 * kKiB, 1536}},
    {87, {74}, {163 * kKiB, 1536}},  {88, {90}, {163 * kKiB, 1536}},  {89, {78}, {99 * kKiB, 1536}},
    {90, {78}, {227 * kKiB, 2048}},  {100, {86}, {227 * kKiB, 2048}}, {103, {88}, {227 * kKiB, 2048}},
    {110, {90}, {227 * kKiB, 1536}}, {120, {87}, {99 * kKiB, 1536}},  {121, {88}, {99 * kKiB, 1536}},
};

const TargetRow* find(int sm) {
  for (const TargetRow& row : kTargets) {
    if (row.sm == sm) return &row;
  }
  return nullptr;
}

const TargetRow& row_of(Target target) {
  if (const TargetRow* row = find(target.sm)) return *row;
  throw Error("ptx: target " + spell(target) + " is unknown");
}

}  // namespace

std::string spell(Version version) {
  return std::to_string(version.number / 10) + "." + std::to_string(version.number % 10);
}

std::string spell(Target target) { return "sm_" + std::to_string(target.sm) + (target.specific ? "a" : ""); }

Target target_of_capability(int major, int minor) {
  const int sm = major * 10 + minor;
  if (find(sm)) return {sm};
  // A newer minor revision also runs code for older ones.
  for (int older = minor - 1; major >= 8 && older >= 0; --older) {
    if (find(major * 10 + older)) return {major * 10 + older};
  }
  throw Error("ptx: compute capability " + std::to_string(major) + "." + std::to_string(minor) +
              " is no target of this builder, which knows 7.5 to 12.1");
}

Target parse_target(std::string_view name) {
  std::string_view digits = name.starts_with("sm_") ? name.substr(3) : std::string_view();
  const bool specific = digits.ends_with('a');
  if (specific) digits.remove_suffix(1);
  int sm = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), sm);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || !find(sm)) {
    throw Error("ptx: target \"" + std::string(name) + "\" is unknown; expected one like sm_75 or sm_90a");
  }
  return {sm, specific};
}

bool runs(Target target, Target minimum) {
  if (minimum.specific) return target == minimum;
  return target.sm >= minimum.sm;
}

const TargetLimits& limits(Target target) { return row_of(target).limits; }

Version oldest_version(Target target) {
  constexpr Version kFirstSpecific{80};  // first version with sm_90a
  const Version version = row_of(target).version;
  return target.specific ? std::max(version, kFirstSpecific) : version;
}

}  // namespace ptx
