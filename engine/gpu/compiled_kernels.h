// A context's cache of compiled kernels, shared by launch objects. Each spec is compiled once for the device's target;
// concurrent requests for it wait for the same compilation.
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
#include "kernels/attention/attention.h"
#include "kernels/attention/kv_scatter.h"

namespace warpchat {

// Lifetime: all launch objects of a context share one CompiledKernels, which keeps the context alive. Modules are
// unloaded and the context is released with the last reference. A caller that creates launch objects repeatedly should
// keep the result of of(), so that kernels stay compiled.
class CompiledKernels {
 public:
  using Spec = std::variant<AttentionSpec, KvScatterSpec>;

  // The process's instance for this context. Thread-safe.
  static std::shared_ptr<CompiledKernels> of(const ContextPointer& context);
  CompiledKernels(const CompiledKernels&) = delete;
  ~CompiledKernels();

  // Compiles the spec, unless an earlier call did. The kernel lives as long as this object. Error for an invalid spec,
  // DriverError if the driver refuses; a later call tries again. Thread-safe; makes the context current.
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

  const ContextPointer context_;  // its device determines the target
  mutable std::mutex mutex_;
  Entries entries_;  // by kernel name, since different specs may generate the same kernel
};

}  // namespace warpchat
