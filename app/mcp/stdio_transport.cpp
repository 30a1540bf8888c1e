// One thread per server reads both streams all the time, so that the server never blocks, and writes what others queue.
#include "app/mcp/stdio_transport.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "app/mcp/json_rpc.h"
#include "models/text_format.h"
#include "models/threads.h"

namespace warpchat {

namespace {

using nlohmann::json;
using std::chrono::milliseconds;
constexpr size_t kMaxErrorLine = 4096;
constexpr size_t kMaxUnread = 1 << 20;  // a server that does not read gets no more answers to its own requests
constexpr milliseconds kAfterInput{2000}, kAfterTerm{1000}, kWithoutDescriptor{50};
constexpr const char* kIsEnding = "it is ending";

}  // namespace

StdioTransport::StdioTransport(const McpServerConfig& config, McpLog& log)
    : McpTransport(log),
      process_(config),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      lines_(kMaxMessageBytes),
      errors_(kMaxErrorLine) {
  if (wake_ < 0) throw Error(std::string("cannot create an event descriptor: ") + std::strerror(errno));
  thread_ = start_thread(
      "to talk to a server", [this] { run(); }, [this](const char* sentence) { mark_ended(sentence); });
}

StdioTransport::~StdioTransport() {
  end();
  thread_.join();
  close(wake_);
}

McpResponse StdioTransport::request(McpRequest request, Deadline& deadline, std::stop_token stop) {
  const int64_t id = next_request_id();
  if (request.wants_progress) request.params["_meta"]["progressToken"] = id;
  const json message = request_message(id, request.method, request.params);
  Pending pending{request, deadline};
  std::unique_lock lock(mutex_);
  if (has_ended_ || ends_) throw McpEnded(has_ended_ ? how_ : kIsEnding);
  pending_[id] = &pending;
  queue(message);
  const auto is_done = [&] { return pending.response || pending.fault || has_ended_; };
  while (!is_done() && !stop.stop_requested() && !deadline.is_over())
    changed_.wait_until(lock, stop, deadline.end(), is_done);
  pending_.erase(id);
  if (pending.response) return std::move(*pending.response);
  if (pending.fault) std::rethrow_exception(pending.fault);
  if (has_ended_) throw McpEnded(how_);
  const bool is_stopped = stop.stop_requested();
  if (request.can_cancel)
    queue(notification_message("notifications/cancelled",
                               {{"requestId", id}, {"reason", is_stopped ? "stopped by the user" : "timeout"}}));
  if (is_stopped) throw McpStopped();
  throw deadline.timeout();
}

void StdioTransport::notify(const std::string& method, json params) {
  const std::lock_guard lock(mutex_);
  queue(notification_message(method, std::move(params)));
}

void StdioTransport::set_version(const std::string&, bool is_modern) {
  const std::lock_guard lock(mutex_);
  is_modern_ = is_modern;
}

bool StdioTransport::has_ended() const {
  const std::lock_guard lock(mutex_);
  return has_ended_ || ends_;
}

void StdioTransport::end() {
  std::unique_lock lock(mutex_);
  ends_ = true;
  wake();
  changed_.wait(lock, [this] { return has_ended_; });
}

void StdioTransport::queue(const json& message) {
  if (has_ended_) return;
  outgoing_ += message_text(message) + "\n";
  wake();
}

void StdioTransport::wake() const {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(wake_, &one, sizeof one);
}

void StdioTransport::run() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);  // a write to a server that has ended must not end this program
  while (!process_.has_ended()) {
    wait_for_events();
    write_input();
    read_streams();
    change_phase();
  }
  read_streams();  // what it wrote last
  lines_.finish([this](std::string_view line, bool is_whole) { on_line(line, is_whole); });
  mark_ended(process_.reap());
}

void StdioTransport::wait_for_events() {
  const int in = process_.in().writer();
  bool has_text = false;
  {
    const std::lock_guard lock(mutex_);
    has_text = !outgoing_.empty();
  }
  pollfd waiting[] = {{wake_, POLLIN, 0},
                      {process_.descriptor(), POLLIN, 0},
                      {has_out_ ? process_.out().reader() : -1, POLLIN, 0},
                      {has_err_ ? process_.err().reader() : -1, POLLIN, 0},
                      {has_text ? in : -1, POLLOUT, 0}};
  milliseconds time{-1};  // until something happens
  if (process_.descriptor() < 0) time = kWithoutDescriptor;
  if (phase_ != Phase::kRunning) {
    const auto left = std::chrono::ceil<milliseconds>(phase_end_ - Deadline::Clock::now());
    time = std::max(milliseconds(0), time.count() < 0 ? left : std::min(left, time));
  }
  poll(waiting, std::size(waiting), static_cast<int>(time.count()));
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t n = read(wake_, &count, sizeof count);
}

