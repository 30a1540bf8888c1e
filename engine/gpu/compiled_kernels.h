// The kernels of one context that the launch forms share: each spec is compiled once for the device's target, whoever
// asks for it, and two threads that ask at the same time wait for one compilation.
#pragma once
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "engine/driver/module.h"
#include "kernels/attention.h"
#include "kernels/kv_scatter.h"

namespace warpchat {

// Lifetime: all launch objects of a context hold the same CompiledKernels, and it holds the context. When the last of
// them is destroyed, and whatever else of() has returned, the modules are unloaded and the context is let go. A caller
// that makes launch objects again and again keeps what of() returns as long as the kernels shall stay compiled.
class CompiledKernels {
 public:
  using Spec = std::variant<AttentionSpec, KvScatterSpec>;

  // The one of this context in this process; from any thread.
  static std::shared_ptr<CompiledKernels> of(const ContextPointer& context);
  CompiledKernels(const CompiledKernels&) = delete;
  ~CompiledKernels();

  // Compiled by this call, or by an earlier one; lives as long as this object. Error for a spec out of bounds,
  // DriverError if the driver refuses; a later call then tries again. From any thread, on which the context becomes
  // current.
  const LoadedKernel& get(const Spec& spec);
  size_t n_compiled() const;

  const ContextPointer& context() const { return context_; }

 private:
  explicit CompiledKernels(ContextPointer context) : context_(std::move(context)) {}
  using Compiled = std::shared_future<std::unique_ptr<Module>>;
  struct Entry {
    Spec spec;
    Compiled module;
  };
  using Entries = std::multimap<std::string, Entry>;
  Entries::iterator find(const std::string& name, const Spec& spec);

  const ContextPointer context_;  // whose device fixes the target
  mutable std::mutex mutex_;
  Entries entries_;  // by the kernel's name, which specs may share by chance
};

}  // namespace warpchat
