// The GPU steps class. Members and launch modes are implemented in gpu_steps.cpp, passes in gpu_pass.cpp.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/device_sampler.h"
#include "engine/driver/device_task.h"
#include "engine/gpu/gpu_memory.h"
#include "engine/gpu/gpu_sampler.h"
#include "engine/gpu/gpu_steps.h"
#include "engine/gpu/launch_choice.h"
#include "engine/gpu/launch_timer.h"
#include "engine/gpu/layer_graphs.h"
#include "engine/gpu/pass_kernels.h"
#include "engine/gpu/pass_layout.h"
#include "engine/gpu/persistent_launch.h"
#include "engine/gpu/phase_profile.h"
#include "engine/profile.h"
#include "kernels/error_word.h"
#include "kernels/persistent_tables.h"

namespace warpchat {

struct Arguments {
  std::array<Argument, 32> items;
  size_t n = 0;
  Arguments(std::initializer_list<Argument> list) {
    for (const Argument& argument : list) add(argument);
  }
  void add(const Argument& argument) { items.at(n++) = argument; }
  void add_unless_null(uint64_t address) {
    if (address != 0) add(Argument::address(address));
  }
};

struct Input {  // input of matrix products
  Buffer x;
  uint64_t gamma;        // 0: no norm
  bool has_f16 = false;  // x contains f16 values of its columns, then their scales, instead of floats
};
struct Product {  // matrix product with an input: device addresses, 0 if absent
  const ProductStep& step;
  uint64_t weights, up, bias;
  Buffer y;
};

inline uint64_t address_of(Buffer buffer) { return reinterpret_cast<uint64_t>(buffer.data); }
inline Argument at(uint64_t address) { return Argument::address(address); }
inline Argument at(Buffer buffer) { return at(address_of(buffer)); }
// Address of a column's f16 values in a buffer of float columns. The scales follow the last column.
inline uint64_t halves_of(Buffer buffer, uint32_t column) {
  return address_of(buffer) + column * f16_activation_size(buffer.width) * sizeof(uint16_t);
}
inline uint64_t column_of(Buffer buffer, uint32_t column) {
  return address_of(buffer) + uint64_t{column} * buffer.width * sizeof(float);
}

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
  const PassState& buffers() const override { return state_; }
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
  std::string_view launch_of(uint32_t n_sequences) const override {
    const LaunchMode mode = launch_mode_;
    return name_of(n_sequences > 1 && mode == LaunchMode::kPersistent ? LaunchMode::kGraph : mode);
  }

