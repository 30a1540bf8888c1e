// Every access goes through guarded(), which turns a fault into the end of storing.
#include "app/conversation_record.h"

#include "app/directories.h"
#include "app/log.h"

namespace warpchat {

template <class Action>
void ConversationRecord::guarded(const Action& action) {
  if (!store_) return;
  try {
    action();
  } catch (const std::exception& error) {
    reason_ = error.what();
    notice_ = reason_ + "; this conversation goes on without being stored";
    log_line("error: " + notice_);
    writer_.reset();
    store_.reset();
  }
}

ConversationRecord::ConversationRecord(bool keeps) {
  if (!keeps) {
    reason_ = "--no-history was given";
    return;
  }
  const std::string folder = data_directory();
  try {
    if (!make_private_directory(folder))
      throw Error("cannot create the folder " + folder + "; give yourself the right to, or free some space");
    ConversationStore::Opened opened = ConversationStore::open(folder);
    store_ = std::move(opened.store);
    notice_ = opened.notice;
  } catch (const std::exception& error) {
    reason_ = error.what();
    notice_ = reason_ + "; this conversation is not stored";
  }
}

void ConversationRecord::send(const UserTurn& turn) {
  guarded([&] {
    next_.assign(path_.begin(), path_.begin() + static_cast<std::ptrdiff_t>(turn.n_before));
    if (conversation_ == 0) {
      const auto started = store_->start({turn.title, turn.system_prompt, turn.model}, turn.text);
      conversation_ = started.conversation;
      next_.push_back(started.turn);
      return;
    }
    const TurnId added = store_->add(conversation_, last_of(next_), "user", turn.text);
    store_->describe(conversation_, turn.system_prompt, turn.model);
    if (next_.empty()) store_->retitle(conversation_, turn.title);
    next_.push_back(added);
  });
}

void ConversationRecord::regenerate(size_t n_before) {
  guarded([&] { next_.assign(path_.begin(), path_.begin() + static_cast<std::ptrdiff_t>(n_before)); });
}

void ConversationRecord::answer_begins() {
  guarded([&] {
    path_ = next_;
    has_text_ = false;
    writer_.emplace(*store_, conversation_, last_of(path_));
  });
}

void ConversationRecord::follow(const std::vector<Message>& messages, const std::optional<Event>& event) {
  guarded([&] {
    if (!writer_) return;
    if (event && std::holds_alternative<TextDelta>(*event)) has_text_ |= !std::get<TextDelta>(*event).text.empty();
    if (has_text_) writer_->follow(messages.back().content, AnswerWriter::Clock::now());
    if (!event || !std::holds_alternative<GenerationEnd>(*event)) return;
    const EndReason reason = std::get<GenerationEnd>(*event).reason;
    const bool cut = reason == EndReason::kStopped || reason == EndReason::kFailed;
    if (has_text_) {
      writer_->finish(messages.back().content, cut ? TurnState::kStopped : TurnState::kComplete);
      path_.push_back(writer_->turn());
    }
    writer_.reset();
  });
}

void ConversationRecord::undo(size_t n_messages) {
  keep(n_messages);
  guarded([&] {
    if (conversation_ != 0) store_->show(conversation_, last_of(path_));
  });
}

void ConversationRecord::start_new() {
  conversation_ = 0;
  path_.clear();
}

void ConversationRecord::go_on(ConversationId conversation, std::vector<TurnId> path) {
  conversation_ = conversation;
  path_ = std::move(path);
}

ConversationStore& ConversationRecord::store() {
  if (!store_) throw Error("conversations are not stored: " + reason_);
  return *store_;
}

}  // namespace warpchat
