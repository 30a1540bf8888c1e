// A streamed chat completion (or text completion), as it arrives, to events. Knows no network and no clock.
#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "engine/events.h"
#include "engine/reasoning_splitter.h"
#include "engine/remote/sse_parser.h"

namespace warpchat {

class ChatStream {
 public:
  struct Context {
    std::string host;            // for sentences
    bool parts_thought = true;   // <think> in the text is a tag: not where a text is completed
    bool in_thought = false;     // the text begins in the thought
    bool limits_tokens = false;  // max_tokens was asked for
    uint32_t context = 0;        // tokens that fit; 0: not known
  };
  ChatStream(Context context, std::function<void(Event)> emit);
  ChatStream(const ChatStream&) = delete;
  ChatStream& operator=(const ChatStream&) = delete;

  // Bytes of the body; seconds: since the request. Error in one sentence for what is no stream of completions, and for
  // an error that the server reports in it.
  void add(std::string_view bytes, double seconds);

  // The body's end. Error if it came before the answer's.
  GenerationEnd finish(double seconds);

  // The end of an answer for a reason of its own: what is held back is told, tokens and times are those so far.
  GenerationEnd cut(EndReason reason, const std::string& error = "");

  bool has_tokens() const { return n_deltas_ > 0; }
  bool is_complete() const { return is_done_ || !finish_reason_.empty(); }

 private:
  void take_bytes(std::string_view bytes);
  void take_data(std::string_view data);
  void take_chunk(const nlohmann::json& chunk);
  void take_choice(const nlohmann::json& choice);
  void take_text(const std::string& text, bool thinking);
  void take_tool_calls(const nlohmann::json& calls);
  void take_usage(const nlohmann::json& usage, bool is_last);
  void take_timings(const nlohmann::json& timings);
  void take_progress(const nlohmann::json& progress);
  void count_delta();
  void emit_text(std::string text, bool thinking);

  Context context_;
  std::function<void(Event)> emit_;
  SseParser parser_;
  ReasoningSplitter splitter_;
  enum class Body { kUnknown, kEvents, kWhole } body_ = Body::kUnknown;
  std::string start_;                // of a body that is not known yet, or is one JSON document
  double now_ = 0, last_token_ = 0;  // seconds since the request
  double gap_ = 0;                   // of the token at hand; taken by its first event
  bool trims_ = false;               // line ends before an answer whose thought came apart from it
  uint32_t n_deltas_ = 0, told_tokens_ = 0, told_deltas_ = 0;
  bool has_usage_ = false, is_done_ = false;
  std::string finish_reason_;
  Timings timings_;
};

}  // namespace warpchat
