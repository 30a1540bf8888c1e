// Steps that forward every call to a device's steps: the base of those that observe or change some of them. Every new
// member of Steps needs an override here, or its default would replace the device's.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/steps.h"
#include "engine/token_source.h"

namespace warpchat {

class ForwardingSteps : public Steps {
 public:
  explicit ForwardingSteps(Steps& steps) : steps_(steps) {}

  uint32_t max_columns() const override { return steps_.max_columns(); }
  uint32_t max_logits_columns() const override { return steps_.max_logits_columns(); }
  uint32_t max_sequences() const override { return steps_.max_sequences(); }
  uint32_t max_positions() const override { return steps_.max_positions(); }
  std::string description() const override { return steps_.description(); }
  uint32_t context_that_fits() const override { return steps_.context_that_fits(); }

  uint32_t n_pages() const override { return steps_.n_pages(); }
  void set_pages(uint32_t sequence, std::span<const uint32_t> pages) override { steps_.set_pages(sequence, pages); }
  void copy_page(uint32_t from, uint32_t to) override { steps_.copy_page(from, to); }
  uint32_t n_states() const override { return steps_.n_states(); }
  void copy_state(uint32_t from, uint32_t to) override { steps_.copy_state(from, to); }

  Profile& profile() override { return steps_.profile(); }
  std::vector<MemoryUse> memory() const override { return steps_.memory(); }
  uint64_t weight_bytes_per_token() const override { return steps_.weight_bytes_per_token(); }
  std::vector<KernelText> kernels() const override { return steps_.kernels(); }
  bool is_gpu() const override { return steps_.is_gpu(); }
  bool is_emulated() const override { return steps_.is_emulated(); }
  std::string_view launch_of(uint32_t n_sequences, bool is_constrained) const override {
    return steps_.launch_of(n_sequences, is_constrained);
  }
  bool can_launch(LaunchMode mode) const override { return steps_.can_launch(mode); }
  void set_launch_mode(LaunchMode mode) override { steps_.set_launch_mode(mode); }
  bool is_launch_mode_final() const override { return steps_.is_launch_mode_final(); }
  void set_measuring(bool on) override { steps_.set_measuring(on); }
  bool can_verify_draft() override { return steps_.can_verify_draft(); }

  void begin(std::span<const Run> runs) override { steps_.begin(runs); }
  bool run(const Operation& operation) override { return steps_.run(operation); }
  bool read_columns(Buffer buffer, uint32_t first, std::span<float> values) override {
    return steps_.read_columns(buffer, first, values);
  }
  bool write_columns(Buffer buffer, uint32_t first, std::span<const float> values) override {
    return steps_.write_columns(buffer, first, values);
  }
  PassEnd end_pass() override { return steps_.end_pass(); }
  void wait() override { steps_.wait(); }
  DeviceSampler* sampler() override { return steps_.sampler(); }
  std::unique_ptr<TokenSource> token_source(Decoder& decoder, const TokenRun& run) override {
    return steps_.token_source(decoder, run);
  }
  bool teacher_force(std::span<const Token> tokens, uint32_t position,
                     const std::function<void(std::span<const float>)>& take) override {
    return steps_.teacher_force(tokens, position, take);
  }
  std::span<const float> read_logits(uint32_t column) override { return steps_.read_logits(column); }

 private:
  Steps& steps_;
};

}  // namespace warpchat
