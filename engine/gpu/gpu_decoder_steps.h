// The GPU steps class. Members and launch modes are implemented in gpu_steps.cpp, passes in gpu_pass.cpp.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/device_sampler.h"
#include "engine/driver/device_task.h"
#include "engine/gpu/compiled_pass.h"
#include "engine/gpu/gpu_memory.h"
#include "engine/gpu/gpu_sampler.h"
#include "engine/gpu/gpu_steps.h"
#include "engine/gpu/launch_choice.h"
#include "engine/gpu/launch_timer.h"
#include "engine/gpu/layer_graphs.h"
#include "engine/gpu/pass_layout.h"
#include "engine/gpu/persistent_launch.h"
#include "engine/gpu/stamp_profile.h"
#include "engine/profile.h"
#include "kernels/common/error_word.h"

namespace warpchat {

class GpuSteps final : public Steps, private DeviceSampler {
 public:
  GpuSteps(const ModelConfig& config, const ModelTensors& tensors, const GpuOptions& options,
           const MemoryBudget& budget, ContextPointer context);
  ~GpuSteps() override;

  uint32_t max_columns() const override { return sizes_.columns(); }
  uint32_t max_logits_columns() const override { return sizes_.logits_columns(); }
  uint32_t max_sequences() const override { return sizes_.sequences; }
  uint32_t max_positions() const override { return sizes_.context; }
  uint32_t context_that_fits() const override;
  uint32_t n_pages() const override { return static_cast<uint32_t>(cache_plan_.pages); }
  void set_pages(uint32_t sequence, std::span<const uint32_t> pages) override;
  void copy_page(uint32_t from, uint32_t to) override;
  uint32_t n_states() const override { return sizes_.n_states(config_); }
  void copy_state(uint32_t from, uint32_t to) override;
  std::string description() const override;
  Profile& profile() override { return profile_; }
  std::vector<MemoryUse> memory() const override;
  uint64_t weight_bytes_per_token() const override { return weight_bytes_per_token_; }
  std::vector<KernelText> kernels() const override { return texts_.list(); }
  bool is_gpu() const override { return true; }
  void set_measuring(bool on) override;
  void set_launch_mode(LaunchMode mode) override;
  bool is_launch_mode_final() const override { return !choice_ || choice_->is_settled(); }
  bool can_launch(LaunchMode mode) const override {
    return mode != LaunchMode::kPersistent || (context_->device().can_cooperate && !sizes_.cache.has_f32());
  }
  bool is_emulated() const override { return context_->device().is_emulated; }
  std::string_view launch_of(uint32_t n_sequences, bool is_constrained) const override {
    const LaunchMode mode = launch_mode_;
    const bool is_alone = n_sequences == 1 && !is_constrained;
    return name_of(!is_alone && mode == LaunchMode::kPersistent ? LaunchMode::kGraph : mode);
  }

  void stop_persistent_launch() override;
  std::string loss() const override { return context_->watch()->loss(); }
  void enter_worker_thread() override { make_this_thread_replaceable(); }
  bool can_verify_draft() override;
  void begin(std::span<const Run> runs) override;
  bool run(const Operation& operation) override;
  PassEnd end_pass() override;
  void wait() override;
  bool read_columns(Buffer buffer, uint32_t first, std::span<float> values) override;
  bool write_columns(Buffer buffer, uint32_t first, std::span<const float> values) override;
  std::span<const float> read_logits(uint32_t column) override;
  DeviceSampler* sampler() override { return this; }
  std::unique_ptr<TokenSource> token_source(Decoder& decoder, const TokenRun& run) override;
  bool teacher_force(std::span<const Token> tokens, uint32_t position,
                     const std::function<void(std::span<const float>)>& take) override;

 private:
  void start(std::span<const Start> columns) override;
  void sample() override;
  void begin_next() override;
  std::span<const Token> read() override;

