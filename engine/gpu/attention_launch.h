// Incremental attention and the KV scatter before it, for callers with tensors of their own. Each launches in three
// forms: run() waits, enqueue() takes its turn in the caller's stream, start() returns a handle to wait on. Every size
// is checked first, so that a wrong one is a sentence and nothing is written; a position, length or page that the
// kernel finds out of range is reported where the host waits, with its numbers.
#pragma once
#include <memory>

#include "engine/gpu/kernel_set.h"
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

// What the launches of one kernel share. Launches of one object run one after the other, on whichever streams.
class LaunchForms {
 public:
  // Of launches that enqueue() started: what the kernel found out of range, once `stream` has come so far. Waits.
  void check(const Stream& stream);

 protected:
  LaunchForms(ContextPointer context, ptx::Kernel kernel, uint64_t scratch_bytes);
  void enqueue(const Stream& stream, std::span<const Argument> arguments, ptx::Dimensions blocks);
  PendingLaunch start(std::span<const Argument> arguments, ptx::Dimensions blocks);
  uint64_t scratch() const { return scratch_.address(); }
  uint64_t error() const { return error_.address(); }
  const LoadedKernel& kernel() const { return module_.kernel(0); }

 private:
  ContextPointer context_;
  Module module_;
  Stream stream_;
  DeviceMemory scratch_, error_;
  HostMemory error_read_;
  GpuEvent last_use_;  // of scratch and error word
};

struct AttentionTensors {
  TensorView q;                 // f32 [columns, n_heads * head_dim]
  TensorView k_pages, v_pages;  // u8 [n_pages, bytes of a page], as in kernels/kv_cache.h
  TensorView page_tables;       // u64 [columns]: addresses of page tables; what those name is not checked
  TensorView lengths;           // u32 [columns], or positions where the spec says so
  TensorView out;               // f32 [columns, n_heads * head_dim]
  TensorView gate = {};         // likewise, with gated only
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
  TensorView q_gamma, k_gamma;  // f32 [head_dim], with qk_norm only
  TensorView positions;         // u32 [columns]
  TensorView k_pages, v_pages;  // u8 [n_pages, bytes of a page], as in kernels/kv_cache.h
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
