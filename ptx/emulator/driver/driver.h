// The driver's state and the two ways into it: every API function runs inside api() or in_context().
#pragma once
#include <array>
#include <new>
#include <stdexcept>
#include <system_error>

#include "ptx/emulator/driver/handles.h"

namespace ptx::emulator::driver {

constexpr int kDriverVersion = 13000;

template <class T>
class Registry {  // live objects of one kind, owned
 public:
  T* add(std::unique_ptr<T> object) {
    T* raw = object.get();
    objects_.emplace(raw, std::move(object));
    return raw;
  }
  T* find(const void* handle) const {
    return objects_.contains(static_cast<const T*>(handle)) ? const_cast<T*>(static_cast<const T*>(handle)) : nullptr;
  }
  std::unique_ptr<T> take(const void* handle) {
    auto found = objects_.find(static_cast<const T*>(handle));
    if (found == objects_.end()) return nullptr;
    std::unique_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [handle, object] : objects_) visit(*object);
  }
  template <class Predicate>
  void erase_if(Predicate predicate) {
    std::erase_if(objects_, [&](auto& item) { return predicate(*item.second); });
  }

 private:
  std::unordered_map<const T*, std::unique_ptr<T>> objects_;
};

// The driver of one emulated device: objects of different devices know nothing of each other.
struct Driver {
  CUdevice ordinal = 0;
  std::mutex mutex;                 // guards everything below and all objects; not held while work executes
  std::condition_variable changed;  // a completion, a new operation, a stream that closes
  bool is_initialised = false;
  bool loads_drain = false;             // CUDA_EMULATOR_LOADS_DRAIN
  std::atomic<bool> is_forked = false;  // a child of the process that initialised it: its threads are not here
  std::unique_ptr<Device> device;
  Registry<Context> contexts;
  Registry<Module> modules;
  Registry<LinkState> links;
  Registry<Event> events;
  Registry<Graph> graphs;
  Registry<GraphExec> graph_execs;
  std::unordered_map<const void*, HeldObject> user_objects;  // by handle: the program's own references
  Context* primary = nullptr;
  std::vector<std::unique_ptr<Context>> destroyed;  // their handles stay what they were: names of destroyed contexts
  std::unique_ptr<Context> inactive_primary;        // after a reset; the next one has the same handle
  unsigned primary_flags = 0, primary_references = 0;
  std::vector<std::shared_ptr<Capture>> captures;  // active ones
  std::shared_ptr<MemoryPool> default_pool = std::make_shared<MemoryPool>(), current_pool = default_pool;
  std::vector<std::shared_ptr<MemoryPool>> pools;  // the program's own
  uint64_t next_id = 1;
};

// Of the calling thread's current context, else of the first device. Never destroyed: streams may still run while the
// process exits.
Driver& driver();
Driver* driver_of(CUdevice device);  // null: there is no such device
int count_devices();

// Returns the ordinal of the device with this profile ("sm_80", "sm_90,sms=2"), and makes it unless there is one. Starts
// the driver. Throws std::invalid_argument with a sentence for a text that is no profile.
int emulated_device(std::string_view profile);

struct StackedContext {
  Context* context;
  Driver* driver;
};

// The calling thread's stack of current contexts; the last one is current. It needs no destructor: glibc ends the
// process where it finds no memory to note one for a thread.
class ContextStack {
 public:
  bool empty() const { return n_ == 0; }
  const StackedContext& back() const { return contexts_[n_ - 1]; }
  void pop_back() { --n_; }
  void push_back(StackedContext context) {
    if (n_ == contexts_.size()) throw std::bad_alloc();
    contexts_[n_++] = context;
  }

 private:
  std::array<StackedContext, 128> contexts_{};
  size_t n_ = 0;
};
ContextStack& context_stack();
Context* current_context();  // null if none, or if it has been destroyed

