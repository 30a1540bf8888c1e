// The lock is held during look-ups and insertions, never during compilation.
#include "engine/gpu/compiled_kernels.h"

#include <algorithm>

namespace warpchat {

namespace {

// Kernels by context. Weak pointers: entries keep nothing alive, and an entry of a former context at the same address
// has expired.
struct Registry {
  std::mutex mutex;
  std::map<const Context*, std::weak_ptr<CompiledKernels>> of_contexts;
};

Registry& registry() {
  static Registry all;
  return all;
}

std::string name_of(const CompiledKernels::Spec& spec) {
  return std::visit([](const auto& s) { return warpchat::name_of(s); }, spec);
}

ptx::Kernel generate(const AttentionSpec& spec, ptx::Target target) { return incremental_attention(spec, target); }
ptx::Kernel generate(const KvScatterSpec& spec, ptx::Target target) { return kv_scatter(spec, target); }

}  // namespace

std::shared_ptr<CompiledKernels> CompiledKernels::of(const ContextPointer& context) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  std::erase_if(all.of_contexts, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<CompiledKernels>& known = all.of_contexts[context.get()];
  if (std::shared_ptr<CompiledKernels> kernels = known.lock()) return kernels;
  std::shared_ptr<CompiledKernels> kernels(new CompiledKernels(context));
  known = kernels;
  return kernels;
}

CompiledKernels::~CompiledKernels() {
  try {
    context_->make_current();  // modules are unloaded on this thread
  } catch (const Error&) {     // a lost device has nothing left to unload
  }
}

CompiledKernels::Entries::iterator CompiledKernels::find(const std::string& name, const Spec& spec) {
  const auto [first, last] = entries_.equal_range(name);
  const auto entry = std::find_if(first, last, [&](const auto& known) { return known.second.spec == spec; });
  return entry == last ? entries_.end() : entry;
}

const LoadedKernel& CompiledKernels::get(const Spec& spec) {
  const std::string name = name_of(spec);
  std::promise<std::unique_ptr<Module>> promise;
  std::unique_lock lock(mutex_);
  Entries::iterator entry = find(name, spec);
  const bool is_new = entry == entries_.end();
  if (is_new) entry = entries_.emplace(name, Entry{spec, promise.get_future().share()});
  const Compiled module = entry->second.module;
  lock.unlock();
  if (!is_new) {
    context_->make_current();
    return module.get()->kernel(0);
  }
  try {
    context_->make_current();
    const ptx::Target target = context_->device().target();
    std::vector<ptx::Kernel> kernels;
    kernels.push_back(std::visit([&](const auto& s) { return generate(s, target); }, spec));
    auto compiled = std::make_unique<Module>(context_, std::move(kernels));
    promise.set_value(std::move(compiled));
    return module.get()->kernel(0);
  } catch (...) {
    promise.set_exception(std::current_exception());
    lock.lock();
    entries_.erase(entry);
    throw;
  }
}

size_t CompiledKernels::n_compiled() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace warpchat
