// One multi handle on one thread. Requests reach it through a mutex, which is never held during callbacks.
#include "engine/http/http_loop.h"

#include <algorithm>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "engine/http/http_transfer.h"
#include "models/threads.h"

namespace warpchat {

namespace {

using std::chrono::milliseconds;
using Clock = HttpTransfer::Clock;
constexpr milliseconds kLongestPoll{250};  // bounds stall detection while transfers run
constexpr milliseconds kIdlePoll{3600 * 1000};

}  // namespace

struct HttpLoop::State {
  struct Job {
    HttpRequest request;
    OnEnd on_end;
    Clock::time_point begin;
    std::unique_ptr<HttpTransfer> transfer = {};  // null until it begins
    std::exception_ptr fault = {};                // why it could not begin
  };

  HttpOptions options;
  CurlMulti multi = make_curl_multi();
  std::mutex mutex = {};  // guards the orders below
  uint64_t n_started = 0;
  std::map<uint64_t, Job> ordered = {};
  std::set<uint64_t> stopped = {};
  bool is_over = false;
  std::map<uint64_t, Job> jobs = {};  // used by the loop's thread only
  std::thread thread = {};

  void run();
  bool turn();
  bool drain_requests();
  void begin_due();
  void end_what_ended();
  void end(uint64_t id, CURLcode code);
  void fail(uint64_t id, const std::exception_ptr& fault) noexcept;
  void end_job(Job& job, HttpAnswer answer, const std::exception_ptr& fault) noexcept;
  milliseconds until_next() const;
};

HttpLoop::HttpLoop(HttpOptions options) : state_(new State{std::move(options)}) {
  state_->thread = start_thread(
      "to talk to a server", [state = state_.get()] { state->run(); }, ends_unnoticed);
}

HttpLoop::~HttpLoop() {
  {
    std::lock_guard lock(state_->mutex);
    state_->is_over = true;
  }
  curl_multi_wakeup(state_->multi.get());
  state_->thread.join();
}

uint64_t HttpLoop::start(HttpRequest request, OnEnd on_end, milliseconds delay) {
  request.redirects = Redirects::kNone;
  uint64_t id = 0;
  {
    std::lock_guard lock(state_->mutex);
    id = ++state_->n_started;
    state_->ordered.emplace(id, State::Job{std::move(request), std::move(on_end), Clock::now() + delay});
  }
  curl_multi_wakeup(state_->multi.get());
  return id;
}

void HttpLoop::stop(uint64_t request) {
  {
    std::lock_guard lock(state_->mutex);
    state_->stopped.insert(request);
  }
  curl_multi_wakeup(state_->multi.get());
}

void HttpLoop::State::run() {
  for (bool goes_on = true; goes_on;) {
    try {
      goes_on = turn();
    } catch (...) {  // which job it concerns is unknown
      while (!jobs.empty()) fail(jobs.begin()->first, std::current_exception());
    }
  }
  while (!jobs.empty()) fail(jobs.begin()->first, std::make_exception_ptr(HttpStopped()));
}

bool HttpLoop::State::turn() {
  if (!drain_requests()) return false;
  begin_due();
  int n_running = 0;
  curl_multi_perform(multi.get(), &n_running);
  end_what_ended();
  curl_multi_poll(multi.get(), nullptr, 0, static_cast<int>(until_next().count()), nullptr);
  return true;
}

// False once the loop shuts down. All orders are then among the jobs, and ends add no more.
bool HttpLoop::State::drain_requests() {
  std::set<uint64_t> to_stop;
  bool over = false;
  {
    std::lock_guard lock(mutex);
    jobs.merge(ordered);
    to_stop.swap(stopped);
    over = is_over;
  }
  for (const uint64_t id : to_stop) fail(id, std::make_exception_ptr(HttpStopped()));
  return !over;
}

void HttpLoop::State::begin_due() {
  const Clock::time_point now = Clock::now();
  for (auto& [id, job] : jobs) {
    if (job.transfer || job.begin > now) continue;
    try {
      job.transfer = std::make_unique<HttpTransfer>(multi.get(), options, job.request, job.request.url);
    } catch (...) {
      job.fault = std::current_exception();
    }
  }
  const auto has_fault = [](const auto& entry) { return entry.second.fault != nullptr; };
  for (auto job = jobs.begin(); (job = std::find_if(jobs.begin(), jobs.end(), has_fault)) != jobs.end();)
    fail(job->first, std::exception_ptr(job->second.fault));
}

void HttpLoop::State::end_what_ended() {
  std::vector<std::pair<uint64_t, CURLcode>> ended;
  int n_left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi.get(), &n_left)) {
    const auto job = std::find_if(jobs.begin(), jobs.end(), [&](const auto& entry) {
      return entry.second.transfer && entry.second.transfer->easy() == message->easy_handle;
    });
    if (message->msg == CURLMSG_DONE && job != jobs.end()) ended.emplace_back(job->first, message->data.result);
  }
  const Clock::time_point now = Clock::now();
  for (auto& [id, job] : jobs)
    if (job.transfer && job.transfer->has_stalled(now) &&
        std::none_of(ended.begin(), ended.end(), [&, wanted = id](const auto& e) { return e.first == wanted; }))
      ended.emplace_back(id, CURLE_OPERATION_TIMEDOUT);
  for (const auto& [id, code] : ended) end(id, code);
}

void HttpLoop::State::end(uint64_t id, CURLcode code) {
  auto node = jobs.extract(id);
  if (node.empty()) return;
  Job& job = node.mapped();
  HttpAnswer answer;
  std::exception_ptr fault;
  try {
    answer = job.transfer->finish(code);
  } catch (...) {
    fault = std::current_exception();
  }
  end_job(job, std::move(answer), fault);
}

void HttpLoop::State::fail(uint64_t id, const std::exception_ptr& fault) noexcept {
  auto node = jobs.extract(id);
  if (!node.empty()) end_job(node.mapped(), {}, fault);
}

// An end that throws is told of that instead, so that its owner does not wait for ever.
void HttpLoop::State::end_job(Job& job, HttpAnswer answer, const std::exception_ptr& fault) noexcept {
  job.transfer.reset();
  try {
    job.on_end(std::move(answer), fault);
  } catch (...) {
    try {
      job.on_end({}, std::current_exception());
    } catch (...) {  // there is no memory for the sentence either
    }
  }
}

milliseconds HttpLoop::State::until_next() const {
  milliseconds wait = kIdlePoll;
  for (const auto& [id, job] : jobs)
    wait = std::min(
        wait, job.transfer ? kLongestPoll
                           : std::chrono::ceil<milliseconds>(std::max(job.begin - Clock::now(), Clock::duration(0))));
  return wait;
}

}  // namespace warpchat
