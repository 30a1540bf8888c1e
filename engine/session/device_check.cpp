#include "engine/session/device_check.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>

#include "engine/cpu/cpu_steps.h"
#include "engine/decoder.h"
#include "engine/driver/device_task.h"
#include "engine/gpu/gpu_steps.h"
#include "engine/session/check_model.h"

namespace warpchat {
namespace {

constexpr uint32_t kTokens = 32, kContext = 64, kSeed = 1;
// Bounds of the relative difference to the CPU's logits: about three times the measured values.
constexpr double kTokenBound = 2e-3, kPrefillBound = 1e-2;

using Logits2d = std::vector<float>;  // [kTokens, n_vocab]

Logits2d token_by_token(Decoder& decoder, std::span<const Token> tokens) {
  Logits2d logits;
  for (uint32_t i = 0; i < tokens.size(); ++i) {
    decoder.forward(tokens.subspan(i, 1), i, Logits::kLast);
    const std::span<const float> row = decoder.logits(0);
    logits.insert(logits.end(), row.begin(), row.end());
  }
  return logits;
}

Logits2d at_once(Decoder& decoder, std::span<const Token> tokens) {
  decoder.forward(tokens, 0, Logits::kAll);
  Logits2d logits;
  for (uint32_t i = 0; i < tokens.size(); ++i) {
    const std::span<const float> row = decoder.logits(i);
    logits.insert(logits.end(), row.begin(), row.end());
  }
  return logits;
}

Logits2d by_itself(Decoder& decoder, std::span<const Token> tokens) {
  Logits2d logits;
  decoder.steps().teacher_force(
      tokens, 0, [&](std::span<const float> row) { logits.insert(logits.end(), row.begin(), row.end()); });
  return logits;
}

// Largest relative difference of any token; infinite if a logit is not finite.
double largest_difference(std::span<const float> got, std::span<const float> expected, uint32_t n_vocab) {
  double largest = got.size() == expected.size() ? 0 : INFINITY;
  for (size_t at = 0; at + n_vocab <= std::min(got.size(), expected.size()); at += n_vocab) {
    double difference = 0, norm = 0;
    for (size_t i = at; i < at + n_vocab; ++i) {
      const double d = static_cast<double>(got[i]) - expected[i];
      difference += d * d, norm += static_cast<double>(expected[i]) * expected[i];
    }
    const double relative = std::sqrt(difference / norm);
    largest = std::isfinite(relative) ? std::max(largest, relative) : INFINITY;
  }
  return largest;
}

// Results so far, for the waiting thread. The last row may be in progress.
struct Shared {
  std::mutex mutex;
  DeviceCheck check;
};

class Checker {
 public:
  Checker(const DeviceChoice& device, std::shared_ptr<Shared> shared)
      : device_(device), shared_(std::move(shared)), model_(kSeed), tokens_(model_.tokens(kTokens)) {}

  void run() {
    cpu_ = on_cpu();
    std::unique_ptr<Steps> steps;
    check("stream", "the CPU", kTokenBound, [&] {
      steps = make_gpu_steps(model_.config(), model_.tensors(),
                             {.device = device_,
                              .sizes = {.context = kContext, .batch = kTokens},
                              .launch = LaunchMode::kStream,
                              .drafts = false});
      decoder_.emplace(model_.config(), std::move(steps));
      return streamed_ = token_by_token(*decoder_, tokens_);
    });
    if (!decoder_) return;
    check("prefill", "the CPU", kPrefillBound, [&] { return at_once(*decoder_, tokens_); });
    check_mode(LaunchMode::kGraph, [&] { return token_by_token(*decoder_, tokens_); });
    if (decoder_->steps().can_launch(LaunchMode::kPersistent))
      check_mode(LaunchMode::kPersistent, [&] { return by_itself(*decoder_, tokens_); });
  }

 private:
  Logits2d on_cpu() const {
    CpuOptions options;
    options.context = kContext, options.threads = 1;
    Decoder decoder(model_.config(), make_cpu_steps(model_.config(), model_.tensors(), options));
    return token_by_token(decoder, tokens_);
  }

  void check_mode(LaunchMode mode, const std::function<Logits2d()>& compute) {
    check(std::string(name_of(mode)), "stream, to the bit", 0, [&] {
      decoder_->steps().set_launch_mode(mode);
      return compute();
    });
  }

  void check(const std::string& mode, const std::string& against, double bound,
             const std::function<Logits2d()>& compute) {
    DeviceCheck::Row row{mode, against, {}, ""};
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->check.rows.push_back(row);
    }
    try {
      const Logits2d logits = compute();
      const std::span<const float> expected = bound == 0 ? streamed_ : cpu_;
      row.difference = largest_difference(logits, expected, model_.config().n_vocab);
      const bool passes = bound == 0 ? std::ranges::equal(logits, expected) : *row.difference <= bound;
      if (!passes) row.fault = "its numbers are wrong";
    } catch (const Error& error) {
      row.fault = error.what();
    }
    const std::lock_guard lock(shared_->mutex);
    shared_->check.rows.back() = row;
  }

  DeviceChoice device_;
  std::shared_ptr<Shared> shared_;
  CheckModel model_;
  std::vector<Token> tokens_;
  std::optional<Decoder> decoder_;
  Logits2d cpu_, streamed_;
};

}  // namespace

std::string DeviceCheck::fault() const {
  for (const Row& row : rows)
    if (!row.fault.empty()) return row.mode + ": " + row.fault;
  return "";
}

DeviceCheck check_device(const DeviceChoice& device) {
  const auto shared = std::make_shared<Shared>();
  const DeviceTask<bool> checking(Context::watch_of(*device.table, device.gpu), [device, shared] {
    Checker(device, shared).run();
    return true;
  });
  std::string loss;
  try {
    checking.get();
  } catch (const Error& error) {
    loss = error.what();
  }
  const std::lock_guard lock(shared->mutex);
  DeviceCheck check = shared->check;
  if (check.rows.empty()) check.rows.push_back({"stream", "the CPU", {}, ""});
  if (!loss.empty() && check.rows.back().fault.empty()) check.rows.back().fault = loss;
  return check;
}

}  // namespace warpchat
