// libcurl's multi interface with one transfer, since only that can be woken from another thread.
#include "engine/hub/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string_view>
#include <utility>

#include "engine/hub/model_name.h"
#include "models/message.h"

namespace warpchat {

namespace {

constexpr int kMostRedirects = 10;
constexpr size_t kMostHeaderBytes = 64 << 10;
constexpr size_t kStallBytesPerSecond = 100;
constexpr int kLongestPoll = 250;  // ms
constexpr long kBufferBytes = 256 << 10;

bool is_redirect(long status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

std::string trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

// Where the answer sends the request on; empty: nowhere.
std::string next_url(const HttpRequest& request, const HttpAnswer& answer) {
  const std::string location = answer.header("location");
  if (request.redirects == Redirects::kNone || !is_redirect(answer.status) || location.empty()) return "";
  const std::string url = resolve_url(answer.url, location);
  if (origin_of(url).empty())
    throw Error("cannot follow " + host_of(answer.url) + " to '" + printable(location) + "', which is no web address");
  const bool same = origin_of(url) == origin_of(answer.url);
  return same || request.redirects == Redirects::kAll ? url : "";
}

// One transfer on its way from libcurl's callbacks to the request's.
struct Transfer {
  const HttpRequest& request;
  size_t most_text_bytes;
  HttpAnswer answer = {};
  size_t header_bytes = 0, body_bytes = 0;
  bool has_begun = false, is_followed = false;
  std::exception_ptr fault = {};

  bool is_wanted() const { return request.on_body && answer.status / 100 == 2; }

  void begin() {
    if (std::exchange(has_begun, true)) return;
    is_followed = !next_url(request, answer).empty();
    if (!is_followed && request.on_answer) request.on_answer(answer);
  }

  void add_header(std::string_view line) {
    header_bytes += line.size();
    if (header_bytes > kMostHeaderBytes)
      throw Error(host_of(answer.url) + " sends more than " + grouped(kMostHeaderBytes) + " bytes of headers");
    if (line.starts_with("HTTP/")) {  // what came before was another answer's, as 100 Continue
      answer.headers.clear();
      answer.status = std::strtol(std::string(line.substr(std::min(line.find(' '), line.size()))).c_str(), nullptr, 10);
    }
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    answer.headers[lower_case(trimmed(line.substr(0, colon)))] = trimmed(line.substr(colon + 1));
  }

  void add_body(std::string_view bytes) {
    begin();
    body_bytes += bytes.size();
    if (!is_followed && is_wanted()) return request.on_body(std::as_bytes(std::span(bytes)));
    if (is_followed || answer.status / 100 != 2)
      bytes = bytes.substr(0, kMostHeaderBytes - std::min(kMostHeaderBytes, answer.body.size()));
    if (answer.body.size() + bytes.size() > most_text_bytes)
      throw Error(host_of(answer.url) + " answers with more than " + grouped(most_text_bytes) +
                  " bytes where a short text was expected; is this the right server?");
    answer.body += bytes;
  }

  // libcurl is C: nothing may be thrown through it.
  template <class Action>
  size_t guard(size_t n_bytes, const Action& action) {
    try {
      action();
      return n_bytes;
    } catch (...) {
      fault = std::current_exception();
      return n_bytes == 0 ? 1 : 0;  // anything but what was given ends the transfer
    }
  }
};

size_t take_header(char* data, size_t size, size_t n, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  return transfer.guard(size * n, [&] { transfer.add_header({data, size * n}); });
}

size_t take_body(char* data, size_t size, size_t n, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  return transfer.guard(size * n, [&] { transfer.add_body({data, size * n}); });
}

struct HeaderList {
  curl_slist* first = nullptr;
  void add(const std::string& line) { first = curl_slist_append(first, line.c_str()); }
  ~HeaderList() { curl_slist_free_all(first); }
};

// libcurl's words as a part of a sentence: "Recv failure: ..." loses its capital, "OpenSSL/3.0: ..." does not.
std::string as_cause(std::string why) {
  while (why.ends_with('.')) why.pop_back();
  const std::string word = why.substr(0, why.find(' '));
  const bool is_plain = word.size() > 1 &&
                        std::all_of(word.begin() + 1, word.end(), [](unsigned char c) { return std::islower(c) != 0; });
  if (is_plain) why[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(why[0])));
  return printable(why, 200);
}

[[noreturn]] void throw_fault(CURLcode code, const std::string& url, const std::string& curl_words) {
  const std::string host = host_of(url), why = as_cause(curl_words);
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      throw HttpUnreachable("cannot reach " + host + ": no address is known for this name; is there a network?");
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
    case CURLE_SSL_CONNECT_ERROR:
      throw HttpUnreachable("cannot reach " + host + ": " + why);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_INVALIDCERTSTATUS:
      throw Error("cannot trust " + host + ", nothing was sent to it: " + why);
    case CURLE_OPERATION_TIMEDOUT:
      throw HttpBroken(host + " sends nothing more: " + why);
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      throw HttpBroken("the connection to " + host + " broke: " + why);
    default:
      throw Error("cannot use " + host + ": " + why);
  }
}

}  // namespace