  void stop_persistent_launch() override;
  std::string loss() const override { return context_->watch()->loss(); }
  void enter_worker_thread() override { make_this_thread_replaceable(); }
  bool can_verify_draft() override;
  void begin(std::span<const Run> runs) override;
  void embed(Buffer hidden) override;
  void norm_qkv(uint32_t layer, Buffer hidden, Buffer q, Buffer k, Buffer v) override;
  void attention(uint32_t layer, Buffer q, Buffer k, Buffer v, Buffer mixed) override;
  bool keep_wanted(Buffer mixed, Buffer hidden) override;
  void output_residual(uint32_t layer, Buffer mixed, Buffer hidden) override;
  void norm_delta(uint32_t layer, Buffer hidden, const DeltaBuffers& x) override;
  void conv_step(uint32_t layer, const DeltaBuffers& x) override;
  void delta_step(uint32_t layer, const DeltaBuffers& x) override;
  void norm_gate_up(uint32_t layer, Buffer hidden, Buffer inner) override;
  void down_residual(uint32_t layer, Buffer inner, Buffer hidden) override;
  void norm_route(uint32_t layer, Buffer hidden, Buffer scores) override;
  void experts_residual(uint32_t layer, Buffer hidden) override;
  void norm_logits(Buffer hidden, Buffer logits) override;
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
  PassKernels pass_kernels(PassKind kind);
  PassKernels& kernels_of(PassKind kind) { return passes_[static_cast<size_t>(kind)]; }
  const PassKernels::Steps& pass() { return kernels_of(segment_.kind).steps(); }
  void prepare_first_token();
  void await_first_token();
  void place_weights(const ModelTensors& tensors, const GpuOptions& options);
  void upload_pass(PassLayout layout);
  void begin_pass();
  template <class Body>
  void each_part(const Body& body);
  template <class Body>
  void for_each_state_column(const Body& body);
  Buffer segment_view(Buffer buffer) const;
  Buffer buffer(uint64_t offset, uint32_t width) const {
    return {reinterpret_cast<void*>(activations_.address() + offset), width};
  }
  void order_assignments(const GpuStep& step, const ExpertOrderSpec& spec, uint64_t experts);
  struct RoutedProduct {  // matrix product with experts
    uint64_t weights, up;
    Input input;  // one column per token, or per assignment
    Buffer y;     // one column per assignment
  };
  void multiply_routed(const GpuStep& step, const ExpertProductSpec& spec, const RoutedProduct& product,
                       uint64_t experts);
  void multiply_grouped(const GpuStep& step, const GemmSpec& spec, const RoutedProduct& product);
  void end_layer(uint32_t layer);
  bool has_f16(Buffer buffer, const PassLayout::Segment& segment) {  // instead of floats
    return buffer.data == state_.mixed.data && writes_f16(kernels_of(segment.kind).specs().attention);
  }
  struct ColumnRange {  // columns that are adjacent in the pass and in the buffers
    const PassLayout::Segment& segment;
    uint32_t first, n_columns;  // in the buffers
  };
  std::vector<ColumnRange> stretches(uint32_t first, uint64_t n_columns) const;  // columns of the pass
  void read_f16(const PassLayout::Segment& segment, Buffer buffer, uint32_t column, std::span<float> values);
  struct Projections {
    Buffer q, k, v;
  };
  // Adds q, k, v of the part's columns from `first` on, and the norm weights.
  void add_projections(Arguments& arguments, uint32_t layer, const Projections& x, uint32_t first) const;
  void rope_scatter(uint32_t layer, const Projections& x);
  void attend(uint32_t layer, const Projections& x, Buffer mixed);
  void upload(uint64_t to, std::span<const uint32_t> words);
  void place_page_tables();
  void run(const GpuStep& step, const Arguments& arguments, ptx::Dimensions blocks, uint64_t bytes);
  void run(const GpuStep& step, Arguments arguments);  // launches all columns of the part
  void run_prompt(const GpuStep& step, Arguments arguments, ptx::Dimensions blocks);  // blocks cover all columns
  void delta_chunks(uint32_t layer, const DeltaBuffers& x);                           // for a prompt part
  // Computes products of one input, after converting it to f16 or integers where a product needs that.
  void multiply(PassKernels& kernels, const Input& input, std::initializer_list<Product> products, uint32_t columns,
                const FusedSteps& fused = {});
  void multiply(const Input& input, std::initializer_list<Product> products,  // for the current part
                const FusedSteps& fused = {}) {
    multiply(kernels_of(segment_.kind), input, products, segment_.n_columns, fused);
  }
  // Computes those of the products that this launch fuses.
  void multiply_fused(const FusedStep& fused, const Input& input, std::initializer_list<Product> products,
                      uint32_t columns);
  void multiply_halves(const GpuStep& step, const Input& input, std::span<const Product* const> products,
                       uint32_t columns);
  void multiply(const Product& product, const Input& input, uint32_t columns);  // input is already converted
  void add_halves(Arguments& arguments, const Input& input, uint32_t columns) const;
  void convert_to_f16(const GpuStep& step, const Input& input, uint32_t columns);
  void quantize_activations(const GpuStep& step, const Input& input, uint32_t columns);
  uint64_t halves() const { return activations_.address() + plan_.halves; }  // latest conversion
  uint64_t half_factors() const { return activations_.address() + plan_.half_factors; }
  uint64_t integers() const { return activations_.address() + plan_.integers; }  // latest conversion
  uint64_t integer_factors() const { return activations_.address() + plan_.integer_factors; }
  uint64_t pass_address() const { return activations_.address() + plan_.pass; }
  uint64_t page_tables() const { return pass_address() + segment_.first_sequence * sizeof(uint64_t); }
  uint64_t states() const { return page_tables() + pass_.sequences.size() * sizeof(uint64_t); }
  uint64_t tokens() const {
    return pass_address() + 2 * pass_.sequences.size() * sizeof(uint64_t) + segment_.first * sizeof(uint32_t);
  }
  uint64_t positions() const { return tokens() + pass_.n_columns() * sizeof(uint32_t); }
  uint64_t logits_row(uint64_t row) const {  // norm_logits may need room for three rows before the first
    return column_of(state_.logits, static_cast<uint32_t>(row) + (config_.hidden % 4 == 0 ? 0 : 3));
  }
  uint64_t page_table(uint32_t sequence) const {
    return activations_.address() + plan_.page_tables +
           uint64_t{sequence} * sizes_.pages_per_sequence() * sizeof(uint32_t);
  }
  uint64_t state_address(uint32_t sequence) const { return states_.address() + sequence * config_.delta_state_bytes(); }
  uint64_t error_address() const { return activations_.address() + plan_.error; }
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
  uint32_t tokens_per_launch(const PhaseProfile& times, const StampRequest& stamps) const;  // maximum
  void check(const ErrorWord& word);

  ModelConfig config_;
  const std::vector<uint32_t> cache_slot_of_layer_ =
      config_.cache_slot_of_layer();  // cache or state slot of each layer
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
  std::array<PassKernels, kPassKinds> passes_;
  std::vector<LayerAddresses> layers_;
  uint64_t token_embd_ = 0, output_norm_ = 0, output_ = 0, output_bias_ = 0, weight_bytes_per_token_ = 0;
  std::array<Slot, 4> slots_;
  HostMemory logits_, error_;
  GpuSampler sampler_;
  DeviceTask<std::unique_ptr<Module>> persistent_module_;  // being compiled, or compiled
  std::unique_ptr<PersistentLaunch> persistent_;
  std::atomic<PersistentLaunch*> launch_to_end_ = nullptr;  // persistent_, for other threads
  std::shared_ptr<GpuEvent> pass_began_;                    // for passes with prompts, else null
  PassState state_;
  PassLayout pass_;
  PassLayout::Segment segment_{};  // the part being launched
  uint32_t next_slot_ = 0;
  std::vector<uint32_t> pages_;  // page tables: [sequences, pages_per_sequence]
  bool has_arrived_ = false;     // the pass's logits are on the host
  std::atomic<bool> counts_ = false;
  std::array<bool, kLaunchModes.size()> is_verified_;
  bool has_drafts_;
  uint64_t loss_listener_ = 0;
};

}  // namespace warpchat
