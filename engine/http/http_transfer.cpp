// Sets libcurl's options, implements its callbacks and translates its results.
#include "engine/http/http_transfer.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <utility>

#include "engine/http/http_url.h"
#include "models/ascii.h"
#include "models/number_in.h"
#include "models/out_of_memory.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr size_t kMaxHeaderBytes = 64 << 10;
constexpr size_t kStallBytesPerSecond = 100;
constexpr long kBufferBytes = 256 << 10;

bool is_redirect(long status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// Turns libcurl's message into part of a sentence: lowers the capital of "Recv failure: ...", but not of "OpenSSL/3.0:
// ...".
std::string as_cause(std::string why) {
  while (why.ends_with('.')) why.pop_back();
  const std::string word = why.substr(0, why.find(' '));
  const bool is_plain = word.size() > 1 &&
                        std::all_of(word.begin() + 1, word.end(), [](unsigned char c) { return std::islower(c) != 0; });
  if (is_plain) why[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(why[0])));
  return printable(why, 200);
}

// system_error: errno of a failed connection, else 0.
[[noreturn]] void throw_fault(CURLcode code, const std::string& url, const std::string& curl_words, long system_error) {
  const std::string host = host_of(url), why = as_cause(curl_words);
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      throw HttpUnreachable("cannot reach " + host + ": no address is known for this name; is there a network?");
    case CURLE_COULDNT_CONNECT:
      if (system_error == ECONNREFUSED)
        throw HttpUnreachable("cannot reach " + host + ": connection refused; is the server running?");
      [[fallthrough]];
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_PROXY:
    case CURLE_SSL_CONNECT_ERROR:
      throw HttpUnreachable("cannot reach " + host + ": " + why);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_INVALIDCERTSTATUS:
      throw Error("cannot trust " + host + ", nothing was sent to it: " + why);
    case CURLE_OPERATION_TIMEDOUT:
      throw HttpBroken(host + " stopped sending: " + why);
    case CURLE_PARTIAL_FILE:
      throw HttpBroken("the connection to " + host + " was lost in the middle of the answer");
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      throw HttpBroken("the connection to " + host + " was lost: " + why);
    default:
      throw Error("cannot use " + host + ": " + why);
  }
}

// Certificate bundle from the variables that curl and OpenSSL use; null: the system's.
const char* certificate_bundle() {
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"})
    if (const char* path = std::getenv(name); path != nullptr && *path != 0) return path;
  return nullptr;
}

// Sets options, each of which matters: a request must not go out without its headers or its trusted certificates.
auto setter(CURL* easy) {
  return [easy](CURLoption option, const auto& value) {
    const CURLcode code = curl_easy_setopt(easy, option, value);
    if (code == CURLE_OUT_OF_MEMORY) throw OutOfMemory();
    if (code != CURLE_OK) throw Error(std::string("cannot set up libcurl: ") + curl_easy_strerror(code));
  };
}

std::chrono::milliseconds milliseconds_of(double number) {
  constexpr double kMax = 1e12;  // NaN and waits of decades, too
  return std::chrono::milliseconds(number > 0 ? static_cast<int64_t>(std::ceil(std::min(number, kMax))) : 0);
}

std::string seconds_of(std::chrono::milliseconds time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count()) + " s";
}

}  // namespace

std::string HttpAnswer::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

std::chrono::milliseconds HttpAnswer::retry_after() const {
  const std::string text = header("retry-after");
  if (const auto wait = number_in<double>(header("retry-after-ms"))) return milliseconds_of(*wait);
  if (const auto wait = number_in<double>(text)) return milliseconds_of(*wait * 1000);
  const time_t date = text.empty() ? -1 : curl_getdate(text.c_str(), nullptr);
  const time_t told_now = curl_getdate(header("date").c_str(), nullptr);
  const time_t now = told_now < 0 ? std::time(nullptr) : told_now;
  return std::chrono::seconds(date > now ? date - now : 0);
}

