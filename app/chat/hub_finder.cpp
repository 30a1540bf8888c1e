// The thread starts with the first question.
#include "app/chat/hub_finder.h"

#include <chrono>
#include <memory>
#include <utility>

#include "app/model_choice/hub_models.h"
#include "app/model_choice/model_download.h"
#include "app/platform/log.h"
#include "models/threads.h"

namespace warpchat {

namespace {
constexpr std::chrono::milliseconds kPause{400};  // of a pause in typing, before words are sent to the hub
}  // namespace

HubFinder::~HubFinder() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    if (client_ != nullptr) client_->stop();
  }
  arrived_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void HubFinder::look(Question question) {
  const std::string words = question.words;
  {
    const std::lock_guard lock(mutex_);
    wanted_ = std::move(question);
    if (client_ != nullptr) client_->stop();
  }
  arrived_.notify_one();
  if (thread_.joinable()) return;
  try {
    thread_ = start_thread(
        "to search the hub", [this] { run(); }, ends_unnoticed);
  } catch (const Error& error) {
    tell_({.words = words, .sentence = error.what()});
  }
}

void HubFinder::run() {
  const auto has_letter = [this] { return wanted_ || ending_; };
  for (std::unique_lock lock(mutex_);;) {
    arrived_.wait(lock, has_letter);
    if (ending_) return;
    const Question question = *std::exchange(wanted_, std::nullopt);
    const bool waits = !question.now && !question.words.empty();
    if (waits && arrived_.wait_for(lock, kPause, has_letter)) continue;  // a newer question replaces this one
    lock.unlock();
    try {
      answer(question);
    } catch (const std::exception&) {
      tell_({.words = question.words, .sentence = sentence_of_current_exception()});
    }
    lock.lock();
  }
}

void HubFinder::announce(HubClient* running) {
  const std::lock_guard lock(mutex_);
  client_ = running;
  if (running != nullptr && (wanted_ || ending_)) running->stop();
}

void HubFinder::answer(const Question& question) {
  HubSearch known{.words = question.words, .running = !question.words.empty()};
  try {
    ask(question, known);
  } catch (const HttpStopped&) {
    return;
  } catch (const std::exception& error) {
    log_line(std::string("search of the hub: ") + error.what());
    known.sentence = error.what();
  }
  known.running = false;
  tell_(known);
}

void HubFinder::ask(const Question& question, HubSearch& known) {
  const HubSettings settings = hub_settings_of_user(question.offline);
  known.offline = !settings.offline_reason.empty();
  HubClient hub(settings, [&](const std::string& note) {
    known.sentence = note;
    tell_(known);
  });
  if (question.words.empty()) return;
  tell_(known);
  announce(&hub);
  const std::shared_ptr<void> at_end(nullptr, [this](void*) { announce(nullptr); });
  search_hub(hub, question.words, memory_room(question.device, question.spare_bytes), [&](ModelChoice model) {
    known.models.push_back(std::move(model));
    known.sentence.clear();
    tell_(known);
  });
  known.sentence.clear();
}

}  // namespace warpchat
