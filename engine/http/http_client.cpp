// Uses libcurl's multi interface for one transfer, since only that can be woken from another thread.
#include "engine/http/http_client.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "engine/http/http_transfer.h"
#include "engine/http/http_url.h"

namespace warpchat {

namespace {
constexpr int kMaxRedirects = 10;
constexpr int kPollMilliseconds = 250;
}  // namespace

struct HttpClient::State {
  HttpOptions options;
  CurlMulti multi = make_curl_multi();
  std::atomic<bool> stopped = false;
  std::mutex mutex = {};  // guards only the wait
  std::condition_variable stopping = {};

  // Returns libcurl's result once the transfer has ended.
  CURLcode drive(HttpTransfer& transfer) {
    for (;;) {
      int n_running = 0, n_left = 0;
      curl_multi_perform(multi.get(), &n_running);
      while (const CURLMsg* message = curl_multi_info_read(multi.get(), &n_left))
        if (message->msg == CURLMSG_DONE) return message->data.result;
      if (stopped || transfer.has_fault()) return CURLE_OK;
      if (transfer.has_stalled(HttpTransfer::Clock::now())) return CURLE_OPERATION_TIMEDOUT;
      curl_multi_poll(multi.get(), nullptr, 0, kPollMilliseconds, nullptr);
    }
  }
};

HttpClient::HttpClient(HttpOptions options) : state_(new State{std::move(options)}) {}
HttpClient::~HttpClient() = default;

HttpAnswer HttpClient::send(const HttpRequest& request) {
  std::string url = request.url;
  for (int i = 0; i <= kMaxRedirects; ++i) {
    HttpAnswer answer = send_once(request, url);
    url = next_url(request, answer);
    if (url.empty()) return answer;
    if (url.starts_with("http://") && !state_->options.origin.starts_with("http://"))
      throw Error(host_of(answer.url) + " redirects to " + host_of(url) + " without encryption; not followed");
  }
  throw Error(host_of(request.url) + " redirects in a circle: " + std::to_string(kMaxRedirects) +
              " times without an answer");
}

HttpAnswer HttpClient::send_once(const HttpRequest& request, const std::string& url) {
  HttpTransfer transfer(state_->multi.get(), state_->options, request, url);
  const CURLcode code = state_->drive(transfer);
  if (state_->stopped && !transfer.has_fault()) throw HttpStopped();
  return transfer.finish(code);
}

void HttpClient::stop() {
  {
    std::lock_guard lock(state_->mutex);
    state_->stopped = true;
  }
  state_->stopping.notify_all();
  curl_multi_wakeup(state_->multi.get());
}

bool HttpClient::wait(std::chrono::milliseconds time) {
  std::unique_lock lock(state_->mutex);
  return !state_->stopping.wait_for(lock, time, [this] { return state_->stopped.load(); });
}

}  // namespace warpchat