// Runs body with a driver locked. Nothing thrown crosses the C border.
template <class Body>
CUresult api(Driver& d, Body body) noexcept {
  try {
    if (d.is_forked) return CUDA_ERROR_NOT_INITIALIZED;  // nobody may ever unlock
    std::unique_lock lock(d.mutex);
    if (!d.is_initialised) return CUDA_ERROR_NOT_INITIALIZED;
    return body(d, lock);
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (const std::system_error&) {
    return CUDA_ERROR_OPERATING_SYSTEM;  // it gives a stream no thread
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

template <class Body>
CUresult api(Body body) noexcept {
  return api(driver(), body);
}

// The same with a device's driver.
template <class Body>
CUresult api_of(CUdevice device, Body body) noexcept {
  if (Driver* d = driver_of(device)) return api(*d, body);
  return api([](Driver&, auto&) { return CUDA_ERROR_INVALID_DEVICE; });
}

// The same with a context and its driver; null or no context's handle: INVALID_CONTEXT.
template <class Body>
CUresult api_of(CUcontext handle, Body body) noexcept {
  for (int i = 0; i < count_devices(); ++i) {
    bool is_found = false;
    const CUresult result = api(*driver_of(i), [&](Driver& d, std::unique_lock<std::mutex>& lock) -> CUresult {
      Context* context = d.contexts.find(handle);
      is_found = context != nullptr;
      if (!is_found) return CUDA_ERROR_INVALID_CONTEXT;
      d.changed.wait(lock, [&] { return !context->is_draining; });
      return body(d, *context, lock);
    });
    if (is_found || result != CUDA_ERROR_INVALID_CONTEXT) return result;
  }
  return CUDA_ERROR_INVALID_CONTEXT;
}

// The same with the calling thread's current context, if it has one that has not faulted.
template <class Body>
CUresult in_context(Body body) noexcept {
  return api([&](Driver& d, std::unique_lock<std::mutex>& lock) -> CUresult {
    if (context_stack().empty()) return CUDA_ERROR_INVALID_CONTEXT;
    Context* context = current_context();
    if (context == nullptr) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    d.changed.wait(lock, [&] { return !context->is_draining; });
    if (context->fault != CUDA_SUCCESS) return context->fault;
    return body(d, *context, lock);
  });
}

CUresult synchronise(Driver& d, std::unique_lock<std::mutex>& lock, Context& context);  // waits for all streams

// The same for calls that a real driver may hold until the device is idle, with the context's lock: loading and
// unloading, allocating and freeing, asking for free memory. With Driver::loads_drain this one does: the body runs when
// all streams are empty, and every other call on the context waits until it has returned.
template <class Body>
CUresult in_drained_context(Body body) noexcept {
  return in_context([&](Driver& d, Context& context, std::unique_lock<std::mutex>& lock) -> CUresult {
    if (!d.loads_drain) return body(d, context, lock);
    struct Draining {  // whatever the body throws
      Driver& driver;
      Context& of;
      ~Draining() {
        of.is_draining = false;
        driver.changed.notify_all();
      }
    };
    context.is_draining = true;
    const Draining draining{d, context};
    const CUresult idle = synchronise(d, lock, context);
    return idle == CUDA_SUCCESS ? body(d, context, lock) : idle;
  });
}

// --- streams.cpp
// The stream behind a handle (1: the legacy default stream, 2: the calling thread's own, null: the one of the two that
// the call's entry point stands for); null if invalid.
std::shared_ptr<Stream> find_stream(Context& context, CUstream handle);
// While it lives, the null stream is the calling thread's own: calls under names that end in _ptsz or _ptds.
class OwnDefaultStream {
 public:
  OwnDefaultStream();
  ~OwnDefaultStream();
};
// Enqueues, or adds a node where the stream records. Call with the lock held.
CUresult submit(Driver& d, Stream& stream, Work work, std::vector<std::shared_ptr<Completion>> after = {});
CUresult wait_for(Driver& d, std::unique_lock<std::mutex>& lock, Context& context,
                  const std::shared_ptr<Completion>& c);
std::shared_ptr<Stream> make_stream(Driver& d, Context& context, unsigned flags, int priority);
void close_streams(Driver& d, std::unique_lock<std::mutex>& lock, Context& context);  // stops and joins

// --- capture.cpp
Node* add_node(Graph& graph, CUgraphNodeType type, Work work, std::vector<Node*> dependencies);
CUresult record_node(Stream& stream, Work work);
// Calls that may block are refused while a capture forbids them; the capture is lost.
CUresult refuse_while_capturing(Driver& d);
// The same for the legacy default stream's work, which would wait for the blocking streams that are being captured.
CUresult refuse_implicit_dependency(Context& context);

// --- execute.cpp: carries work out on the calling thread, without the lock.
CUresult execute(Driver& d, Context& context, const Work& work);

// --- memory.cpp
bool is_device_range(Driver& d, uint64_t address, uint64_t bytes);   // inside one allocation or mapped host range
void release_memory(Driver& d, Context& context, uint64_t address);  // of one of the context's allocations

// --- managed_memory.cpp
bool is_managed(const Context& context, uint64_t start);  // of an allocation
void release_managed(Driver& d, Context& context, void* start);

// --- memory_pools.cpp
std::shared_ptr<MemoryPool> find_pool(Driver& d, const void* handle);  // null if invalid

// --- memory_operations.cpp
CUresult make_memory_work(Driver& d, const CUDA_BATCH_MEM_OP_NODE_PARAMS& asked, MemoryWork* work);
CUresult execute_memory_work(Driver& d, Context& context, const MemoryWork& work);  // without the lock

// --- copies.cpp: checks what the caller asked for.
CUresult make_copy(Driver& d, const CUDA_MEMCPY3D& asked, CopyWork* work);
CUresult check_set(Driver& d, const CUDA_MEMSET_NODE_PARAMS& asked);

// --- launches.cpp
CUresult make_kernel(Driver& d, const CUDA_KERNEL_NODE_PARAMS& asked, bool is_cooperative, KernelWork* work);
Function* find_function(Driver& d, const void* handle);

// --- graphs.cpp
Graph* find_graph(Driver& d, const void* handle);  // also a child of a node
Node* find_node(Driver& d, const void* handle);
std::shared_ptr<GraphProgram> make_program(const Graph& graph, std::vector<const Node*>* sources);  // null: a cycle

}  // namespace ptx::emulator::driver