bool may_do_better_later(long status) {
  return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

CurlMulti make_curl_multi() {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  CurlMulti multi(curl_multi_init());
  if (ready != CURLE_OK || !multi) throw Error("cannot start libcurl");
  return multi;
}

std::string next_url(const HttpRequest& request, const HttpAnswer& answer) {
  const std::string location = answer.header("location");
  if (request.redirects == Redirects::kNone || !is_redirect(answer.status) || location.empty()) return "";
  const std::string url = resolve_url(answer.url, location);
  if (origin_of(url).empty())
    throw Error("cannot follow " + host_of(answer.url) + " to '" + printable(location) + "', which is no web address");
  const bool same = origin_of(url) == origin_of(answer.url);
  return same || request.redirects == Redirects::kAll ? url : "";
}

HttpTransfer::HttpTransfer(CURLM* multi, const HttpOptions& options, const HttpRequest& request, std::string url)
    : multi_(multi),
      easy_(curl_easy_init()),
      request_(request),
      is_text_(request.json || !request.on_body),
      max_text_bytes_(options.max_text_bytes),
      stall_(options.stall) {
  if (!easy_) throw Error("cannot start libcurl");
  answer_.url = std::move(url);
  set_options(options);
  set_headers(options);
  if (curl_multi_add_handle(multi_, easy_.get()) != CURLM_OK) throw OutOfMemory();
}

HttpTransfer::~HttpTransfer() { curl_multi_remove_handle(multi_, easy_.get()); }

void HttpTransfer::set_options(const HttpOptions& options) {
  const auto set = setter(easy_.get());
  set(CURLOPT_URL, answer_.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, options.origin.starts_with("http://") ? "http,https" : "https");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_BUFFERSIZE, kBufferBytes);
  set(CURLOPT_NOBODY, request_.head ? 1L : 0L);
  if (request_.remove) set(CURLOPT_CUSTOMREQUEST, "DELETE");
  set(CURLOPT_USERAGENT, options.user_agent.c_str());
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_CONNECTTIMEOUT, static_cast<long>(options.stall.count()));
  set(CURLOPT_TIMEOUT, static_cast<long>(request_.timeout.count()));
  set(CURLOPT_HEADERFUNCTION, take_header);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, take_body);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_ERRORBUFFER, why_);
  set(CURLOPT_PRIVATE, this);
  if (const char* bundle = certificate_bundle()) set(CURLOPT_CAINFO, bundle);
  if (is_text_) set(CURLOPT_ACCEPT_ENCODING, "identity");  // some servers compress nevertheless
  if (!request_.json) return;
  set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.json->size()));
  set(CURLOPT_POSTFIELDS, request_.json->data());
}

void HttpTransfer::set_headers(const HttpOptions& options) {
  const auto add = [&](const std::string& line) {
    curl_slist* const longer = curl_slist_append(headers_.get(), line.c_str());
    if (longer == nullptr) throw OutOfMemory();
    static_cast<void>(headers_.release());
    headers_.reset(longer);
  };
  if (!is_text_) add("Accept-Encoding: identity");
  if (request_.json) {
    add("Content-Type: application/json");
    add("Expect:");  // avoids waiting a second for "100 Continue", which few servers send
  }
  if (request_.from > 0) add("Range: bytes=" + std::to_string(request_.from) + "-");
  if (origin_of(answer_.url) == options.origin) {
    if (!options.token.empty()) add("Authorization: Bearer " + options.token);
    for (const std::string& line : request_.headers) add(line);
  }
  setter(easy_.get())(CURLOPT_HTTPHEADER, headers_.get());
}

void HttpTransfer::begin() {
  if (std::exchange(has_begun_, true)) return;
  is_followed_ = !next_url(request_, answer_).empty();
  if (!is_followed_ && request_.on_answer) request_.on_answer(answer_);
}

