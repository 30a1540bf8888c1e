// Converts a streamed chat completion (or text completion) to events. Independent of network and clock.
#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "engine/events.h"
#include "engine/reasoning_splitter.h"
#include "engine/remote/finish_reason.h"
#include "engine/remote/repeated_thought.h"
#include "engine/remote/split_characters.h"
#include "engine/remote/sse_parser.h"

namespace warpchat {

class ChatStream {
 public:
  struct Context {
    std::string host;              // for messages
    bool splits_reasoning = true;  // marks of thoughts are no text; false for text completion
    ReasoningSplitter::Begin begin = {};
    bool presumes_thought = false;  // the answer probably begins with a thought that nothing marks
    bool limits_tokens = false;     // the request had max_tokens
    uint32_t context = 0;           // context in tokens; 0: unknown
    std::string key = {};           // never quoted
  };
  ChatStream(Context context, std::function<void(Event)> emit);
  ChatStream(const ChatStream&) = delete;
  ChatStream& operator=(const ChatStream&) = delete;

  // bytes: of the body; seconds: since the request. Error for anything but a stream of completions, and for an error
  // that the server reports in it. An event that is not JSON is passed over.
  void add(std::string_view bytes, double seconds);

  // Call at the body's end, or when is_done(). Error if that is before the answer's end, or if the server gives an
  // unknown reason for the end.
  GenerationEnd finish(double seconds);

  // Ends the answer for another reason: emits text held back, with tokens and times so far.
  GenerationEnd cut(EndReason reason, const std::string& error = "");

  bool has_tokens() const { return n_deltas_ > 0; }
  bool is_done() const { return is_done_; }  // nothing more belongs to the answer
  bool is_complete() const { return finish_ != Finish::kUnknown && (is_done_ || finish_ != Finish::kNone); }
  // The answer is complete, and only its usage may follow.
  bool is_ending() const { return is_complete() && !finishes_early_; }
  uint64_t payload_bytes() const;  // of the body, without comments

 private:
  void take_bytes(std::string_view bytes);
  void take_data(std::string_view data);
  void take_chunk(const nlohmann::json& chunk);
  void take_choice(const nlohmann::json& choice);
  void take_finish(const std::string& reason);
  void take_text(const std::string& text, bool thinking);
  void take_whole_text(const std::string& text, bool thinking);
  void take_tool_calls(const nlohmann::json& calls);
  void take_tool_call(uint32_t index, const nlohmann::json& call, const nlohmann::json* function);
  void take_usage(const nlohmann::json& usage, bool is_last);
  void take_timings(const nlohmann::json& timings);
  void take_progress(const nlohmann::json& progress);
  void count_delta();
  void begin_apart();
  void emit_text(std::string text, bool thinking);
  void emit_pieces(const std::vector<ReasoningSplitter::Piece>& pieces);
  [[noreturn]] void throw_reported(std::string_view data) const;
  [[noreturn]] void throw_incomplete() const;

  Context context_;
  std::function<void(Event)> emit_;
  SseParser parser_;
  ReasoningSplitter splitter_;
  RepeatedThought repeated_;  // of separate reasoning
  enum class Body { kUnknown, kEvents, kWhole } body_ = Body::kUnknown;
  std::string start_;                // start of a body of unknown kind, or of a single JSON document
  double now_ = 0, last_token_ = 0;  // seconds since the request
  double gap_ = 0;                   // time before the current token; used by its first event
  bool trims_ = false;               // drop line breaks before an answer whose reasoning came separately
  bool is_apart_ = false;            // the server sends reasoning separately
  bool reasoning_ended_ = false;     // content came behind separate reasoning
  uint32_t n_deltas_ = 0, told_tokens_ = 0, told_deltas_ = 0;
  uint32_t n_chunks_ = 0, n_unreadable_ = 0;  // events that are JSON, and those that are not
  uint32_t n_lost_ = 0;                       // unreadable events that look like a chunk
  std::string unreadable_;                    // the first unreadable event
  bool has_usage_ = false, knows_reused_ = false, is_done_ = false;
  Finish finish_ = Finish::kNone;
  std::string unknown_reason_;   // kUnknown
  bool finishes_early_ = false;  // text followed a finish reason
  SplitCharacters reasoning_parts_, content_parts_;
  Timings timings_;
};

}  // namespace warpchat
