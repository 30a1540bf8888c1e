#include "engine/gpu/launch_choice.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "engine/profile.h"
#include "engine/token_source.h"

namespace warpchat {

namespace {

constexpr uint32_t kTokens = 15, kWarmTokens = 3;  // the first compile, record and raise the clocks

double seconds_a_token(Decoder& decoder) {
  const uint32_t n_tokens = std::min(kTokens, decoder.max_positions());
  const uint32_t n_warm = std::min(kWarmTokens, n_tokens - 1);
  const Token first = 0;
  decoder.forward({&first, 1}, 0, Logits::kLast);
  SamplingParams greedy;
  greedy.temperature = 0;
  const auto source = make_token_source(decoder, {greedy, {first}, 1, 0, n_tokens});
  const std::atomic<bool> stop = false;
  for (uint32_t i = 0; i < n_warm; ++i) source->next(stop);
  const auto start = std::chrono::steady_clock::now();
  for (uint32_t i = n_warm; i < n_tokens; ++i) source->next(stop);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / (n_tokens - n_warm);
}

}  // namespace

LaunchMode choose_launch_mode(Decoder& decoder, GpuDecoderSteps& steps) {
  Profile& profile = steps.profile();
  const bool profiled = profile.is_enabled();
  profile.set_enabled(false);
  std::vector<MeasuredLaunch> measured;
  for (const LaunchMode mode : kLaunchModes) {
    if (!steps.can_launch(mode)) continue;
    steps.set_launch_mode(mode, "");
    measured.push_back({mode, seconds_a_token(decoder)});
  }
  profile.set_enabled(profiled);
  const auto best = std::min_element(measured.begin(), measured.end(),
                                     [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  steps.set_launch_mode(best->mode, describe_choice(measured));
  return best->mode;
}

std::string describe_choice(std::vector<MeasuredLaunch> measured) {
  std::stable_sort(measured.begin(), measured.end(),
                   [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  std::string text = "fastest:";
  for (const MeasuredLaunch& launch : measured) {
    char number[32];
    std::snprintf(number, sizeof number, " %.2f", launch.seconds * 1e3);
    text += (text.back() == ':' ? " " : ", ") + std::string(name_of(launch.mode)) + number;
  }
  return text + " ms a token";
}

}  // namespace warpchat
