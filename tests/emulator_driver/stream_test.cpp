// Streams and events: order within a stream, independence of streams, default streams, waits and times.
#include <atomic>
#include <thread>

#include "tests/emulator_driver/driver_test.h"

namespace ptx::cuda {
namespace {

class Streams : public DriverTest {};

TEST_F(Streams, WorkRunsInOrder) {
  CUstream s = stream();
  const CUdeviceptr p = upload<uint32_t>({0});
  Gate gate = close(s);
  for (uint32_t digit : {1u, 2u, 3u}) ok(launch(kernel("append"), 1, 1, s, p, digit));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuStreamQuery(s));
  EXPECT_EQ(word(p), 0u);
  gate.open();
  EXPECT_RESULT(CUDA_SUCCESS, cuStreamSynchronize(s));
  EXPECT_RESULT(CUDA_SUCCESS, cuStreamQuery(s));
  EXPECT_EQ(word(p), 123u);
}

// A launch returns at once: the kernel waits in mapped memory for a later write of the host.
TEST_F(Streams, KernelsWaitForTheHost) {
  volatile uint32_t* words = mapped_words(2);
  ok(launch(kernel("wait_for"), 1, 1, nullptr, address_of(words), 42u, address_of(words + 1)));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuStreamQuery(nullptr));
  EXPECT_EQ(words[1], 0u);
  words[0] = 42;
  ok(cuCtxSynchronize());
  EXPECT_EQ(words[1], 42u);
}

TEST_F(Streams, RunBesideEachOther) {
  CUstream first = stream(), second = stream();
  const CUdeviceptr words = upload<uint32_t>({0, 0, 0});
  // The first stream's kernel ends only after the second stream's has run.
  ok(launch(kernel("wait_for"), 1, 1, first, words, 1u, words + 4));
  ok(launch(kernel("append"), 1, 1, second, words, 1u));
  ok(cuCtxSynchronize());
  EXPECT_EQ(word(words + 4), 1u);
}

TEST_F(Streams, EventsOrderStreams) {
  CUstream first = stream(), second = stream();
  CUevent e = event();
  const CUdeviceptr p = upload<uint32_t>({0});
  Gate gate = close(first);
  ok(launch(kernel("append"), 1, 1, first, p, 1u));
  ok(cuEventRecord(e, first));
  ok(cuStreamWaitEvent(second, e, 0));
  ok(launch(kernel("append"), 1, 1, second, p, 2u));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuEventQuery(e));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuStreamQuery(second));
  // The wait is for the event's state at the call, not for a later record.
  ok(cuEventRecord(e, second));
  gate.open();
  EXPECT_RESULT(CUDA_SUCCESS, cuEventSynchronize(e));
  EXPECT_RESULT(CUDA_SUCCESS, cuEventQuery(e));
  EXPECT_EQ(word(p), 12u);
}

TEST_F(Streams, AnEventThatWasNeverRecordedIsDone) {
  CUevent e = event();
  EXPECT_RESULT(CUDA_SUCCESS, cuEventQuery(e));
  EXPECT_RESULT(CUDA_SUCCESS, cuEventSynchronize(e));
  EXPECT_RESULT(CUDA_SUCCESS, cuStreamWaitEvent(stream(), e, 0));
}

// The legacy default stream waits for the blocking streams and they wait for it; non-blocking ones do neither.
TEST_F(Streams, LegacyDefaultStream) {
  CUstream blocking = stream(CU_STREAM_DEFAULT), apart = stream();
  const CUdeviceptr p = upload<uint32_t>({0}), q = upload<uint32_t>({0});
  Gate gate = close(blocking);
  ok(launch(kernel("append"), 1, 1, nullptr, p, 1u));
  ok(launch(kernel("append"), 1, 1, blocking, p, 2u));
  ok(launch(kernel("append"), 1, 1, CU_STREAM_LEGACY, p, 3u));
  ok(launch(kernel("append"), 1, 1, apart, q, 4u));
  ok(cuStreamSynchronize(apart));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuStreamQuery(nullptr));
  gate.open();
  ok(cuCtxSynchronize());
  EXPECT_EQ(word(p), 123u);
  EXPECT_EQ(word(q), 4u);
}

