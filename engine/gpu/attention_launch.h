// Incremental attention and the KV scatter before it, for callers with tensors of their own, over caches in f32, f16
// and q8_0. Each launches in three forms: run() waits, enqueue() takes its turn in the caller's stream, start() returns
// a handle to wait on. Every size is checked first, so that a wrong one is a sentence and nothing is written; a
// position, length or page that the kernel finds out of range is reported where the host waits, with its numbers.
// Objects of equal specs share one compiled kernel (compiled_kernels.h); each has a stream, scratch and an error word
// of its own. engine/README.md has an example of each.
#pragma once
#include <memory>

#include "engine/gpu/compiled_kernels.h"
#include "engine/gpu/tensor_view.h"
#include "kernels/attention.h"
#include "kernels/kv_scatter.h"

namespace warpchat {

// A launch under way. Destroying it waits, without an error.
class PendingLaunch {
 public:
  void wait();  // throws what the launch met: DriverError, or Error for an input out of range
  bool is_done() const;

 private:
  friend class LaunchForms;
  struct State;
  explicit PendingLaunch(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

// What the launches of one object share. They run one after the other, on whichever streams, and its methods are for
// one thread at a time. Destroying it waits for them.
class LaunchForms {
 public:
  LaunchForms(const LaunchForms&) = delete;
  // Of launches that enqueue() started: what the kernel found out of range, once `stream` has come so far. Waits.
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
  GpuEvent last_use_;  // of scratch and error word
};

struct AttentionTensors {
  TensorView q;  // f32 [columns, n_heads * head_dim]
  // u8 [n_pages, bytes of a page], as in kernels/kv_cache.h; or of caches in f32 and f16, in that type, [n_pages,
  // n_kv_heads, 64, head_dim].
  TensorView k_pages, v_pages;
  TensorView page_tables;  // u64 [columns]: addresses of page tables; what those name is not checked
  TensorView lengths;      // u32 [columns], or positions where the spec says so
  TensorView out;          // f32 [columns, n_heads * head_dim]
  TensorView gate = {};    // likewise, with gated only
};

class AttentionLaunch : public LaunchForms {
 public:
  AttentionLaunch(ContextPointer context, const AttentionSpec& spec);
  // longest: the greatest length, where the caller knows it; fewer blocks then. Columns: 1 to the spec's.
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
  TensorView q_gamma, k_gamma;  // f32 [head_dim], with qk_norm only; else empty
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
