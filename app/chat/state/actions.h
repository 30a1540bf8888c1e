// What the user asks for: every button, key and command of a front end becomes one of these.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/chat/state/chat_state.h"

namespace warpchat {

// The conversation.
struct Send {
  std::string text;
};
struct Stop {};
struct Regenerate {
  uint64_t message;                                       // key of an answer, or of a user message without one
  std::optional<AnswerSettings> settings = std::nullopt;  // of this answer alone; nullopt: those of the state
};
struct EditMessage {
  uint64_t message;  // key; a user's message is answered again with its files, an answer is only replaced
  std::string text;
};
struct ContinueAnswer {
  uint64_t message;  // key of the last answer, which is continued
};
struct DropOldest {  // from now on the oldest turns are left out when the context is full; all stay stored
  bool on = true;
};
struct Undo {                  // takes back the last message of the user with its answer
  bool returns_files = false;  // its files are attached to the next one
};
struct DeleteTurn {  // a message of the user with its answer; what follows them stays
  uint64_t message;  // key of one of them
};
struct ShowVersion {
  uint64_t message;  // key; 0: any message, also one that is not shown
  TurnId turn;       // one of its siblings
};
struct SetSystemPrompt {
  std::string text;
  bool for_new = false;  // of new conversations, kept in the settings file
};
struct AttachFile {
  std::string path;
};
struct DropAttachment {
  size_t index;
};
struct CountTokens {
  std::string text;
  uint64_t revision;
};

// Conversations.
struct NewConversation {};
struct OpenStored {
  ConversationId id;
};
struct Fork {
  uint64_t message = 0;             // key; the shown conversation up to it is copied into a new one
  ConversationId conversation = 0;  // else all of this one
};
struct Search {
  std::string words;             // empty: no search
  uint32_t limit = kListedHits;  // of the hits
};
struct Rename {
  ConversationId id;
  std::string title;
};
struct FileConversations {  // pins, archives, tags them or moves them to a folder
  std::vector<ConversationId> ids;
  FilingChange change;
};
struct ListConversations {  // which of them the state lists
  ConversationOrder order = ConversationOrder::kUpdated;
  uint32_t limit = kListedConversations;  // of each group
};
struct ThrowAway {
  std::vector<ConversationId> ids;
};
struct TakeFromTrash {
  std::vector<ConversationId> ids;
};
struct EraseForEver {
  ConversationId id;
};
struct ExportConversation {
  std::string path;                                      // .json: JSON, .md: Markdown, for one conversation only
  bool replace = false;                                  // the file that is there
  std::vector<ConversationId> ids = {};                  // empty: the one that is shown
  bool all = false;                                      // instead: all that are not in the trash
  std::function<void(double)> progress = [](double) {};  // 0..1, called while it is performed
};
struct ImportConversation {
  std::string path;  // any file that app/formats/transfer.h reads; shows the newest of several conversations
  std::function<void(double)> progress = [](double) {};  // 0..1, called while it is performed
};
struct StopImport {};    // while one is performed, what it has stored stays; also an export, which then writes nothing
struct TakeBackImport {  // puts what it has stored into the trash
  std::vector<ConversationId> conversations;
};

// Model, device, settings.
struct RefreshModels {};
struct ConnectServer {     // asks for its models; a server without a name, or a new key, is stored once it has answered
  std::string endpoint;    // NAME or address
  std::string key = {};    // empty: the stored one, if any, or that of the flags
  std::string model = {};  // that a server has which lists none; empty: not known
  uint64_t request = 0;    // any number, for ServedModels
  bool stores = true;      // false: nothing is stored
  std::string flags_key = {};  // set by the controller: of a server that only flags name
};
struct RenameEndpoint {
  std::string from, to;
};
struct SetDefaultModel {
  std::string endpoint, model;  // empty model: none
};
struct RemoveEndpoint {
  std::string name;
};
struct SearchHub {
  std::string words;  // empty: ends a search
  bool now = false;   // else after a short pause in typing
};
struct LoadModel {
  std::string path;                   // empty: the loaded one again
  std::optional<std::string> device;  // nullopt: as before
  std::optional<std::string> launch;
  std::optional<int32_t> context;  // as ModelFlags::context
  std::string endpoint = {};       // NAME or URL of a server to use, with its only model or that of `path`
  bool fetch = false;              // download a model of the hub first
};
struct RemoveModel {  // from the disk, or from the list if it lies in no folder of models
  std::string path;
};
struct AddModelFolder {  // that is searched from now on
  std::string path;
};
struct CancelLoading {};
struct UnloadModel {};
struct SetChoice {
  std::string_view name;  // in answer_choices()
  AnswerChoices value;    // its field of that name; empty: what ranks below counts again
  bool for_new = false;   // kept in the settings file, for conversations without an own value; else the open one's
};
struct SetAssistant {    // of the open conversation, with its system message; its model or server is loaded
  std::string name;      // empty: none
  bool for_new = false;  // kept in the settings file, for new conversations; nothing is loaded
};
struct ListPrompts {};  // reads the library of prompts
struct SavePrompt {
  std::string name, text;
  std::string replaces = {};  // the name of the prompt that was changed; empty: it is a new one
};
struct RemovePrompt {
  std::string name;
};
struct ListAssistants {};
struct SaveAssistant {
  std::string from;  // the one that it replaces; empty: none, it is new
  std::string name;
  TypedSettings settings;
  uint64_t request = 0;  // any number, for AssistantList
};
struct RemoveAssistant {
  std::string name;
};
struct ImportAssistants {
  std::string path;  // any file that read_assistants() reads; a name that is taken gets a number
};
struct ExportAssistant {
  std::string name, path;
  bool replace = false;  // the file that is there
};
struct SetTitles {  // kept in the settings file
  bool on;
};
// Answers the question about a call (CallStatus::kAsking).
struct DecideCall {
  uint64_t message;  // key of the answer
  std::string call;  // its id
  bool is_allowed;
  Permission permission = Permission::kAsk;  // of its tool from now on; kAsk: for this call alone
};
struct ListTools {};  // with what they cost
struct SetToolPermission {
  std::string tool;
  Permission permission;
};
struct ReadToolServers {  // of a file, to be shown
  std::string path;
};
struct AddToolServers {  // those that were read last: keeps them in mcp.json, and starts them
  bool is_wanted;        // false: forgets them
};
struct OpenFolder {  // for the program's own tools
  std::string path;
};
struct DismissNotice {
  uint64_t id;
};
struct WatchProfile {
  bool on;  // the profiler is open: measure, and send ProfilerData a few times a second
};
struct ExportProfile {
  std::string path;
};

// The load that a notice's remedy asks for; nullopt: none.
std::optional<LoadModel> load_of(const NoticeItem& notice);

using Action =
    std::variant<Send, Stop, Regenerate, EditMessage, ContinueAnswer, DropOldest, Undo, DeleteTurn, ShowVersion,
                 SetSystemPrompt, AttachFile, DropAttachment, CountTokens, NewConversation, OpenStored, Fork, Search,
                 Rename, FileConversations, ListConversations, ThrowAway, TakeFromTrash, EraseForEver,
                 ExportConversation, ImportConversation, StopImport, TakeBackImport, RefreshModels, SearchHub,
                 ConnectServer, RenameEndpoint, SetDefaultModel, RemoveEndpoint, RemoveModel, AddModelFolder, LoadModel,
                 CancelLoading, UnloadModel, SetChoice, SetAssistant, ListAssistants, SaveAssistant, RemoveAssistant,
                 ImportAssistants, ExportAssistant, ListPrompts, SavePrompt, RemovePrompt, SetTitles, DecideCall,
                 ListTools, SetToolPermission, ReadToolServers, AddToolServers, OpenFolder, DismissNotice, WatchProfile,
                 ExportProfile>;

// Collects the actions of a window's panels while a frame is drawn; dispatched after it.
class Actions {
 public:
  void push(Action action) { wishes_.push_back(std::move(action)); }
  std::vector<Action> drain() { return std::exchange(wishes_, {}); }
  bool empty() const { return wishes_.empty(); }

 private:
  std::vector<Action> wishes_;
};

}  // namespace warpchat