TEST_F(Streams, EachThreadHasADefaultStream) {
  volatile uint32_t* words = mapped_words(4);
  const CUfunction f = kernel("wait_for");
  ok(launch(f, 1, 1, CU_STREAM_PER_THREAD, address_of(words), 1u, address_of(words + 1)));
  CUresult there = CUDA_ERROR_UNKNOWN;
  std::thread([&] {
    cuCtxSetCurrent(context);
    launch(f, 1, 1, CU_STREAM_PER_THREAD, address_of(words + 2), 0u, address_of(words + 3));
    there = cuStreamSynchronize(CU_STREAM_PER_THREAD);  // waits only for its own
  }).join();
  EXPECT_RESULT(CUDA_SUCCESS, there);
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuStreamQuery(CU_STREAM_PER_THREAD));
  words[0] = 1;
  EXPECT_RESULT(CUDA_SUCCESS, cuStreamSynchronize(CU_STREAM_PER_THREAD));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy_v2(CU_STREAM_PER_THREAD));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy_v2(nullptr));
}

TEST_F(Streams, DestroyedOnesFinishTheirWork) {
  CUstream s = stream();
  const CUdeviceptr p = upload<uint32_t>({0});
  Gate gate = close(s);
  ok(launch(kernel("append"), 1, 1, s, p, 6u));
  ok(cuStreamDestroy_v2(s));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(s));
  gate.open();
  ok(cuCtxSynchronize());
  EXPECT_EQ(word(p), 6u);
}

TEST_F(Streams, WhatTheySayOfThemselves) {
  CUstream s = nullptr;
  unsigned flags = 9;
  int priority = 9;
  unsigned long long id = 0, other = 0;
  CUcontext of = nullptr;
  CUdevice device = 9;
  ok(cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, -100));
  ok(cuStreamGetFlags(s, &flags));
  EXPECT_EQ(flags, CU_STREAM_NON_BLOCKING);
  int min = 0, greatest = 0;
  ok(cuCtxGetStreamPriorityRange(&min, &greatest));
  ok(cuStreamGetPriority(s, &priority));
  EXPECT_EQ(priority, greatest);  // clamped
  ok(cuStreamGetCtx(s, &of));
  EXPECT_EQ(of, context);
  ok(cuStreamGetDevice(s, &device));
  EXPECT_EQ(device, 0);
  ok(cuStreamGetId(s, &id));
  ok(cuStreamGetId(stream(), &other));
  EXPECT_NE(id, other);
}

TEST_F(Streams, HostFunctionsTakeTheirTurn) {
  CUstream s = stream();
  volatile uint32_t* words = mapped_words(2);
  struct Job {
    volatile uint32_t* words;
    uint32_t seen = 0;
    CUresult status = CUDA_ERROR_UNKNOWN;
  } job{words};
  ok(launch(kernel("append"), 1, 1, s, address_of(words), 8u));
  ok(cuLaunchHostFunc(
      s, [](void* data) { static_cast<Job*>(data)->seen = static_cast<Job*>(data)->words[0]; }, &job));
  ok(cuStreamAddCallback(
      s, [](CUstream, CUresult status, void* data) { static_cast<Job*>(data)->status = status; }, &job, 0));
  ok(launch(kernel("append"), 1, 1, s, address_of(words), 9u));
  ok(cuStreamSynchronize(s));
  EXPECT_EQ(job.seen, 8u);
  EXPECT_RESULT(CUDA_SUCCESS, job.status);
  EXPECT_EQ(words[0], 89u);
}

TEST_F(Streams, ElapsedTime) {
  CUstream s = stream();
  CUevent start = event(), end = event(), untimed = event(CU_EVENT_DISABLE_TIMING);
  float ms = -1;
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime_v2(&ms, start, end));  // not recorded
  ok(cuEventRecord(start, s));
  ok(cuEventSynchronize(start));
  Gate gate = close(s);
  ok(cuEventRecord(end, s));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuEventElapsedTime_v2(&ms, start, end));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  gate.open();
  ok(cuEventSynchronize(end));
  ok(cuEventElapsedTime_v2(&ms, start, end));
  EXPECT_GE(ms, 4.9f);  // the gate was closed for that long
  ok(cuEventElapsedTime(&ms, end, start));
  EXPECT_LE(ms, -4.9f);
  ok(cuEventRecord(untimed, s));
  ok(cuEventSynchronize(untimed));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime_v2(&ms, start, untimed));
  ok(cuEventDestroy_v2(start));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(start));
}

}  // namespace
}  // namespace ptx::cuda
