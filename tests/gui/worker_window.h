// A window without a screen: a ChatWorker, the state from its updates, and waiting for a certain state. All its files
// are in a folder of its own.
#pragma once
#include <gtest/gtest.h>
#include <stdlib.h>

#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "app/gui/chat_worker.h"
#include "tests/store/store_folder.h"
#include "tests/support/test_files.h"
#include "tests/support/tiny_model.h"

namespace warpchat::gui {

// The home of one test: store, models and everything else.
class Home {
 public:
  Home() {
    for (const char* name : {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "HOME"})
      setenv(name, folder_.path().c_str(), 1);
    for (const char* name : {"LLAMA_CACHE", "HF_HUB_CACHE", "HF_HOME"}) unsetenv(name);
  }
  const std::string& path() const { return folder_.path(); }
  std::string data() const { return path() + "/warpchat"; }
  std::string store_file() const { return data() + "/conversations.db"; }

 private:
  StoreFolder folder_;
};

// A tiny model whose answers never end by themselves: at temperature 0, a token with logit 0 is never the likeliest,
// and the end tokens have zero weights.
inline std::vector<std::byte> endless_model(uint32_t seed) {
  TinyModelSpec spec;
  spec.n_layers = 1;
  std::vector<std::byte> bytes = build_tiny_model(spec, seed);
  const GgufFile file = GgufFile::view(bytes, "endless");
  const TensorInfo& embedding = *file.find_tensor("token_embd.weight");
  const size_t row = embedding.data.size() / embedding.rows();
  for (size_t i = embedding.rows() - 3; i < embedding.rows(); ++i)
    std::memset(bytes.data() + (embedding.data.data() - bytes.data()) + i * row, 0, row);
  return bytes;
}

class WorkerWindow {
 public:
  explicit WorkerWindow(const ChatOptions& options)
      : worker_(std::make_unique<ChatWorker>(options, [this] { wake(); })) {}

  const ChatState& state() const { return state_; }
  const OpenConversation& open() const { return state_.open; }
  const std::vector<ChatMessage>& messages() const { return state_.open.messages; }
  void post(Action action) { worker_->post(std::move(action)); }
  void close() { worker_.reset(); }  // pending updates are not applied
  uint64_t n_wakes() const { return n_wakes_; }

  // Applies updates until is_so() holds. After two minutes, fails the test and returns false.
  bool until(const std::function<bool()>& is_so, const char* what) {
    constexpr std::chrono::minutes kLongest{2};
    const auto end = std::chrono::steady_clock::now() + kLongest;
    for (;;) {
      for (const Update& update : worker_->take_updates()) apply_update(state_, update);
      if (is_so()) return true;
      std::unique_lock lock(mutex_);
      if (!woken_.wait_until(lock, end, [&] { return std::exchange(is_awake_, false); })) {
        ADD_FAILURE() << "timed out waiting for: " << what;
        return false;
      }
    }
  }

  bool until_idle() {
    return until([&] { return state_.open.phase == AnswerPhase::kIdle && !state_.loading; }, "nothing runs");
  }
  bool until_loaded() {
    return until([&] { return state_.model && !state_.loading; }, "a model is loaded");
  }
  bool until_streams(size_t n_tokens) {
    return until(
        [&] {
          return !messages().empty() && messages().back().status == MessageStatus::kStreaming &&
                 messages().back().tokens.size() >= n_tokens;
        },
        "an answer streams");
  }
  // Sends a message and waits for the answer's end.
  void ask(const std::string& text) {
    const uint64_t n = state_.taken_sends;
    post(Send{text});
    until([&] { return state_.taken_sends > n && state_.open.phase == AnswerPhase::kIdle; },
          "an answer to what was sent");
  }
  // Text of the newest error; empty if there is none.
  std::string error() const {
    for (size_t i = state_.notices.size(); i-- > 0;)
      if (state_.notices[i].is_error) return state_.notices[i].text;
    return "";
  }

 private:
  void wake() {
    {
      const std::lock_guard lock(mutex_);
      is_awake_ = true;
      ++n_wakes_;
    }
    woken_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable woken_;
  bool is_awake_ = false;
  uint64_t n_wakes_ = 0;
  ChatState state_;
  std::unique_ptr<ChatWorker> worker_;
};

class WorkerTest : public testing::Test {
 protected:
  // Answers that continue until they are stopped.
  static ChatOptions endless() {
    ChatOptions options;
    static const TemporaryFile file(endless_model(5));
    options.model = file.path();
    options.device = "cpu";
    options.threads = 2;
    options.context = 1 << 20;
    options.temperature = 0.0f;
    options.seed = 1;
    return options;
  }
  // Answers of a few tokens.
  static ChatOptions brief() {
    ChatOptions options = endless();
    options.context = 512;
    options.n_predict = 4;
    return options;
  }
  std::unique_ptr<ConversationStore> store() const { return ConversationStore::open(home_.data()).store; }
  std::vector<Turn> stored(ConversationId id) const { return store()->load(id).turns; }

  Home home_;
};

}  // namespace warpchat::gui
