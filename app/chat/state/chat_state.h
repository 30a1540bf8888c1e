// What a front end shows, as plain data. The controller has one copy; a window on another thread builds the same state
// from the updates (app/chat/state/updates.h).
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/chat/profile/profiler_data.h"
#include "app/chat/state/offered_tools.h"
#include "app/formats/prompts.h"
#include "app/model_choice/devices.h"
#include "app/model_choice/model_choice.h"
#include "app/model_choice/remembered_model.h"
#include "app/settings/answer_choices.h"
#include "app/settings/settings_file.h"
#include "engine/events.h"
#include "engine/message.h"
#include "engine/remedy.h"
#include "engine/sampler.h"
#include "engine/store/conversation_store.h"

namespace warpchat {

// A token of an answer: the offset of its text in reasoning and content of all rounds and what follows, joined, and its
// time.
struct TokenMark {
  uint32_t offset;  // bytes
  float seconds;    // since the previous token; for the first token, since the request
  bool operator==(const TokenMark&) const = default;
};

enum class MessageStatus { kComplete, kStreaming, kStopped, kFailed };

struct ChatMessage : Message {
  uint64_t key = 0;  // unique in this process; keys caches of its layout
  TurnId turn = 0;   // 0: not stored (yet)
  MessageStatus status = MessageStatus::kComplete;
  uint32_t revision = 0;  // grows with every change of text

  std::vector<TurnId> siblings;  // the versions of this turn, itself too, oldest first; fewer than two: no choice
  size_t sibling = 0;            // which of them this is
  std::string model_name;        // shown_name() of its model

  // Only for answers generated in this process.
  std::vector<TokenMark> tokens;
  std::optional<double> thinking_seconds;  // while it thinks, so far
  Remedy remedy = {};                      // of its failure
  std::string why_asked = {};              // ToolCallsChanged, about the call that the user is asked about
  bool operator==(const ChatMessage&) const = default;
};

// The bytes [begin, end) of an answer, as its token marks count them, and all of them.
std::string text_between(const ChatMessage& message, size_t begin, size_t end);
size_t text_bytes(const ChatMessage& message);
bool is_begun(const ChatMessage& message);  // has text, reasoning or calls with results, which more can follow

// The call that the user is asked about; null: none.
const ToolCall* asked_call(const ChatMessage& message);

inline constexpr uint32_t kListedHits = 100;

struct SearchResults {
  std::string words;   // as typed, with filters
  std::string sought;  // without
  std::vector<SearchHit> hits;
  uint32_t limit = kListedHits;  // of the hits
  bool has_more = false;         // there are more
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
  RememberedModel model;                           // that answered last; with a new message, the loaded one
  AnswerChoices choices;                           // the user's for this conversation
  std::string assistant;                           // its name; empty: none
  std::optional<AnswerChoices> assistant_choices;  // they rank below; nullopt: there is no such assistant
  std::vector<ChatMessage> messages;
  uint32_t context_used = 0;  // tokens; 0: not known
  bool drops_oldest = false;  // the oldest turns are left out when the context is full (DropOldest)
  uint32_t unseen_turns = 0;  // turns that the last prompt left out at the start

