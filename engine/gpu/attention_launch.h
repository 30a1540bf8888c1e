// Incremental attention and the KV scatter before it, on a caller's own tensors, with caches in f32, f16 and q8_0.
// run() waits, enqueue() launches in the caller's stream, start() returns a handle. All sizes are checked before
// anything is written. Positions, lengths and pages out of range are found by the kernel, and reported with their
// numbers where the host waits. Objects of equal specs share one compiled kernel (compiled_kernels.h). Each object has
// its own stream, scratch memory and error word. Examples: engine/README.md.
#pragma once
#include <memory>

#include "engine/gpu/compiled_kernels.h"
#include "engine/gpu/tensor_view.h"
#include "kernels/attention/attention.h"
#include "kernels/attention/kv_scatter.h"

namespace warpchat {

// A pending launch. Its destructor waits, and ignores errors.
class PendingLaunch {
 public:
  void wait();  // throws the launch's error: DriverError, or Error for an input out of range
  bool is_done() const;

 private:
  friend class LaunchForms;
  struct State;
  explicit PendingLaunch(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

// Common part of the launch classes. An object's launches run one after the other, whatever the stream. Methods are not
// thread-safe. The destructor waits for pending launches.
class LaunchForms {
 public:
  LaunchForms(const LaunchForms&) = delete;
  // Throws an out-of-range error of enqueued launches, after `stream` has executed them. Waits.
  void check(const Stream& stream);

 protected:
  LaunchForms(ContextPointer context, const CompiledKernels::Spec& spec, uint64_t scratch_bytes);
  ~LaunchForms();
  void enqueue(const Stream& stream, std::span<const Argument> arguments, ptx::Dimensions blocks);
  PendingLaunch start(std::span<const Argument> arguments, ptx::Dimensions blocks);
  uint64_t scratch() const { return scratch_.address(); }
  uint64_t error() const { return error_.address(); }
  const LoadedKernel& kernel() const { return kernel_; }

 private:
  ContextPointer context_;
  std::shared_ptr<CompiledKernels> kernels_;
  const LoadedKernel& kernel_;
  Stream stream_;
  DeviceMemory scratch_, error_;
  HostMemory error_read_;
  GpuEvent last_use_;  // last launch that uses scratch memory and error word
};

struct AttentionTensors {
  TensorView q;  // f32 [columns, n_heads * head_dim]
  // u8 [n_pages, bytes per page], as in kernels/attention/kv_cache.h. f32 and f16 caches may also be given in that
  // type, as [n_pages, n_kv_heads, 64, head_dim].
  TensorView k_pages, v_pages;
  TensorView page_tables;  // u64 [columns]: addresses of page tables, whose contents are not checked
  TensorView lengths;      // u32 [columns], or positions if the spec says so
  TensorView out;          // f32 [columns, n_heads * head_dim]
  TensorView gate = {};    // f32 [columns, n_heads * head_dim], with gated only
};

class AttentionLaunch : public LaunchForms {
 public:
  AttentionLaunch(ContextPointer context, const AttentionSpec& spec);
  // longest: maximum length if known, which saves blocks. Columns: 1 to the spec's number.
  void run(const AttentionTensors& tensors, uint32_t longest = UINT32_MAX) { start(tensors, longest).wait(); }
  void enqueue(const Stream& stream, const AttentionTensors& tensors, uint32_t longest = UINT32_MAX);
  PendingLaunch start(const AttentionTensors& tensors, uint32_t longest = UINT32_MAX);

 private:
  std::vector<Argument> arguments_of(const AttentionTensors& tensors) const;
  ptx::Dimensions blocks_for(uint32_t longest) const;
  AttentionSpec spec_;
};

struct KvScatterTensors {
  TensorView q;                 // f32 [columns, n_heads * head_dim], rotated in place
  TensorView k, v;              // f32 [columns, n_kv_heads * head_dim]
  TensorView q_gamma, k_gamma;  // f32 [head_dim] with qk_norm, else empty
  TensorView positions;         // u32 [columns]
  TensorView k_pages, v_pages;  // as in AttentionTensors
  TensorView page_tables;       // u64 [columns]: addresses of page tables
};

class KvScatterLaunch : public LaunchForms {
 public:
  KvScatterLaunch(ContextPointer context, const KvScatterSpec& spec);
  void run(const KvScatterTensors& tensors) { start(tensors).wait(); }
  void enqueue(const Stream& stream, const KvScatterTensors& tensors);
  PendingLaunch start(const KvScatterTensors& tensors);

 private:
  std::vector<Argument> arguments_of(const KvScatterTensors& tensors) const;
  KvScatterSpec spec_;
};

}  // namespace warpchat