// A bounded piece of each stream, so that a server that writes without end does not keep the others waiting.
void StdioTransport::read_streams() {
  std::string text(size_t{1} << 16, '\0');
  const auto read_piece = [&](Pipe& pipe, const auto& add) {
    constexpr int kMaxPieces = 32;
    for (int i = 0; i < kMaxPieces; ++i) {
      const ssize_t n = read(pipe.reader(), text.data(), text.size());
      if (n > 0) add(std::string_view(text).substr(0, static_cast<size_t>(n)));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return n < 0 && errno == EAGAIN;
    }
    return true;
  };
  if (has_err_)
    has_err_ = read_piece(process_.err(), [this](std::string_view bytes) {
      errors_.add(bytes, [this](std::string_view line, bool) { log_.add("stderr", line); });
    });
  if (!has_out_) return;
  has_out_ = read_piece(process_.out(), [this](std::string_view bytes) {
    lines_.add(bytes, [this](std::string_view line, bool is_whole) { on_line(line, is_whole); });
  });
  if (has_out_) return;
  const std::lock_guard lock(mutex_);  // it can answer no more
  ends_ = true;
}

void StdioTransport::write_input() {
  const std::lock_guard lock(mutex_);
  Pipe& in = process_.in();
  while (!outgoing_.empty() && in.writer() >= 0) {
    const ssize_t n = write(in.writer(), outgoing_.data(), outgoing_.size());
    if (n > 0) outgoing_.erase(0, static_cast<size_t>(n));
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0 && errno != EINTR) in.close_writer();
  }
  if (in.writer() < 0) outgoing_.clear();
}

// Each step is for servers that ignore the one before it; a well-behaved one sees no signal.
void StdioTransport::change_phase() {
  const auto now = Deadline::Clock::now();
  if (phase_ == Phase::kRunning) {
    const std::lock_guard lock(mutex_);
    if (!ends_) return;
    process_.in().close_writer();
    phase_ = Phase::kInputClosed, phase_end_ = now + kAfterInput;
  } else if (now >= phase_end_ && phase_ == Phase::kInputClosed) {
    process_.signal_group(SIGTERM);
    phase_ = Phase::kTerminated, phase_end_ = now + kAfterTerm;
  } else if (now >= phase_end_) {
    process_.signal_group(SIGKILL);
    phase_ = Phase::kKilled, phase_end_ = now + kAfterTerm;
  }
}

void StdioTransport::mark_ended(const std::string& how) {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    how_ = how;
  }
  changed_.notify_all();
}

void StdioTransport::on_line(std::string_view line, bool is_whole) {
  if (!is_whole) {  // whose answer it was is unknown
    const std::string sentence = "it answers with a line of more than " + grouped(kMaxMessageBytes) + " bytes";
    log_.add("unreadable", sentence);
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [id, pending] : pending_) pending->fault = std::make_exception_ptr(Error(sentence));
    }
    return changed_.notify_all();
  }
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
  try {
    read_messages(line, [this](json message) { on_message(std::move(message)); });
  } catch (const Error& error) {
    log_.add("unreadable", std::string(error.what()) + ": " + std::string(line.substr(0, kMaxErrorLine)));
  }
}

void StdioTransport::on_message(json message) {
  const MessageKind kind = kind_of(message);
  if (kind == MessageKind::kResponse) return on_response(std::move(message));
  if (kind == MessageKind::kNone) return log_.add("unreadable", "it is no message of JSON-RPC");
  const std::lock_guard lock(mutex_);
  if (kind == MessageKind::kRequest) {
    if (is_modern_)
      log_.add("unreadable", "a server of MCP 2026-07-28 must not send requests");
    else if (outgoing_.size() < kMaxUnread)
      queue(answer_to_server(message));
    return;
  }
  for (const auto& [id, pending] : pending_)
    if (handle_progress(message, id, pending->request, pending->deadline)) return;
  on_notification(message);
}

void StdioTransport::on_response(json message) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(pending_, [&](const auto& entry) { return answers(message, entry.first); });
    if (found == pending_.end()) return log_.add("unreadable", "it answers no open request");
    try {
      found->second->response = checked_response(std::move(message));
    } catch (const McpNoResponse&) {
      found->second->fault = std::current_exception();
    }
  }
  changed_.notify_all();
}

}  // namespace warpchat
