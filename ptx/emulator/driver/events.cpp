// Events: a stream's completion, with the time at which the stream reached it.
#include <algorithm>

#include "ptx/emulator/driver/driver.h"

namespace ptx::emulator::driver {

namespace {

template <class Body>
CUresult with_event(CUevent handle, Body body) {
  return in_context([&](Driver& d, Context& context, std::unique_lock<std::mutex>& lock) -> CUresult {
    Event* event = d.events.find(handle);
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return body(d, context, *event, lock);
  });
}

// The stream joins the event's capture, or continues in it.
CUresult join(Driver& d, Stream& stream, const Event& event) {
  if (std::find(d.captures.begin(), d.captures.end(), event.capture) == d.captures.end())
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;  // that capture has ended
  if (stream.capture && stream.capture != event.capture) return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  if (stream.is_legacy) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  stream.capture = event.capture;
  for (Node* node : event.frontier)
    if (std::find(stream.frontier.begin(), stream.frontier.end(), node) == stream.frontier.end())
      stream.frontier.push_back(node);
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace ptx::emulator::driver

namespace ptx::cuda {
using namespace ptx::emulator::driver;
extern "C" {

CUresult cuEventCreate(CUevent* out, unsigned flags) {
  return in_context([&](Driver& d, Context& context, auto&) -> CUresult {
    if (out == nullptr || flags > 7) return CUDA_ERROR_INVALID_VALUE;
    auto event = std::make_unique<Event>();
    event->context = &context;
    event->flags = flags;
    *out = reinterpret_cast<CUevent>(d.events.add(std::move(event)));
    return CUDA_SUCCESS;
  });
}

CUresult cuEventDestroy_v2(CUevent handle) {
  return with_event(handle, [&](Driver& d, Context&, Event&, auto&) -> CUresult {
    d.events.extract(handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuEventRecord(CUevent handle, CUstream stream_handle) {
  return with_event(handle, [&](Driver& d, Context& context, Event& event, auto&) -> CUresult {
    std::shared_ptr<Stream> stream = find_stream(context, stream_handle);
    if (!stream || event.context != &context) return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture) {
      if (stream->capture->status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
      event.capture = stream->capture;
      event.frontier = stream->frontier;
      return CUDA_SUCCESS;
    }
    auto completion = std::make_shared<Completion>();
    if (CUresult result = submit(d, *stream, RecordWork{handle, completion}); result != CUDA_SUCCESS) return result;
    event.capture.reset();
    event.recorded = std::move(completion);
    return CUDA_SUCCESS;
  });
}

CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream_handle, unsigned flags) {
  if (flags > 1) return CUDA_ERROR_INVALID_VALUE;
  if (flags == 0) return cuEventRecord(handle, stream_handle);
  // External events: during capture, adds a node that records each time the graph runs.
  return with_event(handle, [&](Driver& d, Context& context, Event&, auto&) -> CUresult {
    std::shared_ptr<Stream> stream = find_stream(context, stream_handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (!stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
    return submit(d, *stream, RecordWork{handle, nullptr});
  });
}

CUresult cuEventQuery(CUevent handle) {
  return with_event(handle, [&](Driver&, Context&, Event& event, auto&) -> CUresult {
    if (event.capture) {
      event.capture->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
      return CUDA_ERROR_CAPTURED_EVENT;
    }
    return !event.recorded || event.recorded->is_done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

CUresult cuEventSynchronize(CUevent handle) {
  return with_event(handle, [&](Driver& d, Context& context, Event& event, auto& lock) -> CUresult {
    if (event.capture) {
      event.capture->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
      return CUDA_ERROR_CAPTURED_EVENT;
    }
    const std::shared_ptr<Completion> recorded = event.recorded;
    return wait_for(d, lock, context, recorded);
  });
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start_handle, CUevent end_handle) {
  return in_context([&](Driver& d, Context&, auto&) -> CUresult {
    if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const Event* start = d.events.find(start_handle);
    const Event* end = d.events.find(end_handle);
    if (start == nullptr || end == nullptr || !start->recorded || !end->recorded) return CUDA_ERROR_INVALID_HANDLE;
    if ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) return CUDA_ERROR_INVALID_HANDLE;
    if (!start->recorded->is_done || !end->recorded->is_done) return CUDA_ERROR_NOT_READY;
    *milliseconds = std::chrono::duration<float, std::milli>(end->recorded->at - start->recorded->at).count();
    return CUDA_SUCCESS;
  });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}

CUresult cuStreamWaitEvent(CUstream stream_handle, CUevent handle, unsigned flags) {
  return with_event(handle, [&](Driver& d, Context& context, Event& event, auto&) -> CUresult {
    std::shared_ptr<Stream> stream = find_stream(context, stream_handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (flags > 1) return CUDA_ERROR_INVALID_VALUE;
    if (event.capture && flags == 0) return join(d, *stream, event);
    if (stream->capture) {
      if (flags == 0) {  // an event from outside the capture
        stream->capture->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
      }
      return submit(d, *stream, WaitWork{handle, nullptr});
    }
    if (!event.recorded || event.recorded->is_done) return CUDA_SUCCESS;
    return submit(d, *stream, EmptyWork{}, {event.recorded});
  });
}

}  // extern "C"
}  // namespace ptx::cuda
