// An answer of the local model as events: tokens become text, its thought is split off, and its calls are read.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/calls/call_parser.h"
#include "engine/sequences/scheduler.h"
#include "engine/session/prompt_builder.h"
#include "engine/session/responder.h"

namespace warpchat {

class LocalGeneration : public Generation {
 public:
  // Text is passed through, unless read_messages() says more.
  LocalGeneration(std::shared_ptr<ScheduledAnswer> answering, const Tokenizer& tokenizer, const Usage& usage)
      : answering_(std::move(answering)), tokenizer_(tokenizer), detokenizer_(tokenizer), events_{usage} {}
  ~LocalGeneration() override;

  struct Reading {
    bool finds_unopened = true;        // ReasoningSplitter's
    std::vector<CallTool> tools = {};  // none: nothing is read as a call
  };
  // An answer to messages. Before the first event.
  void read_messages(const BuiltPrompt& prompt, Reading reading);

  void stop() override { answering_->stop(); }
  std::optional<Event> next_event(std::chrono::milliseconds timeout) override;

 private:
  struct Part {
    std::string text;
    bool thinking = false;
    bool was_thought = false;  // ReasoningSplitter's
    bool is_marker = false;    // the text of a control token
  };
  using Pieces = std::vector<ReasoningSplitter::Piece>;
  using Parts = std::vector<Part>;

  void push_event(const PromptProgress& progress) { events_.push_back(progress); }
  void push_event(const NextToken& next);
  void push_event(GenerationEnd& end);
  Pieces split(std::string text);
  Parts read_held(bool is_end);
  bool begins(const std::vector<Token>& mark) const;
  bool is_marker(Token token) const;
  void add(Parts parts, Token token, double seconds);
  void add_text(std::string text, bool thinking);
  void add_calls(std::vector<CallPiece> pieces);

  std::shared_ptr<ScheduledAnswer> answering_;
  const Tokenizer& tokenizer_;
  StreamDetokenizer detokenizer_;
  ModelThoughts thoughts_;
  std::optional<ReasoningSplitter> splitter_;  // none: text is passed through
  std::vector<CallTool> tools_;
  CallFormat call_format_ = CallFormat::kNone;
  std::optional<CallParser> calls_;  // none: nothing is read as a call
  uint32_t n_calls_ = 0;             // that have ended
  bool is_named_ = false;            // the open call's name has been told
  std::vector<Token> held_;          // the beginning of a mark
  std::deque<Event> events_;
  Token token_ = -1;  // of the next text event
  double seconds_ = 0;
  bool has_ended_ = false;
};

}  // namespace warpchat
