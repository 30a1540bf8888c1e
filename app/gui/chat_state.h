// What the window shows, as plain data. It belongs to the UI thread; the worker (app/gui/chat_worker.h) never touches
// it but sends updates (app/gui/updates.h) that the UI thread applies between frames. Nothing here knows of a toolkit.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/gui/profiler/profiler_data.h"
#include "engine/sampler.h"
#include "engine/session/events.h"
#include "engine/store/conversation_store.h"

namespace warpchat::gui {

// A token of an answer: where its text begins in ChatMessage::text, and how long it took.
struct TokenMark {
  uint32_t offset;  // bytes
  float seconds;    // since the token before; of the first token, since the request
};

enum class MessageStatus { kComplete, kStreaming, kStopped, kFailed };

struct ChatMessage {
  uint64_t key = 0;  // of this message in this program's life: what caches of its layout are kept by; never used again
  TurnId turn = 0;   // 0: not stored (yet)
  std::string role;  // "user", "assistant"
  std::string text;  // an answer includes its <think> block
  MessageStatus status = MessageStatus::kComplete;
  uint32_t revision = 0;  // grows with every change of text

  std::vector<TurnId> siblings;  // the versions of this turn, itself too, oldest first; fewer than two: no choice
  size_t sibling = 0;            // which of them this is

  // Of answers made in this program's life.
  std::vector<TokenMark> tokens;
  std::optional<double> thinking_seconds;  // while it thinks, so far
  std::optional<Timings> timings;          // once it has ended
  std::string failure;                     // kFailed: the sentence
};

// How many bytes of an answer's text, from its start, are its thought with the tags; 0: it has none.
size_t thought_bytes(std::string_view text);

struct SearchResults {
  std::string words;
  std::vector<SearchHit> hits;
};

struct OpenConversation {
  ConversationId id = 0;  // 0: nothing of it is stored yet
  std::string title;      // empty: it has none yet
  std::string system_prompt;
  std::vector<ChatMessage> messages;
  uint32_t context_used = 0;  // tokens at the last generation's end; 0: not known
};

enum class FitsMemory { kYes, kNo, kUnknown };

struct ModelChoice {
  std::string path, name;
  uint64_t bytes = 0;
  std::string quantisation;  // "Q4_K_M"; empty: not said
  FitsMemory fits = FitsMemory::kUnknown;
};

struct DeviceChoiceRow {
  std::string name;  // as --device takes it: "cpu", "cuda:0", "emulator:sm_90"
  std::string text;  // "AMD EPYC 9B14, 2 cores, AVX-512"
  bool usable = true;
};

struct LoadedModel {
  std::string path, name, device, launch;  // device, launch: as --device and --launch take them; launch "" on the CPU
  std::string status;                      // what runs where and why: "cpu: 2 threads, AVX-512 (no CUDA driver)"
  uint64_t bytes = 0;
  uint32_t context = 0;  // positions
  double load_seconds = 0;
  SamplingParams file_sampling;  // the file's defaults
  bool can_think = false;        // its template asks for enable_thinking
};

struct LoadingModel {
  std::string name;
  double fraction = 0;  // 0..1
};

// What the user can set for the answers to come.
struct AnswerSettings {
  SamplingParams sampling;
  int32_t max_tokens = -1;    // -1: until the answer ends
  std::optional<bool> think;  // nullopt: the model's default
  bool random_seed = true;    // a new seed for each answer
  bool operator==(const AnswerSettings&) const = default;
};

enum class Phase {
  kIdle,
  kWaiting,  // the last message is answered as soon as a model is loaded
  kPrompt,   // until the first token
  kAnswer,
};

struct NoticeItem {
  uint64_t id;
  bool is_error;
  std::string text;             // one sentence, for people
  std::string action_label;     // "Undo"; empty: nothing to do about it
  ConversationId restores = 0;  // what the action takes from the trash
};

// What Send would send beside the composer's text.
struct Attachment {
  std::string path, name;
  size_t n_tokens = 0;
};

struct ChatState {
  std::vector<ConversationSummary> conversations, trash;  // latest first
  std::optional<SearchResults> search;                    // while the search field has words
  OpenConversation open;

  std::vector<ModelChoice> models;
  std::vector<DeviceChoiceRow> devices;
  std::optional<LoadedModel> model;
  std::optional<LoadingModel> loading;
  AnswerSettings settings;

  Phase phase = Phase::kIdle;
  uint64_t taken_sends = 0;  // grows when a Send was taken: only then may the composer forget its text
  PromptProgress prompt_progress{0, 0};
  std::optional<Timings> last_timings;  // of the open conversation's last answer
  double tokens_per_second = 0;         // of the answer that streams, over its last second or so
  double first_token_seconds = 0;       // of it
  uint64_t counted_revision = 0;        // of the composer's text that counted_tokens is of
  uint32_t counted_tokens = 0;
  std::vector<Attachment> attachments;

  std::vector<NoticeItem> notices;  // oldest first
  std::string store_fault;          // why nothing is stored; empty: it is
  std::shared_ptr<const ProfilerData> profile = std::make_shared<ProfilerData>();
};

}  // namespace warpchat::gui