  AnswerPhase phase = AnswerPhase::kIdle;
  PromptProgress prompt_progress{0, 0};
  std::optional<Timings> last_timings;  // of its last answer
  double tokens_per_second = 0;         // of the streaming answer, over about the last second
  double first_token_seconds = 0;       // of it
  bool operator==(const OpenConversation&) const = default;
};

// Messages at the start that the last prompt left out (unseen_turns).
size_t n_unseen_messages(const OpenConversation& conversation);

// The results of a search on the hub.
struct HubSearch {
  std::string words;                      // empty: none were given
  bool running = false, offline = false;  // offline: no network is allowed, and the sentence says why
  std::vector<ModelChoice> models;        // kFetch, best known first; while it runs, those that are known already
  std::string sentence;                   // why there are no (more) results, or what the search waits for
  bool operator==(const HubSearch&) const = default;
};

// The models of the server that was asked last (ConnectServer).
struct ServedModels {
  uint64_t request = 0;             // that asked
  std::string endpoint;             // its name; what was typed, while it is not stored
  bool running = false;             // the server has not answered yet
  std::vector<ModelChoice> models;  // kServed
  std::string fault;                // why there are none
  bool needs_key = false;           // the fault: there is no key, or the server rejects it
  bool lists_none = false;          // the fault: the server answers, but not with a list
  bool was_stored = false;          // the request has stored the server
  bool operator==(const ServedModels&) const = default;
};

struct LoadedModel {
  std::string path, name;      // a remote model has its server's name in both
  std::string endpoint;        // URL; empty: this machine
  std::string device, launch;  // values of --device and --launch; launch is "" on the CPU, both are "" for a server
  std::string status;          // "cpu: 2 threads, AVX-512 (no CUDA driver)"
  uint64_t bytes = 0;
  uint32_t context = 0;         // positions
  uint32_t larger_context = 0;  // the next larger size that model and memory allow; 0: none
  uint32_t max_context = 0;     // the largest size that they allow; 0: it cannot be chosen
  double load_seconds = 0;
  SamplingParams file_sampling;  // the file's defaults
  bool can_think = false;        // its template asks for enable_thinking
  bool can_continue = true;      // goes on with an unfinished answer
  bool operator==(const LoadedModel&) const = default;
};

struct LoadingModel {
  std::string name;
  double fraction = 0;        // 0..1; of a server always 0
  std::string transfer = {};  // progress of the download, in words
  bool is_server = false;
  bool waits = false;  // it is loaded, and takes over once no answer runs
  bool operator==(const LoadingModel&) const = default;
};

struct RunningImport {
  std::string name;     // of the file
  double fraction = 0;  // 0..1
  bool is_export = false;
  bool operator==(const RunningImport&) const = default;
};

struct AssistantChoice {
  std::string name;
  std::string about;       // its settings on one line
  TypedSettings settings;  // as they are edited
  std::string fault;       // why its file cannot be used; empty: it can
  bool operator==(const AssistantChoice&) const = default;
};

struct DefaultAssistant {
  std::string name;                          // empty: none
  std::optional<std::string> system_prompt;  // nullopt: it has none
  AnswerChoices choices;
  bool operator==(const DefaultAssistant&) const = default;
};

struct AssistantList {
  uint64_t revision = 0;  // grows with each ListAssistants and each change
  uint64_t request = 0;   // of the last SaveAssistant
  std::string fault;      // why that has changed nothing; empty: it has
  std::vector<AssistantChoice> all;
  bool operator==(const AssistantList&) const = default;
};

// What holds for an answer.
struct AnswerSettings {
  SamplingParams sampling;
  int32_t max_tokens = -1;    // -1: until the answer ends
  std::optional<bool> think;  // nullopt: the model's default
  bool random_seed = true;    // a new seed for each answer
  bool operator==(const AnswerSettings&) const = default;
};

struct NoticeItem {
  uint64_t id;
  bool is_error;
  std::string text;                           // one sentence, for people
  std::string action_label;                   // "Undo"; empty: nothing to do about it
  std::vector<ConversationId> restores = {};  // the conversations that the action restores from the trash
  TurnId shows = 0;                           // not 0: instead, the action shows the one up to this turn again
  Remedy remedy = {};                         // remedy of an error, which action_label names
  std::string model = {};                     // path; empty: the loaded one
  std::vector<ConversationId> imported = {};  // not empty: the action takes this import back
  bool unarchives = false;                    // the action takes `restores` out of the archive instead
  std::string about = {};                     // what failed: the error goes once that has succeeded; empty: nothing
  bool operator==(const NoticeItem&) const = default;
};

// A file that the next Send includes.
struct Attachment {
  std::string path, name;  // path: empty if it was put back from a message
  uint64_t bytes = 0;      // of its text
  size_t n_tokens = 0;     // 0: unknown, since no tokeniser is loaded
  bool is_read = true;     // false: it is being read
  bool operator==(const Attachment&) const = default;
};

// Why an action was refused; the composer keeps its text.
struct RefusedPrompt {
  std::string reason;           // the sentence
  uint32_t tokens = 0;          // of the prompt; 0: its length was not the reason
  uint32_t context = 0;         // size of the context
  uint32_t larger_context = 0;  // one that is large enough and possible here (LoadModel); 0: none
  bool can_drop = false;        // it fits without the oldest turns (DropOldest)
  uint64_t message = 0;         // key of what was to be answered (Regenerate) or continued; 0: what was sent
  bool continues = false;
  bool operator==(const RefusedPrompt&) const = default;
};

// Remedies for a message that does not fit the context.
struct Remedies {
  uint32_t larger_context = 0;  // tokens (LoadModel); 0: none
  bool can_drop = false;        // DropOldest
  bool any() const { return larger_context > 0 || can_drop; }
};

// The next larger context, up to `most`, that holds a prompt of this many tokens and an answer; 0: none.
uint32_t larger_context(uint32_t now, uint64_t max, uint64_t tokens);

inline std::shared_ptr<const ProfilerData> no_profile() {
  static const auto kNone = std::make_shared<const ProfilerData>();
  return kNone;
}

inline constexpr size_t kMaxKeptAnswers = 32;

inline constexpr uint32_t kListedConversations = 1000;

struct ConversationLists {
  std::vector<ConversationSummary> conversations;  // the pinned ones, then those of each folder, then the others
  std::vector<ConversationSummary> archived;       // in the same order
  std::vector<ConversationSummary> trash;          // latest first
  std::vector<NameCount> folders;
  ConversationOrder order = ConversationOrder::kUpdated;
  uint32_t limit = kListedConversations;  // of each group
  bool has_more = false;                  // some group has more than that
  bool operator==(const ConversationLists&) const = default;
};

struct ChatState : ConversationLists {
  std::optional<SearchResults> search;  // while the search field has words
  OpenConversation open;