void HttpTransfer::add_header(std::string_view line) {
  header_bytes_ += line.size();
  if (header_bytes_ > kMaxHeaderBytes)
    throw Error(host_of(answer_.url) + " sends more than " + grouped(kMaxHeaderBytes) + " bytes of headers");
  if (line.starts_with("HTTP/")) {  // earlier headers belong to another answer, e.g. 100 Continue
    answer_.headers.clear();
    answer_.status = std::strtol(std::string(line.substr(std::min(line.find(' '), line.size()))).c_str(), nullptr, 10);
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  answer_.headers[lower_case(trimmed(line.substr(0, colon)))] = trimmed(line.substr(colon + 1));
}

void HttpTransfer::add_body(std::string_view bytes) {
  throw_if_out_of_memory();
  begin();
  body_bytes_ += bytes.size();
  const bool is_good = answer_.status / 100 == 2;
  if (!is_followed_ && is_good && request_.on_body) return request_.on_body(std::as_bytes(std::span(bytes)));
  if (is_followed_ || !is_good)
    bytes = bytes.substr(0, kMaxHeaderBytes - std::min(kMaxHeaderBytes, answer_.body.size()));
  if (answer_.body.size() + bytes.size() > max_text_bytes_)
    throw Error(host_of(answer_.url) + " answers with more than " + grouped(max_text_bytes_) +
                " bytes where a short text was expected; is this the right server?");
  answer_.body += bytes;
}

// libcurl is C, so exceptions must not pass through it.
template <class Action>
size_t HttpTransfer::guard(size_t n_bytes, const Action& action) {
  try {
    action();
    return n_bytes;
  } catch (...) {
    fault_ = std::current_exception();
    return n_bytes == 0 ? 1 : 0;  // any other return value ends the transfer
  }
}

size_t HttpTransfer::take_header(char* data, size_t size, size_t n, void* user) {
  auto& transfer = *static_cast<HttpTransfer*>(user);
  return transfer.guard(size * n, [&] { transfer.add_header({data, size * n}); });
}

size_t HttpTransfer::take_body(char* data, size_t size, size_t n, void* user) {
  auto& transfer = *static_cast<HttpTransfer*>(user);
  return transfer.guard(size * n, [&] { transfer.add_body({data, size * n}); });
}

bool HttpTransfer::has_stalled(Clock::time_point now) {
  if (request_.deadline && now >= request_.deadline()) return true;
  const bool is_read = request_.payload_bytes && answer_.status / 100 == 2;
  const uint64_t bytes = header_bytes_ + (is_read ? request_.payload_bytes() : body_bytes_);
  if (request_.longest_silence) {
    if (bytes != bytes_before_) window_begin_ = now;
    bytes_before_ = bytes;
    return now - window_begin_ >= request_.longest_silence();
  }
  if (now < window_begin_ + stall_) return false;
  const bool stalled = bytes - bytes_before_ < kStallBytesPerSecond * static_cast<size_t>(stall_.count());
  bytes_before_ = bytes;
  window_begin_ = now;
  return stalled;
}

HttpAnswer HttpTransfer::finish(CURLcode code) {
  if (fault_) std::rethrow_exception(fault_);
  if (code == CURLE_OPERATION_TIMEDOUT && header_bytes_ == 0 && !request_.longest_silence) code = CURLE_COULDNT_CONNECT;
  if (code != CURLE_OK) {
    const bool is_late = code == CURLE_OPERATION_TIMEDOUT || code == CURLE_COULDNT_CONNECT;
    const std::string late =
        request_.longest_silence ? "nothing came for " + seconds_of(request_.longest_silence()) : "no data in time";
    long system_error = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_OS_ERRNO, &system_error);
    throw_fault(code, answer_.url, *why_ ? why_ : is_late ? late : curl_easy_strerror(code), system_error);
  }
  begin();
  return std::move(answer_);
}

}  // namespace warpchat
