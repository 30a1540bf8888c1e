// User objects, which graphs keep alive. A graph's clones, executables and launches share its references.
#include <algorithm>
#include <system_error>
#include <thread>

#include "ptx/driver_api_others.h"
#include "ptx/emulator/driver/driver.h"

namespace ptx::emulator::driver {

// Runs the program's function on another thread, since the last owner may hold the driver's lock.
UserObject::~UserObject() {
  try {
    std::thread(destroy, pointer).detach();
  } catch (const std::system_error&) {  // the system refused to create a thread
    destroy(pointer);
  }
}

namespace {

constexpr unsigned kNoDestructorSync = 1;  // on creation: the caller accepts that it cannot wait for the destructor
constexpr unsigned kMove = 1;              // when a graph retains it: transfers the caller's references

bool is_count(unsigned count) { return count > 0 && count <= INT32_MAX; }

template <class Body>
CUresult with_object(CUuserObject handle, unsigned count, Body body) {
  return api([&](Driver& d, auto&) -> CUresult {
    const auto found = d.user_objects.find(handle);
    return found == d.user_objects.end() || !is_count(count) ? CUDA_ERROR_INVALID_VALUE : body(d, found->second);
  });
}

CUresult release(Driver& d, HeldObject& held, unsigned count) {
  if (count > held.references) return CUDA_ERROR_INVALID_VALUE;
  held.references -= count;
  if (held.references == 0) d.user_objects.erase(held.object.get());
  return CUDA_SUCCESS;
}

auto find_held(Graph& graph, const void* handle) {
  return std::ranges::find_if(graph.held, [&](const HeldObject& held) { return held.object.get() == handle; });
}

}  // namespace
}  // namespace ptx::emulator::driver

namespace ptx::cuda {
using namespace ptx::emulator::driver;
extern "C" {

CUresult cuUserObjectCreate(CUuserObject* out, void* pointer, CUhostFn destroy, unsigned references, unsigned flags) {
  return api([&](Driver& d, auto&) -> CUresult {
    if (out == nullptr || destroy == nullptr || !is_count(references) || flags != kNoDestructorSync)
      return CUDA_ERROR_INVALID_VALUE;
    auto object = std::make_shared<UserObject>(pointer, destroy);
    *out = reinterpret_cast<CUuserObject>(object.get());
    d.user_objects[object.get()] = {object, references};
    return CUDA_SUCCESS;
  });
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned count) {
  return with_object(object, count, [&](Driver&, HeldObject& held) -> CUresult {
    if (!is_count(held.references + count)) return CUDA_ERROR_INVALID_VALUE;
    held.references += count;
    return CUDA_SUCCESS;
  });
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned count) {
  return with_object(object, count, [&](Driver& d, HeldObject& held) { return release(d, held, count); });
}

CUresult cuGraphRetainUserObject(CUgraph handle, CUuserObject object, unsigned count, unsigned flags) {
  return with_object(object, count, [&](Driver& d, HeldObject& own) -> CUresult {
    Graph* graph = find_graph(d, handle);
    if (graph == nullptr || flags > kMove) return CUDA_ERROR_INVALID_VALUE;
    const HeldObject added{own.object, count};
    if (flags == kMove)
      if (CUresult result = release(d, own, count); result != CUDA_SUCCESS) return result;
    const auto held = find_held(*graph, object);
    if (held == graph->held.end())
      graph->held.push_back(added);
    else
      held->references += count;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphReleaseUserObject(CUgraph handle, CUuserObject object, unsigned count) {
  return api([&](Driver& d, auto&) -> CUresult {
    Graph* graph = find_graph(d, handle);
    if (graph == nullptr || !is_count(count)) return CUDA_ERROR_INVALID_VALUE;
    const auto held = find_held(*graph, object);
    if (held == graph->held.end() || count > held->references) return CUDA_ERROR_INVALID_VALUE;
    held->references -= count;
    if (held->references == 0) graph->held.erase(held);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
}  // namespace ptx::cuda