  std::vector<ModelChoice> models;     // on this machine, and what can be downloaded
  std::vector<ModelChoice> endpoints;  // the stored ones, and first the one in use if it is not stored
  ServedModels served;
  HubSearch hub;
  std::vector<DeviceLine> devices;
  std::optional<LoadedModel> model;
  std::optional<LoadingModel> loading;
  std::optional<ModelOffer> offer;  // the open conversation's model, while it is not the one that is loaded or loading
  std::optional<RunningImport> importing;
  AssistantList assistants;            // as they were listed last
  AnswerChoices flags;                 // of this run: they rank above a conversation's choices
  AnswerChoices defaults;              // of the settings file: they rank below
  bool default_seed_is_drawn = false;  // by the front end, for this run
  std::string default_system_prompt;   // of new conversations, unless their assistant has one
  DefaultAssistant default_assistant;  // of new conversations
  OfferedTools tools;                  // as they were listed last (ListTools)
  bool titles = false;                 // the model names a conversation once it has answered
  std::vector<LibraryPrompt> prompts;  // the library, as it was read last
  uint64_t saved_prompts = 0;          // counts SavePrompt actions that were performed

  std::vector<ConversationId> answering;  // conversations with an answer that runs or waits while another one is shown
  std::vector<ConversationId> unread;     // conversations whose answer ended since they were last shown
  uint64_t taken_sends = 0;    // counts accepted Send and EditMessage actions: the composer then drops its text
  uint64_t refused_sends = 0;  // counts refused ones
  std::optional<RefusedPrompt> refusal;  // of the last refused one; reset by any other action
  uint64_t counted_revision = 0;         // revision of the composer's text that counted_tokens belongs to
  uint32_t counted_tokens = 0;
  std::vector<Attachment> attachments;

  std::vector<NoticeItem> notices;  // oldest first
  std::string store_fault;          // why nothing is stored; empty: it is
  std::shared_ptr<const ProfilerData> profile = no_profile();
  std::vector<std::shared_ptr<const AnswerProfile>> answers;  // this run's last, kMaxKeptAnswers, oldest first
  bool operator==(const ChatState&) const = default;
};

// What has been chosen at each rank, the highest first. Below them is the model's file.
struct AnswerLayers {
  AnswerChoices flags, conversation, assistant, defaults;
  bool default_seed_is_drawn = false;
};
AnswerLayers layers_of(const ChatState& state, const OpenConversation& conversation);
SamplingParams file_sampling(const ChatState& state);  // the built-in values without a model

AnswerSettings with_choices(AnswerSettings settings, const AnswerChoices& choices);
AnswerSettings answer_settings(const SamplingParams& file, const AnswerLayers& layers);
AnswerSettings answer_settings(const ChatState& state, const OpenConversation& conversation);
AnswerSettings settings_of(const ChatState& state);  // of the open conversation

// What an assistant has that answers as the open conversation is answered now: its system message, what was chosen for
// it and by flags, and the loaded model.
TypedSettings settings_of_chat(const ChatState& state);

// Null: it is not listed.
const ConversationSummary* find_listed(const ConversationLists& lists, ConversationId id);

// Remedies before sending a message that would bring the conversation to this many tokens.
Remedies remedies_before_sending(const ChatState& state, uint64_t tokens);

// Remedies for a message that was too long to answer again, or for an answer cut by a full context.
Remedies remedies_at(const ChatState& state, const ChatMessage& message);

}  // namespace warpchat
