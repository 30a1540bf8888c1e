// Every task runs exactly once for any number of tasks and threads; results are visible to the caller; sleepers wake.
#include "engine/cpu/thread_pool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>

#include "tests/support/error_of.h"

namespace warpchat {
namespace {

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (uint32_t n_threads : {1u, 2u, 3u, 7u}) {
    ThreadPool pool(n_threads);
    EXPECT_EQ(pool.n_threads(), n_threads);
    for (uint32_t n_tasks : {0u, 1u, 2u, 3u, 6u, 100u, 1001u}) {
      std::vector<int> runs(n_tasks, 0);  // not atomic, so that TSan reports a task that runs on two threads
      pool.for_each(n_tasks, [&](uint32_t task) { ++runs[task]; });
      EXPECT_EQ(runs, std::vector<int>(n_tasks, 1)) << n_threads << " threads";
    }
  }
}

TEST(ThreadPool, GivesAThreadOneTaskAtATime) {
  ThreadPool pool(4);
  std::vector<int> busy(4, 0), sums(4, 0);
  pool.for_each(500, [&](uint32_t task, uint32_t thread) {
    EXPECT_EQ(busy[thread]++, 0);
    sums[thread] += static_cast<int>(task);
    --busy[thread];
  });
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0), 500 * 499 / 2);
}

// Many short loops in a row, each reading what the last one wrote: the hand-over in both directions.
TEST(ThreadPool, PassesResultsFromLoopToLoop) {
  ThreadPool pool(3);
  std::vector<uint32_t> values(40, 0), next(40, 0);
  for (uint32_t loop = 0; loop < 3000; ++loop) {
    pool.for_each(40, [&](uint32_t task) { next[task] = values[(task + 1) % 40] + 1; });
    values.swap(next);
  }
  EXPECT_EQ(values, std::vector<uint32_t>(40, 3000));
}

TEST(ThreadPool, WakesSleepersAndEndsWhileTheySleep) {
  for (int round = 0; round < 5; ++round) {
    ThreadPool pool(3);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // longer than the threads spin
    std::vector<int> runs(64, 0);
    pool.for_each(64, [&](uint32_t task) { ++runs[task]; });
    EXPECT_EQ(runs, std::vector<int>(64, 1));
    if (round % 2) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

TEST(ThreadPool, PassesOnWhatATaskThrowsAndGoesOn) {
  for (const uint32_t n_threads : {1u, 4u}) {
    ThreadPool pool(n_threads);
    for (uint32_t bad = 0; bad < 300; bad += 30) {
      std::atomic<uint32_t> runs = 0;
      EXPECT_EQ(error_of([&] {
                  pool.for_each(300, [&](uint32_t task) {
                    ++runs;
                    if (task == bad || task == 299) throw Error("no memory");
                  });
                }),
                "no memory");
      EXPECT_LE(runs, 300u);
      pool.for_each(300, [&](uint32_t) { ++runs; });
      EXPECT_GE(runs, 300u);
    }
  }
}

}  // namespace
}  // namespace warpchat
