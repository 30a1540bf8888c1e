// What a front end shows, as plain data: the desk's own copy, and whatever a window on another thread makes of the same
// updates (app/desk/updates.h).
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/desk/profiler_data.h"
#include "engine/events.h"
#include "engine/message.h"
#include "engine/sampler.h"
#include "engine/store/conversation_store.h"
#include "engine/way_out.h"

namespace warpchat {

// A token of an answer: where its text begins in an answer's reasoning and content, one after the other, and how long
// it took.
struct TokenMark {
  uint32_t offset;  // bytes
  float seconds;    // since the token before; of the first token, since the request
  bool operator==(const TokenMark&) const = default;
};

enum class MessageStatus { kComplete, kStreaming, kStopped, kFailed };

struct ChatMessage : Message {
  uint64_t key = 0;  // of this message in this program's life: what caches of its layout are kept by; never used again
  TurnId turn = 0;   // 0: not stored (yet)
  MessageStatus status = MessageStatus::kComplete;
  uint32_t revision = 0;  // grows with every change of text

  std::vector<TurnId> siblings;  // the versions of this turn, itself too, oldest first; fewer than two: no choice
  size_t sibling = 0;            // which of them this is

  // Of answers made in this program's life.
  std::vector<TokenMark> tokens;
  std::optional<double> thinking_seconds;  // while it thinks, so far
  std::string failure;                     // kFailed: the sentence
  WayOut way_out = {};                     // likewise
  bool operator==(const ChatMessage&) const = default;
};

// The bytes [begin, end) of an answer's reasoning and content, as its token marks count them.
std::string text_between(const ChatMessage& message, size_t begin, size_t end);

struct SearchResults {
  std::string words;
  std::vector<SearchHit> hits;
  bool operator==(const SearchResults&) const = default;
};

enum class AnswerPhase {
  kIdle,
  kWaiting,  // the last message is answered as soon as a model is loaded
  kPrompt,   // until the first token
  kAnswer,
};

struct OpenConversation {
  ConversationId id = 0;  // 0: nothing of it is stored yet
  std::string title;      // empty: it has none yet
  std::string system_prompt;
  std::vector<ChatMessage> messages;
  uint32_t context_used = 0;  // tokens; 0: not known
  bool drops_oldest = false;  // the model is given the newest turns that fit, where not all do (DropOldest)
  uint32_t unseen_turns = 0;  // that the last prompt left out, at the start: a user's message with its answer each