struct HttpClient::State {
  HttpOptions options;
  CURLM* multi = nullptr;
  CURL* easy = nullptr;
  std::atomic<bool> stopped = false;
  std::mutex mutex;  // only of the wait
  std::condition_variable stopping;

  explicit State(HttpOptions o) : options(std::move(o)) {
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    multi = curl_multi_init();
    easy = curl_easy_init();
    if (ready != CURLE_OK || multi == nullptr || easy == nullptr) throw Error("cannot start libcurl");
  }
  ~State() {
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
  }

  void set(const HttpRequest& request, const std::string& url, HeaderList& headers, Transfer& transfer, char* why) {
    curl_easy_reset(easy);
    curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, options.origin.starts_with("http://") ? "http,https" : "https");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, kBufferBytes);
    curl_easy_setopt(easy, CURLOPT_NOBODY, request.head ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, options.user_agent.c_str());
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, static_cast<long>(options.stall.count()));
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, static_cast<long>(request.timeout.count()));
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, why);
    headers.add("Accept-Encoding: identity");
    if (request.from > 0) headers.add("Range: bytes=" + std::to_string(request.from) + "-");
    if (!options.token.empty() && origin_of(url) == options.origin)
      headers.add("Authorization: Bearer " + options.token);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.first);
  }

  // libcurl's verdict, once the transfer has ended. Stalls are measured here: libcurl's own low-speed limit adds five
  // seconds to any time.
  CURLcode drive(const Transfer& transfer) {
    curl_multi_add_handle(multi, easy);
    CURLcode result = CURLE_OK;
    const size_t least_bytes = kStallBytesPerSecond * static_cast<size_t>(options.stall.count());
    auto window_end = std::chrono::steady_clock::now() + options.stall;
    size_t bytes_before = 0;
    for (bool ended = false; !ended;) {
      int n_running = 0, n_left = 0;
      curl_multi_perform(multi, &n_running);
      while (const CURLMsg* message = curl_multi_info_read(multi, &n_left))
        if (message->msg == CURLMSG_DONE) result = message->data.result, ended = true;
      if (stopped || transfer.fault) break;
      if (const auto now = std::chrono::steady_clock::now(); !ended && now >= window_end) {
        const size_t bytes = transfer.header_bytes + transfer.body_bytes;
        if (bytes - bytes_before < least_bytes) result = CURLE_OPERATION_TIMEDOUT, ended = true;
        bytes_before = bytes;
        window_end = now + options.stall;
      }
      if (!ended) curl_multi_poll(multi, nullptr, 0, kLongestPoll, nullptr);
    }
    curl_multi_remove_handle(multi, easy);
    return result;
  }
};

std::string HttpAnswer::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

HttpClient::HttpClient(HttpOptions options) : state_(std::make_unique<State>(std::move(options))) {}
HttpClient::~HttpClient() = default;

HttpAnswer HttpClient::send(const HttpRequest& request) {
  std::string url = request.url;
  for (int i = 0; i <= kMostRedirects; ++i) {
    HttpAnswer answer = send_once(request, url);
    url = next_url(request, answer);
    if (url.empty()) return answer;
    if (url.starts_with("http://") && !state_->options.origin.starts_with("http://"))
      throw Error(host_of(answer.url) + " redirects to " + host_of(url) + " without encryption; not followed");
  }
  throw Error(host_of(request.url) + " redirects in a circle: " + std::to_string(kMostRedirects) +
              " times without an answer");
}

HttpAnswer HttpClient::send_once(const HttpRequest& request, const std::string& url) {
  Transfer transfer{request, state_->options.most_text_bytes};
  transfer.answer.url = url;
  char why[CURL_ERROR_SIZE] = "";
  HeaderList headers;
  CURL* easy = state_->easy;
  state_->set(request, url, headers, transfer, why);
  CURLcode code = state_->drive(transfer);
  if (code == CURLE_OPERATION_TIMEDOUT && transfer.header_bytes == 0) code = CURLE_COULDNT_CONNECT;
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, nullptr);
  if (transfer.fault) std::rethrow_exception(transfer.fault);
  if (state_->stopped) throw HttpStopped();
  if (code != CURLE_OK) {
    const bool is_late = code == CURLE_OPERATION_TIMEDOUT || code == CURLE_COULDNT_CONNECT;
    throw_fault(code, url, *why ? why : is_late ? "no data in time" : curl_easy_strerror(code));
  }
  transfer.begin();
  return std::move(transfer.answer);
}

void HttpClient::stop() {
  {
    std::lock_guard lock(state_->mutex);
    state_->stopped = true;
  }
  state_->stopping.notify_all();
  curl_multi_wakeup(state_->multi);
}

bool HttpClient::wait(std::chrono::milliseconds time) {
  std::unique_lock lock(state_->mutex);
  return !state_->stopping.wait_for(lock, time, [this] { return state_->stopped.load(); });
}

}  // namespace warpchat
