// Every access goes through guarded(), which turns a fault into the end of storing, and damage into a new store.
#include "app/conversation_record.h"

#include <algorithm>
#include <filesystem>

#include "app/directories.h"
#include "app/log.h"
#include "app/parted_answer.h"

namespace warpchat {

template <class Action>
void ConversationRecord::guarded(const Action& action) {
  if (!store_) return;
  try {
    try {
      action();
    } catch (const DamagedDatabase&) {
      begin_anew();
      action();
    }
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
  try {
    open();
  } catch (const std::exception& error) {
    reason_ = error.what();
    notice_ = reason_ + "; this conversation is not stored";
  }
}

void ConversationRecord::open() {
  const std::string folder = data_directory();
  if (!make_private_directory(folder))
    throw Error("cannot create the folder " + folder + "; give yourself the right to, or free some space");
  ConversationStore::Opened opened = ConversationStore::open(folder);
  store_ = std::move(opened.store);
  notice_ = opened.notice;
}

// Opening sets the damaged file aside, unless another process has done so. What is stored has no ids any more.
void ConversationRecord::begin_anew() {
  writer_.reset();
  store_.reset();
  start_new();
  open();
  if (notice_.empty()) notice_ = "the stored conversations were damaged, and are now whole again or another file";
  notice_ += "; this conversation goes on in it, as a new one";
  log_line("error: " + notice_);
}

// A conversation of which the store has nothing, as it is shown.
void ConversationRecord::keep_all(std::span<const Message> messages) {
  ConversationTree tree;
  tree.system_prompt = system_prompt_;
  tree.model = model_;
  tree.created = tree.updated = store_time_now();
  for (const Message& message : messages) {
    tree.turns.push_back(
        {tree.shown + 1, tree.shown, parted(message.role, message.content), TurnState::kComplete, tree.created});
    ++tree.shown;
  }
  conversation_ = store_->insert(tree);
  path_.clear();
  for (const Turn& turn : store_->load(conversation_).turns) path_.push_back(turn.id);
}

// Fewer where the record did not come to hear of all: what is missing is no turn of the store.
std::vector<TurnId> ConversationRecord::first_turns(size_t n) const {
  return {path_.begin(), path_.begin() + static_cast<std::ptrdiff_t>(std::min(n, path_.size()))};
}

void ConversationRecord::send(const UserTurn& turn) {
  guarded([&] {
    if (!store_->is_sound()) begin_anew();
    system_prompt_ = turn.system_prompt;
    model_ = turn.model;
    if (conversation_ == 0 && !turn.before.empty()) keep_all(turn.before);
    next_ = first_turns(turn.before.size());
    if (conversation_ == 0) {
      const auto started = store_->start({turn.title, turn.system_prompt, turn.model}, {"user", turn.text});
      conversation_ = started.conversation;
      next_.push_back(started.turn);
      return;
    }
    const TurnId added = store_->add(conversation_, last_of(next_), {"user", turn.text});
    store_->describe(conversation_, turn.system_prompt, turn.model);
    if (next_.empty()) store_->retitle(conversation_, turn.title);
    next_.push_back(added);
  });
}

void ConversationRecord::regenerate(std::span<const Message> before) {
  guarded([&] {
    if (conversation_ == 0) keep_all(before);
    next_ = first_turns(before.size());
  });
}

void ConversationRecord::answer_begins() {
  guarded([&] {
    path_ = next_;
    has_text_ = false;
    is_answering_ = true;
  });
}

void ConversationRecord::follow(const std::vector<Message>& messages, const std::optional<Event>& event) {
  guarded([&] {
    if (!is_answering_) return;
    if (event && std::holds_alternative<TextDelta>(*event)) has_text_ |= !std::get<TextDelta>(*event).text.empty();
    if (has_text_) {
      if (conversation_ == 0) keep_all(std::span(messages).first(messages.size() - 1));
      if (!writer_) writer_.emplace(*store_, conversation_, last_of(path_));
      writer_->follow(parted("assistant", messages.back().content, /*grows=*/true), AnswerWriter::Clock::now());
    }
    if (!event || !std::holds_alternative<GenerationEnd>(*event)) return;
    const GenerationEnd& end = std::get<GenerationEnd>(*event);
    const bool cut = end.reason == EndReason::kStopped || end.reason == EndReason::kFailed;
    if (has_text_) {
      Message answer = parted("assistant", messages.back().content);
      answer.model = std::filesystem::path(model_).filename().string();
      answer.timings = end.timings;
      writer_->finish(answer, cut ? TurnState::kStopped : TurnState::kComplete);
      if (writer_->turn() != 0) path_.push_back(writer_->turn());
    }
    writer_.reset();
    is_answering_ = false;
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
