// Streams: each has a queue and a worker thread. The legacy default stream and blocking streams wait for each other.
#include <algorithm>

#include "ptx/emulator/driver/driver.h"

namespace ptx::emulator::driver {

namespace {

bool all_done(const std::vector<std::shared_ptr<Completion>>& completions) {
  return std::all_of(completions.begin(), completions.end(), [](const auto& c) { return c->is_done; });
}

// Executes operations in order until the stream closes. The lock is released while work executes, so the host can write
// what a kernel waits for.
void serve(Driver& d, std::shared_ptr<Stream> stream) {
  std::unique_lock lock(d.mutex);
  Context& context = *stream->context;
  for (;;) {
    d.changed.wait(lock, [&] {
      return stream->queue.empty() ? stream->is_closing : context.stop || all_done(stream->queue.front().after);
    });
    if (stream->queue.empty()) break;
    Operation operation = std::move(stream->queue.front());
    stream->queue.pop_front();
    stream->is_running = true;
    CUresult result = context.fault;
    if (result == CUDA_SUCCESS && !context.stop) {
      lock.unlock();
      result = execute(d, context, operation.work);
      lock.lock();
    }
    if (result != CUDA_SUCCESS && context.fault == CUDA_SUCCESS) {
      context.fault = result;
      context.stop = true;  // other kernels might wait for ever
    }
    operation.done->is_done = true;
    operation.done->at = std::chrono::steady_clock::now();
    stream->is_running = false;
    d.changed.notify_all();
  }
}

void depend_on(std::vector<std::shared_ptr<Completion>>& after, const std::shared_ptr<Completion>& completion) {
  if (completion && !completion->is_done) after.push_back(completion);
}

}  // namespace

std::shared_ptr<Stream> make_stream(Driver& d, Context& context, unsigned flags, int priority) {
  auto stream = std::make_shared<Stream>();
  stream->context = &context;
  stream->flags = flags;
  stream->priority = priority;
  stream->id = d.next_id++;
  stream->worker = std::thread([&d, stream] { serve(d, stream); });
  return stream;
}

namespace {
thread_local unsigned own_default_streams = 0;  // calls in progress whose null stream is the thread's own
}

OwnDefaultStream::OwnDefaultStream() { ++own_default_streams; }
OwnDefaultStream::~OwnDefaultStream() { --own_default_streams; }

std::shared_ptr<Stream> find_stream(Context& context, CUstream handle) {
  if (handle == nullptr) handle = own_default_streams ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
  if (handle == CU_STREAM_LEGACY) return context.legacy;
  if (handle == CU_STREAM_PER_THREAD) {
    Stream*& own = context.per_thread[std::this_thread::get_id()];
    if (own == nullptr) {
      context.streams.push_back(make_stream(driver(), context, 0, 0));
      own = context.streams.back().get();
    }
    handle = reinterpret_cast<CUstream>(own);
  }
  for (const auto& stream : context.streams)
    if (reinterpret_cast<CUstream>(stream.get()) == handle && !stream->is_closing) return stream;
  return nullptr;
}

CUresult submit(Driver& d, Stream& stream, Work work, std::vector<std::shared_ptr<Completion>> after) {
  Context& context = *stream.context;
  if (stream.capture) return record_node(stream, std::move(work));
  const bool joins_legacy = !(stream.flags & CU_STREAM_NON_BLOCKING);
  if (joins_legacy) {
    if (stream.is_legacy) {
      if (CUresult refused = refuse_implicit_dependency(context); refused != CUDA_SUCCESS) return refused;
      for (const auto& other : context.streams)
        if (!(other->flags & CU_STREAM_NON_BLOCKING)) depend_on(after, other->last);
    } else {
      depend_on(after, context.legacy->last);
    }
  }
  auto done = std::make_shared<Completion>();
  if (auto* record = std::get_if<RecordWork>(&work)) done = record->completion;
  stream.last = done;
  stream.queue.push_back({std::move(work), std::move(after), std::move(done)});
  d.changed.notify_all();
  return CUDA_SUCCESS;
}

CUresult wait_for(Driver& d, std::unique_lock<std::mutex>& lock, Context& context,
                  const std::shared_ptr<Completion>& completion) {
  if (completion) d.changed.wait(lock, [&] { return completion->is_done; });
  return context.fault;
}

CUresult synchronise(Driver& d, std::unique_lock<std::mutex>& lock, Context& context) {
  std::vector<std::shared_ptr<Completion>> pending;
  depend_on(pending, context.legacy->last);
  for (const auto& stream : context.streams) depend_on(pending, stream->last);
  d.changed.wait(lock, [&] { return all_done(pending); });
  return context.fault;
}

void close_streams(Driver& d, std::unique_lock<std::mutex>& lock, Context& context) {
  context.stop = true;
  std::vector<std::shared_ptr<Stream>> streams = context.streams;
  streams.push_back(context.legacy);
  for (const auto& stream : streams) stream->is_closing = true;
  d.changed.notify_all();
  lock.unlock();
  for (const auto& stream : streams)
    if (stream->worker.joinable()) stream->worker.join();
  lock.lock();
  context.streams.clear();
}

namespace {

CUresult create_stream(CUstream* stream, unsigned flags, int priority) {
  return in_context([&](Driver& d, Context& context, auto&) -> CUresult {
    if (stream == nullptr || (flags & ~CU_STREAM_NON_BLOCKING)) return CUDA_ERROR_INVALID_VALUE;
    // Joins closed streams whose queues are empty, at a point where nothing can wait for them.
    std::erase_if(context.streams, [](const auto& s) {
      if (!s->is_closing || !s->queue.empty() || s->is_running) return false;
      s->worker.detach();
      return true;
    });
    context.streams.push_back(make_stream(d, context, flags, std::clamp(priority, -5, 0)));
    *stream = reinterpret_cast<CUstream>(context.streams.back().get());
    return CUDA_SUCCESS;
  });
}

template <class Body>
CUresult with_stream(CUstream handle, Body body) {
  return in_context([&](Driver& d, Context& context, std::unique_lock<std::mutex>& lock) -> CUresult {
    std::shared_ptr<Stream> stream = find_stream(context, handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    return body(d, *stream, lock);
  });
}

// Runs a stream's host callback with the documented signature.
struct Callback {
  CUstreamCallback function;
  CUstream stream;
  void* user_data;
};

void call_back(void* user_data) {
  std::unique_ptr<Callback> callback(static_cast<Callback*>(user_data));
  callback->function(callback->stream, CUDA_SUCCESS, callback->user_data);
}

}  // namespace
}  // namespace ptx::emulator::driver

namespace ptx::cuda {
using namespace ptx::emulator::driver;
extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) { return create_stream(stream, flags, 0); }

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return create_stream(stream, flags, priority);
}

