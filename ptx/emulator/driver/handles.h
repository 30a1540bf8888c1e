// The objects behind the API's handles. A handle is an object's address; a set per kind distinguishes valid ones from
// garbage.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ptx/emulator/driver/jit.h"
#include "ptx/emulator/driver/work.h"

namespace ptx::emulator::driver {

// A one-time event with a time and a result; threads and other streams' operations wait for it.
struct Completion {
  bool is_done = false;
  std::chrono::steady_clock::time_point at;
};

struct Graph;
struct Node;
struct Context;

struct Capture {           // one recording, shared by all streams that joined it
  Graph* graph = nullptr;  // owned until the capture ends
  bool owns_graph = true;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  uint64_t id = 0;
  std::thread::id thread;
};

struct Operation {
  Work work;
  std::vector<std::shared_ptr<Completion>> after;
  std::shared_ptr<Completion> done;
};

struct Stream {
  Context* context = nullptr;
  unsigned flags = 0;
  int priority = 0;
  uint64_t id = 0;
  bool is_legacy = false;
  bool is_closing = false;
  std::deque<Operation> queue;
  bool is_running = false;  // an operation has been dequeued and is not finished
  std::thread worker;
  std::shared_ptr<Completion> last;  // of the newest operation; null before the first
  std::shared_ptr<Capture> capture;  // set while recording
  bool is_capture_origin = false;
  std::vector<Node*> frontier;  // while recording: nodes that the next node depends on
};

struct Event {
  Context* context = nullptr;
  unsigned flags = 0;
  std::shared_ptr<Completion> recorded;
  std::shared_ptr<Capture> capture;  // recorded during capture
  std::vector<Node*> frontier;
};

struct Function {
  struct Module* module = nullptr;
  const LoadedFunction* loaded = nullptr;
  uint32_t n_registers = 0;
  uint64_t max_dynamic_shared = 0;  // set by the opt-in attribute; 0: default limit
  int carveout = -1;
};

struct Module {
  Context* context = nullptr;
  std::unique_ptr<LoadedModule> loaded;
  std::vector<std::unique_ptr<Function>> functions;
};

struct LinkState {
  Context* context = nullptr;
  JitOptions options;
  struct Input {
    std::string name, text;
  };
  std::vector<Input> inputs;
  std::string image;  // set once complete
};

struct Node {
  Graph* graph = nullptr;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  Work work;
  Graph* child = nullptr;            // owned; only in a child-graph node
  const Node* original = nullptr;    // in the graph from which this one was cloned
  std::vector<void*> argument_list;  // returned by cuGraphKernelNodeGetParams
  std::vector<Node*> dependencies;
};

struct HeldObject {
  std::shared_ptr<UserObject> object;
  unsigned references = 0;  // as counted by the API
};

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<HeldObject> held;
  ~Graph();
};

struct GraphExec {
  std::vector<const Node*> sources;  // nodes of the source graph, by program index
  std::vector<CUgraphNodeType> types;
  std::shared_ptr<GraphProgram> program;
  std::unordered_map<size_t, Work> disabled;  // work of disabled nodes
  unsigned long long flags = 0;
};

// A pool's accounting; reserved bytes equal the bytes in use.
struct MemoryPool {
  uint64_t max_bytes = UINT64_MAX;
  uint64_t used = 0, used_high = 0, reserved_high = 0;
  uint64_t release_threshold = 0;
  int reuse[3] = {1, 1, 1};  // CU_MEMPOOL_ATTR_REUSE_..., in order
  void reserve(uint64_t bytes);
};

struct Allocation {
  uint64_t bytes;
  std::shared_ptr<MemoryPool> pool;  // null: no pool
};

struct Context {
  bool is_primary = false;
  unsigned flags = 0;
  uint64_t id = 0;
  CUresult fault = CUDA_SUCCESS;   // from a kernel; every later call returns it
  std::atomic<bool> stop = false;  // the context has faulted or is being destroyed: kernels must end
  bool is_draining = false;        // a call is waiting for the device to become idle: see in_drained_context
  std::shared_ptr<Stream> legacy;
  std::vector<std::shared_ptr<Stream>> streams;  // without the legacy stream; closing streams remain until empty
  std::unordered_map<std::thread::id, Stream*> per_thread;  // each thread's default stream, among `streams`
  std::unordered_map<uint64_t, Allocation> allocations;     // device memory by address
  std::unordered_map<void*, unsigned> pinned;               // flags of host memory allocated here
  std::unordered_set<void*> registered;                     // host memory of the program
  std::unordered_set<void*> managed;                        // host memory that is also device memory
  std::unordered_map<CUlimit, size_t> limits;
};

}  // namespace ptx::emulator::driver