  struct Slot {  // staging for a pass's input or page table entries
    HostMemory bytes;
    GpuEvent copied;
  };
  CompiledPass compiled_pass(PassKind kind);
  CompiledPass& pass_of(PassKind kind) { return passes_[static_cast<size_t>(kind)]; }
  void prepare_first_token();
  void await_first_token();
  void place_weights(const ModelTensors& tensors, const GpuOptions& options);
  void upload_pass(PassLayout layout);
  void begin_pass();
  void run_logits(const Operation& operation);
  void launch(CompiledPass& pass, const Operation& operation);  // of the current segment
  void launch(const BoundLaunch& bound, uint32_t layer);
  Argument argument_of(const Operand& operand, uint32_t layer, uint32_t first, uint32_t n_columns) const;
  bool keep_wanted(const WantedColumns& o);
  bool has_f16(Buffer buffer, const PassLayout::Segment& segment) {  // instead of floats
    return buffer == Buffer::kMixed && pass_of(segment.kind).list().writes_f16();
  }
  struct ColumnRange {  // columns that are adjacent in the pass and in the buffers
    const PassLayout::Segment& segment;
    uint32_t first, n_columns;  // in the buffers
  };
  std::vector<ColumnRange> stretches(uint32_t first, uint64_t n_columns) const;  // columns of the pass
  void read_f16(const PassLayout::Segment& segment, Buffer buffer, uint32_t column, std::span<float> values);
  uint32_t width_of(Buffer buffer) const { return shape_of(buffer, config_).width; }
  uint64_t column_of(Buffer buffer, uint64_t column) const {
    return at_[buffer] + column * column_bytes_[static_cast<size_t>(buffer)];
  }
  // Address of a column's f16 values in a segment of a buffer of float columns. The scales follow the last column.
  uint64_t halves_of(Buffer buffer, const PassLayout::Segment& segment, uint32_t column) const {
    return column_of(buffer, segment.first) + column * f16_activation_size(width_of(buffer)) * sizeof(uint16_t);
  }
  void upload(uint64_t to, std::span<const uint32_t> words);
  void place_buffers();
  void place_page_tables();
  uint64_t pass_address() const { return activations_.address() + plan_.pass; }
  uint64_t page_table(uint32_t sequence) const {
    return activations_.address() + plan_.page_tables +
           uint64_t{sequence} * sizes_.pages_per_sequence() * sizeof(uint32_t);
  }
  uint64_t state_address(uint32_t sequence) const { return states_.address() + sequence * config_.delta_state_bytes(); }
  bool is_of_graphs() const {  // whether the pass runs as graphs
    return pass_.has_prompts()                  ? false
           : segment_.kind == PassKind::kDecode ? launch_mode_ == LaunchMode::kGraph
           : choice_                            ? choice_->has_worked(LaunchMode::kGraph)
                                                : launch_mode_ != LaunchMode::kStream;
  }
  void collect_profile();
  std::span<const PassKind> kinds_beside_persistent() const;
  bool is_ready(LaunchMode mode);  // starts compiling what is missing
  void prepare_persistent();
  PersistentSpec persistent_spec() const;
  PersistentLaunch& persistent();
  std::unique_ptr<TokenSource> persistent_tokens(const TokenRun& run);
  void verify(LaunchMode mode, Decoder& decoder, const TokenRun& run);
  std::vector<float> logits_of_token(LaunchMode mode, Decoder& decoder, Token token, uint32_t position);
  uint32_t tokens_per_launch(const StampProfile& times, const StampRequest& stamps) const;  // maximum
  void check(const ErrorWord& word);

  ModelConfig config_;
  DecoderFormats formats_;
  GpuSizes sizes_;
  MemoryBudget budget_;
  ContextPointer context_;
  Stream stream_;
  Profile profile_;
  KernelTexts texts_;
  LaunchTimer timer_;
  ActivationPlan plan_;
  CachePlan cache_plan_;
  DeviceMemory activations_, cache_, states_, weights_;  // states_: [n_states()], for delta nets
  std::atomic<LaunchMode> launch_mode_;
  std::unique_ptr<LaunchChoice> choice_;  // null once the mode is fixed
  LayerGraphs graphs_;
  const Network network_;
  std::array<CompiledPass, kPassKinds> passes_;
  PassAddresses at_;                             // tokens, positions, tables and states: of the current pass
  std::array<uint64_t, kBuffers> column_bytes_;  // 0: not in columns
  uint64_t weight_bytes_per_token_ = 0;
  std::array<Slot, 4> slots_;
  HostMemory logits_, error_;
  GpuSampler sampler_;
  DeviceTask<std::unique_ptr<Module>> persistent_module_;  // being compiled, or compiled
  std::unique_ptr<PersistentLaunch> persistent_;
  std::atomic<PersistentLaunch*> launch_to_end_ = nullptr;  // persistent_, for other threads
  std::shared_ptr<GpuEvent> pass_began_;                    // for passes with prompts, else null
  PassLayout pass_;
  PassLayout::Segment segment_{};  // the part being launched
  int64_t logits_row_ = 0;         // of its first column
  uint32_t next_slot_ = 0;
  std::vector<uint32_t> pages_;  // page tables: [sequences, pages_per_sequence]
  bool has_arrived_ = false;     // the pass's logits are on the host
  std::atomic<bool> counts_ = false;
  std::array<bool, kLaunchModes.size()> is_verified_;
  bool has_drafts_;
  uint64_t loss_listener_ = 0;
};

}  // namespace warpchat
