// One short request; one line of its answer becomes the title.
#include "app/chat/titling.h"

#include <algorithm>
#include <utility>

#include "app/chat/branch.h"
#include "app/platform/log.h"
#include "models/ascii.h"

namespace warpchat {

namespace {

constexpr int32_t kMaxTitleTokens = 32;  // longer answers are no titles
constexpr const char* kQuestion =
    "Write a title for this conversation: two to six words, in its language. Answer with the title alone.";

constexpr std::string_view kAround[] = {" ", "\t", "\r", "#", "*", "_", "`", "\"",
                                        "'", "“",  "”",  "„", "«", "»", "‘", "’"};
constexpr std::string_view kBehind[] = {".", ":", "。"};
constexpr std::string_view kLabel = "title:", kFence = "```";

std::string_view bare(std::string_view line) {
  for (size_t before = line.size() + 1; line.size() < before;) {
    before = line.size();
    for (const std::string_view mark : kAround) {
      if (line.starts_with(mark)) line.remove_prefix(mark.size());
      if (line.ends_with(mark)) line.remove_suffix(mark.size());
    }
    for (const std::string_view mark : kBehind)
      if (line.ends_with(mark)) line.remove_suffix(mark.size());
  }
  return line;
}

// Small models add words around the title: 'In six words, it is called "Bread without yeast"'.
std::string_view quoted_part(std::string_view line) {
  const size_t begin = line.find('"'), end = line.rfind('"');
  if (begin == end || bare(line.substr(0, begin)).empty()) return line;
  const std::string_view part = line.substr(begin + 1, end - begin - 1);
  return part.find(' ') != std::string_view::npos ? part : line;
}

// Very small models repeat the question.
bool is_of_question(std::string_view title) {
  return title.find(' ') != std::string_view::npos &&
         lower_case(kQuestion).find(lower_case(title)) != std::string::npos;
}

bool has_label(std::string_view line) { return lower_case(line.substr(0, kLabel.size())) == kLabel; }

}  // namespace

std::string title_of_answer(std::string_view answer) {
  for (size_t end = 0; !answer.empty(); answer.remove_prefix(std::min(end + 1, answer.size()))) {
    end = std::min(answer.find('\n'), answer.size());
    const std::string_view line = quoted_part(answer.substr(0, end));
    if (line.starts_with(kFence)) return "";
    std::string_view title = bare(line);
    if (has_label(title)) title = bare(title.substr(kLabel.size()));
    if (const size_t colon = title.find(':'); colon != std::string_view::npos && is_of_question(title.substr(0, colon)))
      title = bare(title.substr(colon + 1));
    if (title.empty() || line.ends_with(':')) continue;                        // the title follows below
    const bool is_one = title_from(title) == title && !is_of_question(title);  // too long lines are no titles
    return is_one ? std::string(title) : "";
  }
  return "";
}

void Titling::want(ConversationId conversation, std::vector<Message> messages, AnswerOptions options) {
  messages.push_back({.role = "user", .content = kQuestion});
  options.sampling = SamplingParams{.temperature = 0};
  options.max_tokens = kMaxTitleTokens;
  options.in_front = false;
  options.drop_oldest = false;
  options.form = {};  // of answers
  wish_ = {conversation, std::move(messages), std::move(options)};
  owed_.insert(conversation);
}

void Titling::begin(std::shared_ptr<Responder> responder) {
  if (!wish_ || running()) return;
  answer_.clear();
  try {
    generation_ = responder->start(wish_->messages, wish_->options);
    responder_ = std::move(responder);
  } catch (const std::exception& error) {  // most likely too long with the question: the first line stays the title
    log_line(std::string("no title: ") + error.what());
    end();
  }
}

bool Titling::follow(std::chrono::milliseconds timeout) {
  if (!running()) return false;
  for (std::optional<Event> event = generation_->next_event(timeout); event;
       event = generation_->next_event(std::chrono::milliseconds(0)))
    if (on_event(*event)) {
      end();
      return true;
    }
  return false;
}

// True: the title is complete, or the model has begun to think, which is not waited for.
bool Titling::on_event(const Event& event) {
  if (const auto* delta = std::get_if<TextDelta>(&event)) {
    if (delta->thinking) return delta->text.find_first_not_of(" \r\n") != std::string::npos;
    answer_ += delta->text;
    const std::string title = title_of_answer(answer_.substr(0, answer_.rfind('\n') + 1));  // complete lines only
    if (responder_->facts().opens_thoughts) return false;  // the lines may be a thought
    keep(title);
    return !title.empty();
  }
  if (const auto* found = std::get_if<Reclassified>(&event); found && found->thinking) answer_.clear();
  const auto* generation_end = std::get_if<GenerationEnd>(&event);
  if (generation_end == nullptr) return false;
  if (generation_end->reason == EndReason::kEndOfText) keep(title_of_answer(answer_));
  return true;
}

// A title set by the user stays. A failure is only logged.
void Titling::keep(const std::string& title) const {
  if (title.empty()) return;
  try {
    const std::optional<ConversationSummary> stored = library_.store().summary(wish_->conversation);
    if (!stored || stored->trashed != 0) return;
    library_.store().retitle(wish_->conversation, title);
    library_.refresh();
  } catch (const std::exception& error) {
    log_line(std::string("no title: ") + error.what());
  }
}

void Titling::stop() {
  if (running()) drop();
}

void Titling::end() {
  owed_.erase(wish_->conversation);
  drop();
}

void Titling::drop() {
  generation_.reset();
  responder_.reset();
  wish_.reset();
}

}  // namespace warpchat
