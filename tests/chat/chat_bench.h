// A chat controller with a store and a scripted responder, for scenarios.
#pragma once
#include <stdlib.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/chat/chat_controller.h"
#include "engine/store/conversation_store.h"
#include "tests/chat/scripted_responder.h"
#include "tests/store/store_folder.h"

namespace warpchat {

using Answer = ScriptedResponder::Answer;

inline Event text(const std::string& what) { return ScriptedResponder::text(what); }
inline Event thought(const std::string& what) { return ScriptedResponder::text(what, /*thinking=*/true); }
inline Answer going_on(std::vector<Event> events) { return {std::move(events), EndReason::kStopped, "", true}; }
inline Answer failing(std::vector<Event> events = {}) { return {std::move(events), EndReason::kFailed, "it broke"}; }

class Bench {
 public:
  Bench() {
    for (const char* name : {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "HOME"})
      setenv(name, folder_.path().c_str(), 1);
    for (const char* name : {"LLAMA_CACHE", "HF_HUB_CACHE", "HF_HOME"}) unsetenv(name);
    controller = std::make_unique<ChatController>(ChatOptions(), responder);
    settle();
  }

  void submit(Action action) { controller->submit(std::move(action)); }
  // Runs until only endless answers are left.
  void settle() {
    int quiet = 0;
    const auto is_read = [](const Attachment& file) { return file.is_read; };
    for (int i = 0; i < 5000 && quiet < 3; ++i) {
      controller->turn(std::chrono::milliseconds(1));
      std::vector<Update> updates = controller->take_updates();
      quiet = updates.empty() && std::ranges::all_of(state().attachments, is_read) ? quiet + 1 : 0;
      for (Update& update : updates) apply_update(replayed, recorded.emplace_back(std::move(update)));
    }
  }
  void name_by_model() { submit(SetTitles{true}); }
  void ask(const std::string& what) { submit(Send{what}), settle(); }
  void stop() { submit(Stop{}), settle(); }

  const ChatState& state() const { return controller->now(); }
  const ChatMessage& message(size_t i) const { return state().open.messages.at(i); }
  uint64_t last() const { return state().open.messages.back().key; }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  // "one > answer 1 (stopped)"; reasoning is in brackets, versions are 2/3.
  std::string shown() const {
    std::string all;
    for (const ChatMessage& m : state().open.messages) {
      all += (all.empty() ? "" : " > ") + (m.reasoning.empty() ? "" : "[" + m.reasoning + "] ") + m.content;
      if (m.siblings.size() > 1) all += " " + std::to_string(m.sibling + 1) + "/" + std::to_string(m.siblings.size());
      if (m.status == MessageStatus::kStopped) all += " (stopped)";
      if (m.status == MessageStatus::kStreaming) all += " (streams)";
      if (m.status == MessageStatus::kFailed) all += " (failed)";
      if (m.cut != AnswerCut::kNone) all += " (cut)";
    }
    return all;
  }
  // The same for the store.
  std::string stored() const {
    const auto store = ConversationStore::open(folder_.path() + "/warpchat").store;
    std::string all;
    if (state().open.id == 0) return all;
    for (const Turn& turn : store->load(state().open.id).turns) {
      const Message& m = turn.message;
      all += (all.empty() ? "" : " > ") + (m.reasoning.empty() ? "" : "[" + m.reasoning + "] ") + m.content;
      const size_t n = store->siblings(turn.id).size();
      if (n > 1) all += " /" + std::to_string(n);
      if (turn.state == TurnState::kStopped) all += " (stopped)";
      if (turn.state == TurnState::kOpen) all += " (open)";
    }
    return all;
  }

 private:
  StoreFolder folder_;

 public:
  std::shared_ptr<ScriptedResponder> responder = std::make_shared<ScriptedResponder>();
  std::unique_ptr<ChatController> controller;
  ChatState replayed;
  std::vector<Update> recorded;
};

}  // namespace warpchat