CUresult cuStreamDestroy_v2(CUstream handle) {
  return with_stream(handle, [&](Driver& d, Stream& stream, auto&) -> CUresult {
    if (stream.is_legacy || handle == CU_STREAM_PER_THREAD) return CUDA_ERROR_INVALID_HANDLE;
    if (stream.capture) stream.capture->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    stream.is_closing = true;  // queued work still runs
    d.changed.notify_all();
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamSynchronize(CUstream handle) {
  return with_stream(handle, [&](Driver& d, Stream& stream, auto& lock) -> CUresult {
    if (stream.capture) {
      stream.capture->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    const std::shared_ptr<Completion> last = stream.last;
    return wait_for(d, lock, *stream.context, last);
  });
}

CUresult cuStreamQuery(CUstream handle) {
  return with_stream(handle, [&](Driver&, Stream& stream, auto&) -> CUresult {
    if (stream.capture) {
      stream.capture->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return !stream.last || stream.last->is_done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

CUresult cuStreamGetPriority(CUstream handle, int* priority) {
  return with_stream(handle, [&](Driver&, Stream& stream, auto&) -> CUresult {
    if (priority == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *priority = stream.priority;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetFlags(CUstream handle, unsigned* flags) {
  return with_stream(handle, [&](Driver&, Stream& stream, auto&) -> CUresult {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = stream.flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetId(CUstream handle, unsigned long long* stream_id) {
  return with_stream(handle, [&](Driver&, Stream& stream, auto&) -> CUresult {
    if (stream_id == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *stream_id = stream.id;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
  return with_stream(handle, [&](Driver&, Stream& stream, auto&) -> CUresult {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *context = reinterpret_cast<CUcontext>(stream.context);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext* context, void** green_context) {
  if (green_context != nullptr) *green_context = nullptr;
  return cuStreamGetCtx(handle, context);
}

CUresult cuStreamGetDevice(CUstream handle, CUdevice* device) {
  return with_stream(handle, [&](Driver&, Stream&, auto&) -> CUresult {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = driver().ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* user_data) {
  return with_stream(handle, [&](Driver& d, Stream& stream, auto&) -> CUresult {
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return submit(d, stream, HostWork{function, user_data});
  });
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback function, void* user_data, unsigned flags) {
  return with_stream(handle, [&](Driver& d, Stream& stream, auto&) -> CUresult {
    if (function == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (stream.capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return submit(d, stream, HostWork{&call_back, new Callback{function, handle, user_data}});
  });
}

}  // extern "C"
}  // namespace ptx::cuda