  AnswerPhase phase = AnswerPhase::kIdle;
  PromptProgress prompt_progress{0, 0};
  std::optional<Timings> last_timings;  // of its last answer
  double tokens_per_second = 0;         // of the answer that streams, over its last second or so
  double first_token_seconds = 0;       // of it
  bool operator==(const OpenConversation&) const = default;
};

// Messages at the start that the last prompt left out (unseen_turns).
size_t n_unseen_messages(const OpenConversation& conversation);

enum class FitsMemory { kYes, kNo, kUnknown, kUnsupported };  // the last: whatever the memory

struct ModelChoice {
  enum class Kind { kFile, kEndpoint, kFetch };  // kFetch: of the hub, not here yet
  std::string path, name;                        // kEndpoint, kFetch: its name, twice
  uint64_t bytes = 0;
  std::string quantisation;  // "Q4_K_M"; empty: not said
  FitsMemory fits = FitsMemory::kUnknown;
  Kind kind = Kind::kFile;
  std::string about = {};  // kEndpoint: where it is; kFetch: what it is good for, or how often it is fetched
  std::string why = {};    // it fits or does not: "needs about 2.9 GB of memory, 1.2 GB are free"
  bool operator==(const ModelChoice&) const = default;
};

// What the hub has under some words.
struct HubSearch {
  std::string words;                      // empty: none were given
  bool running = false, offline = false;  // offline: nobody may be asked, and the sentence says why
  std::vector<ModelChoice> models;        // kFetch, best known first; while it runs, those that are known already
  std::string sentence;                   // why there are none or no more, or what is waited for
  bool operator==(const HubSearch&) const = default;
};

struct DeviceChoiceRow {
  std::string name;  // as --device takes it: "cpu", "cuda:0", "emulator:sm_90"
  std::string text;  // "AMD EPYC 9B14, 2 cores, AVX-512"
  bool usable = true;
  bool operator==(const DeviceChoiceRow&) const = default;
};

struct LoadedModel {
  std::string path, name;      // of a remote one its name there, twice
  std::string endpoint;        // URL; empty: this machine
  std::string device, launch;  // as --device and --launch take them; launch "" on the CPU, both elsewhere
  std::string status;          // what runs where and why: "cpu: 2 threads, AVX-512 (no CUDA driver)"
  uint64_t bytes = 0;
  uint32_t context = 0;         // positions
  uint32_t larger_context = 0;  // the next one that model and memory allow; 0: none
  uint32_t most_context = 0;    // the largest that they allow; 0: it cannot be chosen
  double load_seconds = 0;
  SamplingParams file_sampling;  // the file's defaults
  bool can_think = false;        // its template asks for enable_thinking
  bool operator==(const LoadedModel&) const = default;
};

struct LoadingModel {
  std::string name;
  double fraction = 0;        // 0..1
  std::string transfer = {};  // while it is fetched: how far that is, in words
  bool operator==(const LoadingModel&) const = default;
};

// The sampling values that a model's file has defaults for.
using SamplingField = std::variant<float SamplingParams::*, uint32_t SamplingParams::*>;
inline constexpr SamplingField kSamplingFields[] = {&SamplingParams::temperature,
                                                    &SamplingParams::top_k,
                                                    &SamplingParams::top_p,
                                                    &SamplingParams::min_p,
                                                    &SamplingParams::repeat_penalty,
                                                    &SamplingParams::penalty_window,
                                                    &SamplingParams::presence_penalty,
                                                    &SamplingParams::frequency_penalty};

// What the user can set for the answers to come.
struct AnswerSettings {
  SamplingParams sampling;
  uint32_t chosen = 0;        // bits, by kSamplingFields: what the user has set stays when the model changes
  int32_t max_tokens = -1;    // -1: until the answer ends
  std::optional<bool> think;  // nullopt: the model's default
  bool random_seed = true;    // a new seed for each answer
  bool titles = false;        // the model names a conversation once it has answered
  bool operator==(const AnswerSettings&) const = default;
};

struct NoticeItem {
  uint64_t id;
  bool is_error;
  std::string text;             // one sentence, for people
  std::string action_label;     // "Undo"; empty: nothing to do about it
  ConversationId restores = 0;  // what the action takes from the trash
  WayOut way_out = {};          // of an error: its label's action, for this model
  std::string model = {};       // path; empty: the loaded one
  bool operator==(const NoticeItem&) const = default;
};

// What Send would send beside its text.
struct Attachment {
  std::string path, name;
  uint64_t bytes = 0;   // of its text
  size_t n_tokens = 0;  // 0: nobody here can count them
  bool is_read = true;  // false: it is being read
  bool operator==(const Attachment&) const = default;
};

// Why what was wished for was not taken: what was sent is still the composer's.
struct RefusedPrompt {
  std::string reason;           // the sentence
  uint32_t tokens = 0;          // that it needs; 0: its length was not the reason
  uint32_t context = 0;         // tokens that there are
  uint32_t larger_context = 0;  // that would do, and that this model and machine can have (LoadModel); 0: none
  bool can_drop = false;        // it fits without the oldest turns (DropOldest)
  uint64_t message = 0;         // key of what was to be answered (Regenerate) or continued; 0: what was sent
  bool continues = false;
  bool operator==(const RefusedPrompt&) const = default;
};

// What helps where a message does not fit the context.
struct WaysOut {
  uint32_t larger_context = 0;  // tokens (LoadModel); 0: none
  bool can_drop = false;        // DropOldest
  bool any() const { return larger_context > 0 || can_drop; }
};

// The next larger context, of at most so many tokens, that holds a prompt of so many and an answer; 0: there is none.
uint32_t larger_context(uint32_t now, uint64_t most, uint64_t tokens);

inline std::shared_ptr<const ProfilerData> no_profile() {
  static const auto kNone = std::make_shared<const ProfilerData>();
  return kNone;
}

inline constexpr size_t kMostKeptAnswers = 32;

struct DeskState {
  std::vector<ConversationSummary> conversations, trash;  // latest first
  std::optional<SearchResults> search;                    // while the search field has words
  OpenConversation open;

  std::vector<ModelChoice> models;
  HubSearch hub;
  std::vector<DeviceChoiceRow> devices;
  std::optional<LoadedModel> model;
  std::optional<LoadingModel> loading;
  AnswerSettings settings;

  std::vector<ConversationId> answering;  // those that are answered, or wait to be, while another one is shown
  std::vector<ConversationId> unread;     // those with an answer that ended since they were shown
  uint64_t taken_sends = 0;    // grows when a Send or an EditMessage was taken: only then may the composer forget it
  uint64_t refused_sends = 0;  // grows when one was not
  std::optional<RefusedPrompt> refusal;  // why the last one was not; none once anything else was wished for
  uint64_t counted_revision = 0;         // of the composer's text that counted_tokens is of
  uint32_t counted_tokens = 0;
  std::vector<Attachment> attachments;

  std::vector<NoticeItem> notices;  // oldest first
  std::string store_fault;          // why nothing is stored; empty: it is
  std::shared_ptr<const ProfilerData> profile = no_profile();
  std::vector<std::shared_ptr<const AnswerProfile>> answers;  // this run's last, kMostKeptAnswers, oldest first
  bool operator==(const DeskState&) const = default;
};

uint32_t chosen_bit(const SamplingField& field);

// Of a message that would bring the conversation to so many tokens.
WaysOut ways_out_before_sending(const DeskState& state, uint64_t tokens);

// Of a message that was not answered again for its length, or of an answer that was cut by a full context.
WaysOut ways_out_at(const DeskState& state, const ChatMessage& message);

}  // namespace warpchat
