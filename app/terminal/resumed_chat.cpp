// The controller's responder passes every request on to the caller's, and keeps a copy of the events.
#include "app/terminal/resumed_chat.h"

#include <deque>
#include <utility>

#include "app/platform/output.h"
#include "app/platform/program_name.h"
#include "app/terminal/conversation_list.h"

namespace warpchat {

namespace {

using std::chrono::milliseconds;

// Without titles, and without tools: the caller's responder has them.
ChatOptions for_one_answer(ChatOptions options) {
  options.titles = false;
  static_cast<ToolFlags&>(options) = {.no_mcp = true};
  return options;
}

class CopiedGeneration : public Generation {
 public:
  CopiedGeneration(std::unique_ptr<Generation> answer, std::deque<Event>& copies)
      : answer_(std::move(answer)), copies_(copies) {}
  std::optional<Event> next_event(milliseconds timeout) override {
    std::optional<Event> event = answer_->next_event(timeout);
    if (event) copies_.push_back(*event);
    auto* end = event ? std::get_if<GenerationEnd>(&*event) : nullptr;
    if (end != nullptr) end->form_fault.clear();  // told by the reader of the copies
    return event;
  }
  void stop() override { answer_->stop(); }
  void decide(bool is_allowed) override { answer_->decide(is_allowed); }

 private:
  std::unique_ptr<Generation> answer_;
  std::deque<Event>& copies_;
};

}  // namespace

// Without facts until it is connected.
class ResumedChat::Relay : public Responder {
 public:
  void connect(Responder& responder, const AnswerOptions& options) { responder_ = &responder, options_ = options; }
  std::deque<Event>& events() { return events_; }
  void decide(bool is_allowed) { running_->decide(is_allowed); }

  ResponderFacts facts() const override { return responder_ != nullptr ? responder_->facts() : ResponderFacts{}; }
  std::optional<uint32_t> count(const Prompt&, const AnswerOptions&) override { return std::nullopt; }

  // The flags' options, with what belongs to the conversation.
  std::unique_ptr<Generation> start(const Prompt& prompt, const AnswerOptions& of_conversation,
                                    const OnReady& ready) override {
    AnswerOptions options = options_;
    options.system_prompt = of_conversation.system_prompt;
    options.drop_oldest = of_conversation.drop_oldest;
    auto generation = std::make_unique<CopiedGeneration>(responder_->start(prompt, options, ready), events_);
    running_ = generation.get();
    return generation;
  }

 private:
  Responder* responder_ = nullptr;
  Generation* running_ = nullptr;  // of the one answer
  AnswerOptions options_;
  std::deque<Event> events_;
};

class ResumedChat::StoredGeneration : public Generation {
 public:
  explicit StoredGeneration(ResumedChat& chat) : chat_(chat) {}
  ~StoredGeneration() override {
    if (!has_ended_) stop();
    while (chat_.controller_.busy()) chat_.controller_.turn(milliseconds(100));
  }

  std::optional<Event> next_event(milliseconds timeout) override {
    std::deque<Event>& events = chat_.relay_->events();
    if (has_ended_) return std::nullopt;
    if (events.empty()) chat_.controller_.turn(timeout);
    if (events.empty()) return std::nullopt;
    const Event event = std::move(events.front());
    events.pop_front();
    has_ended_ = std::holds_alternative<GenerationEnd>(event);
    if (has_ended_ && std::get<GenerationEnd>(event).reason != EndReason::kFailed) chat_.tell_faults();
    return event;
  }
  void stop() override { chat_.controller_.submit(Stop{}); }
  void decide(bool is_allowed) override { chat_.relay_->decide(is_allowed); }

 private:
  ResumedChat& chat_;
  bool has_ended_ = false;
};

ResumedChat::ResumedChat(const ChatOptions& options)
    : relay_(std::make_shared<Relay>()), controller_(for_one_answer(options), relay_) {
  std::string fault;
  controller_.read([&](const ConversationStore& store) {
    const FoundConversation found = find_resumed(store, *options.resume);
    conversation_ = found.id, fault = found.fault;
  });
  if (!fault.empty()) throw Error(fault);
  tell_faults();
  if (conversation_ == 0) throw Error("the stored conversations cannot be read");
}

ResumedChat::~ResumedChat() = default;

void ResumedChat::tell_faults() {
  for (const NoticeItem& notice : controller_.now().notices) {
    if (notice.id <= told_) continue;
    told_ = notice.id;
    if (notice.is_error) print_error(notice.text);
  }
}

std::unique_ptr<Generation> ResumedChat::ask(Responder& responder, const AnswerOptions& options,
                                             const std::string& text) {
  relay_->connect(responder, options);
  controller_.submit(OpenStored{conversation_});
  const ChatState& now = controller_.now();
  if (now.open.id != conversation_)
    throw Error(now.notices.empty() ? "the conversation is no longer stored" : now.notices.back().text);
  if (!options.system_prompt.empty()) controller_.submit(SetSystemPrompt{options.system_prompt});
  tell_faults();
  controller_.submit(Send{text});
  if (!now.refusal) return std::make_unique<StoredGeneration>(*this);
  if (now.refusal->tokens == 0) throw Error(now.refusal->reason);
  throw Error(now.refusal->reason + "; " + (responder.facts().endpoint.empty() ? "raise --ctx-size, or " : "") +
              (now.refusal->can_drop ? "leave out the oldest turns with /trim in '" + program_name() + " --resume'"
                                     : "shorten the prompt"));
}

}  // namespace warpchat
