// A responder with prepared answers, for tests of front ends.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/session/responder.h"

namespace warpchat {

class ScriptedResponder : public Responder {
 public:
  struct Answer {
    std::vector<Event> events;  // before the end
    EndReason end = EndReason::kStopped;
    std::string error = {};
    bool goes_on = false;  // ends only when stopped
  };
  ResponderFacts known{.model = "/models/scripted.gguf", .context = 100, .counts_tokens = true};
  std::deque<Answer> answers;              // in order; without one: a complete "answer N"
  size_t refuse_from = SIZE_MAX;           // prompts with this many bytes are too long; one token per byte
  std::string fault;                       // why generation fails; empty: it works
  std::vector<std::vector<Message>> seen;  // prompts
  std::vector<AnswerOptions> options_seen;
  uint32_t n_running = 0;
  std::function<void()> begins = [] {};  // called where a model would compute its first pass

  ResponderFacts facts() const override { return known; }

  std::unique_ptr<Generation> start(const Prompt& prompt, const AnswerOptions& options,
                                    const OnReady& ready = {}) override {
    if (!fault.empty()) throw Error(fault);
    if (n_running >= known.at_once) throw Error("there is no room for another answer");
    std::vector<Message> messages = read_by_the_model(prompt);
    const auto n = static_cast<uint32_t>(bytes_of(messages));
    const uint32_t n_dropped = n >= refuse_from ? drop_oldest(messages) : 0;
    if (n >= refuse_from && (!options.drop_oldest || bytes_of(messages) >= refuse_from))
      throw PromptTooLong(n, known.context, !options.drop_oldest && bytes_of(messages) < refuse_from);
    if (ready) ready();
    begins();
    seen.push_back(messages);
    options_seen.push_back(options);
    Answer answer{{text("answer " + std::to_string(seen.size()))}, EndReason::kEndOfText};
    if (!answers.empty()) answer = std::move(answers.front()), answers.pop_front();
    if (options.drop_oldest) answer.events.insert(answer.events.begin(), Usage{n, 0, n_dropped});
    return std::make_unique<Scripted>(*this, std::move(answer));
  }
  std::optional<uint32_t> count(const Prompt& prompt, const AnswerOptions&) override {
    return static_cast<uint32_t>(bytes_of(read_by_the_model(prompt)));
  }

  static TextDelta text(std::string what, bool thinking = false) { return {std::move(what), 7, 0.01, thinking}; }

 private:
  // As every responder does.
  static std::vector<Message> read_by_the_model(const Prompt& prompt) {
    return messages_for_model(std::get<std::vector<Message>>(prompt));
  }
  class Scripted : public Generation {
   public:
    Scripted(ScriptedResponder& responder, Answer answer) : responder_(responder), answer_(std::move(answer)) {
      ++responder_.n_running;
    }
    ~Scripted() override { --responder_.n_running; }
    void stop() override { stopped_ = true; }
    std::optional<Event> next_event(std::chrono::milliseconds) override {
      if (next_ < answer_.events.size()) return answer_.events[next_++];
      if (ended_ || (answer_.goes_on && !stopped_)) return std::nullopt;
      ended_ = true;
      return GenerationEnd{answer_.goes_on ? EndReason::kStopped : answer_.end,
                           {.prompt_tokens = 10, .generated_tokens = static_cast<uint32_t>(next_)},
                           answer_.error};
    }

   private:
    ScriptedResponder& responder_;
    Answer answer_;
    size_t next_ = 0;
    bool stopped_ = false, ended_ = false;
  };

  // Drops as many turns as necessary, but never the last.
  uint32_t drop_oldest(std::vector<Message>& messages) const {
    uint32_t n = 0;
    for (; bytes_of(messages) >= refuse_from && messages.size() > 2; ++n)
      messages.erase(messages.begin(), messages.begin() + 2);
    return n;
  }
  static size_t bytes_of(const std::vector<Message>& messages) {
    size_t n = 0;
    for (const Message& message : messages) n += text_for_model(message).size();
    return n;
  }
};

}  // namespace warpchat
