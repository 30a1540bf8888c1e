// The driver's state. Every API function runs inside api() or in_context().
#pragma once
#include <array>
#include <new>
#include <stdexcept>
#include <system_error>

#include "ptx/emulator/driver/handles.h"

namespace ptx::emulator::driver {

constexpr int kDriverVersion = 13000;

template <class T>
class Registry {  // owns the live objects of one kind
 public:
  T* add(std::unique_ptr<T> object) {
    T* raw = object.get();
    objects_.emplace(raw, std::move(object));
    return raw;
  }
  T* find(const void* handle) const {
    return objects_.contains(static_cast<const T*>(handle)) ? const_cast<T*>(static_cast<const T*>(handle)) : nullptr;
  }
  std::unique_ptr<T> extract(const void* handle) {
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

// The driver of one emulated device; objects of different devices are independent.
struct Driver {
  CUdevice ordinal = 0;
  std::mutex mutex;                 // guards all members below and all objects; not held while work executes
  std::condition_variable changed;  // signalled by a completion, a new operation, or a closing stream
  bool is_initialised = false;
  bool loads_wait_for_idle = false;     // CUDA_EMULATOR_LOADS_DRAIN
  std::atomic<bool> is_forked = false;  // in a forked child of the initialising process, which lacks its threads
  std::unique_ptr<Device> device;
  Registry<Context> contexts;
  Registry<Module> modules;
  Registry<LinkState> links;
  Registry<Event> events;
  Registry<Graph> graphs;
  Registry<GraphExec> graph_execs;
  std::unordered_map<const void*, HeldObject> user_objects;  // by handle: references held by the program
  Context* primary = nullptr;
  std::vector<std::unique_ptr<Context>> destroyed;  // kept so that handles of destroyed contexts are not reused
  std::unique_ptr<Context> inactive_primary;        // after a reset; the next one reuses the handle
  unsigned primary_flags = 0, primary_references = 0;
  std::vector<std::shared_ptr<Capture>> captures;  // active captures
  std::shared_ptr<MemoryPool> default_pool = std::make_shared<MemoryPool>(), current_pool = default_pool;
  std::vector<std::shared_ptr<MemoryPool>> pools;  // created by the program
  uint64_t next_id = 1;
};

// Driver of the calling thread's current context, else of the first device. Never destroyed: streams may still run at
// process exit.
Driver& driver();
Driver* driver_of(CUdevice device);  // null: no such device
int count_devices();

// Returns the ordinal of the device with this profile ("sm_80", "sm_90,sms=2"), creating it if needed. Starts the
// driver. Throws std::invalid_argument with a message for an invalid profile.
int emulated_device(std::string_view profile);

struct StackedContext {
  Context* context;
  Driver* driver;
};

// The calling thread's stack of current contexts, current one last. It must not need a destructor: glibc aborts if it
// cannot allocate memory to register one for a thread.
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
Context* current_context();  // null if there is none, or if it has been destroyed

// Runs body with a driver locked. No exception crosses the C boundary.
template <class Body>
CUresult api(Driver& d, Body body) noexcept {
  try {
    if (d.is_forked) return CUDA_ERROR_NOT_INITIALIZED;  // the mutex may never be unlocked
    std::unique_lock lock(d.mutex);
    if (!d.is_initialised) return CUDA_ERROR_NOT_INITIALIZED;
    return body(d, lock);
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (const std::system_error&) {
    return CUDA_ERROR_OPERATING_SYSTEM;  // the system refused to create a stream's thread
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

template <class Body>
CUresult api(Body body) noexcept {
  return api(driver(), body);
}

// The same for a device's driver.
template <class Body>
CUresult api_of(CUdevice device, Body body) noexcept {
  if (Driver* d = driver_of(device)) return api(*d, body);
  return api([](Driver&, auto&) { return CUDA_ERROR_INVALID_DEVICE; });
}

// The same for a context and its driver; INVALID_CONTEXT if the handle is null or invalid.
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

// The same for the calling thread's current context, which must exist and not have faulted.
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

// The same for calls that a real driver may block until the device is idle, holding the context's lock: loading,
// unloading, allocating, freeing, querying free memory. With Driver::loads_wait_for_idle the body runs when all streams
// are empty, and every other call on the context waits for it.
template <class Body>
CUresult in_drained_context(Body body) noexcept {
  return in_context([&](Driver& d, Context& context, std::unique_lock<std::mutex>& lock) -> CUresult {
    if (!d.loads_wait_for_idle) return body(d, context, lock);
    struct DrainScope {  // also resets the flag if the body throws
      Driver& driver;
      Context& of;
      ~DrainScope() {
        of.is_draining = false;
        driver.changed.notify_all();
      }
    };
    context.is_draining = true;
    const DrainScope draining{d, context};
    const CUresult idle = synchronise(d, lock, context);
    return idle == CUDA_SUCCESS ? body(d, context, lock) : idle;
  });
}

// --- streams.cpp
// The stream behind a handle; null if invalid. 1: legacy default stream; 2: the calling thread's stream; null:
// whichever the entry point implies.
std::shared_ptr<Stream> find_stream(Context& context, CUstream handle);
// During its lifetime the null stream is the calling thread's: for entry points ending in _ptsz or _ptds.
class OwnDefaultStream {
 public:
  OwnDefaultStream();
  ~OwnDefaultStream();
};
// Enqueues the work, or adds a node if the stream is recording. Call with the lock held.
CUresult submit(Driver& d, Stream& stream, Work work, std::vector<std::shared_ptr<Completion>> after = {});
CUresult wait_for(Driver& d, std::unique_lock<std::mutex>& lock, Context& context,
                  const std::shared_ptr<Completion>& c);
std::shared_ptr<Stream> make_stream(Driver& d, Context& context, unsigned flags, int priority);
void close_streams(Driver& d, std::unique_lock<std::mutex>& lock, Context& context);  // stops and joins

// --- capture.cpp
Node* add_node(Graph& graph, CUgraphNodeType type, Work work, std::vector<Node*> dependencies);
CUresult record_node(Stream& stream, Work work);
// Refuses calls that may block while a capture forbids them; this invalidates the capture.
CUresult refuse_while_capturing(Driver& d);
// The same for work on the legacy default stream, which would wait for blocking streams under capture.
CUresult refuse_implicit_dependency(Context& context);

// --- execute.cpp: executes work on the calling thread, without the lock.
CUresult execute(Driver& d, Context& context, const Work& work);

// --- memory.cpp
bool is_device_range(Driver& d, uint64_t address, uint64_t bytes);   // inside one allocation or mapped host range
void release_memory(Driver& d, Context& context, uint64_t address);  // one of the context's allocations

// --- managed_memory.cpp
bool is_managed(const Context& context, uint64_t start);  // start: of an allocation
void release_managed(Driver& d, Context& context, void* start);

// --- memory_pools.cpp
std::shared_ptr<MemoryPool> find_pool(Driver& d, const void* handle);  // null if invalid

// --- memory_operations.cpp
CUresult make_memory_work(Driver& d, const CUDA_BATCH_MEM_OP_NODE_PARAMS& asked, MemoryWork* work);
CUresult execute_memory_work(Driver& d, Context& context, const MemoryWork& work);  // without the lock

// --- copies.cpp: checks the caller's parameters.
CUresult make_copy(Driver& d, const CUDA_MEMCPY3D& asked, CopyWork* work);
CUresult check_set(Driver& d, const CUDA_MEMSET_NODE_PARAMS& asked);

// --- launches.cpp
CUresult make_kernel(Driver& d, const CUDA_KERNEL_NODE_PARAMS& asked, bool is_cooperative, KernelWork* work);
Function* find_function(Driver& d, const void* handle);

// --- graphs.cpp
Graph* find_graph(Driver& d, const void* handle);  // also finds the child graph of a node
Node* find_node(Driver& d, const void* handle);
std::shared_ptr<GraphProgram> make_program(const Graph& graph, std::vector<const Node*>* sources);  // null: a cycle

}  // namespace ptx::emulator::driver
