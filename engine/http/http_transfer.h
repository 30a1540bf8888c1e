// One request in a libcurl multi handle: TLS is verified, proxies come from the environment, stalls are detected, and
// answers are bounded. The caller drives and owns the multi handle.
#pragma once
#include <curl/curl.h>

#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include "engine/http/http_request.h"

namespace warpchat {

struct CurlMultiDeleter {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
using CurlMulti = std::unique_ptr<CURLM, CurlMultiDeleter>;
struct CurlEasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct CurlListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
CurlMulti make_curl_multi();  // Error if libcurl cannot start

// Redirect target of the answer; empty: none. Error for a target that is no web address.
std::string next_url(const HttpRequest& request, const HttpAnswer& answer);

class HttpTransfer {
 public:
  using Clock = std::chrono::steady_clock;

  // Adds itself to the multi handle, and removes itself on destruction, which closes an active connection. options and
  // request must outlive it.
  HttpTransfer(CURLM* multi, const HttpOptions& options, const HttpRequest& request, std::string url);
  ~HttpTransfer();
  HttpTransfer(const HttpTransfer&) = delete;
  HttpTransfer& operator=(const HttpTransfer&) = delete;

  const CURL* easy() const { return easy_.get(); }
  bool has_fault() const { return fault_ != nullptr; }  // a callback threw: the transfer can end
  bool has_stalled(Clock::time_point now);              // libcurl's own low-speed limit is up to five seconds late

  HttpAnswer finish(CURLcode code);  // libcurl's result, or CURLE_OPERATION_TIMEDOUT; throws like HttpClient::send

 private:
  static size_t take_header(char* data, size_t size, size_t n, void* user);
  static size_t take_body(char* data, size_t size, size_t n, void* user);
  void set_options(const HttpOptions& options);
  void set_headers(const HttpOptions& options);
  void begin();
  void add_header(std::string_view line);
  void add_body(std::string_view bytes);
  template <class Action>
  size_t guard(size_t n_bytes, const Action& action);

  CURLM* multi_;
  std::unique_ptr<curl_slist, CurlListDeleter> headers_;  // used by easy_
  std::unique_ptr<CURL, CurlEasyDeleter> easy_;
  const HttpRequest& request_;
  bool is_text_;  // not a file, whose bytes count
  size_t max_text_bytes_;
  std::chrono::seconds stall_;
  HttpAnswer answer_;
  size_t header_bytes_ = 0, body_bytes_ = 0;
  bool has_begun_ = false, is_followed_ = false;
  Clock::time_point window_begin_ = Clock::now();  // start of the stall measurement
  uint64_t bytes_before_ = 0;
  std::exception_ptr fault_ = {};
  char why_[CURL_ERROR_SIZE] = "";
};

}  // namespace warpchat
