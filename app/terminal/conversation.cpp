// Lines become messages or commands. A failure is one sentence, and the conversation continues.
#include "app/terminal/conversation.h"

#include <cassert>
#include <cstdio>
#include <map>
#include <utility>

#include "app/chat/state/remedies.h"
#include "app/model_choice/model_loading.h"
#include "app/platform/directories.h"
#include "app/platform/log.h"
#include "app/platform/output.h"
#include "app/platform/spinner.h"
#include "app/platform/text/nearest_name.h"
#include "app/platform/typed_path.h"
#include "app/terminal/conversation_list.h"
#include "engine/store/search_words.h"
#include "models/human_bytes.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr std::chrono::milliseconds kTick{100};

std::string history_path(const ChatOptions& options) {
  if (options.no_history) return "";
  return make_private_directory(state_directory()) ? line_history_file() : "";
}

std::string size_of(const Attachment& file) {
  return human_bytes(file.bytes) + (file.n_tokens > 0 ? ", " + counted(file.n_tokens, "token") : "");
}

std::string speed_text(double tokens_per_second) {
  char text[40];
  std::snprintf(text, sizeof text, "%.1f tokens/s", tokens_per_second);
  return text;
}

std::string help_line(const SlashCommand& command) {
  return "  " + std::string(command.name) + " " + std::string(command.arguments) + "\t" + std::string(command.help) +
         "\n";
}

// With or without its slash.
std::string help_of(const std::string& word) {
  const SlashCommand* command = find_slash_command(word.starts_with('/') ? word : "/" + word);
  if (command == nullptr)
    throw Error("unknown command " + printable(word, 60) + perhaps_meant(nearest_slash_command(word)) +
                "; /help lists them");
  return help_line(*command);
}

std::string help_text() {
  std::string text;
  for (const SlashCommand& command : slash_commands()) text += help_line(command);
  return text +
         "\n  \"\"\"\tbegins and ends a message of several lines\n"
         "  Ctrl-J\tadds a line, and so do Shift-Enter, Alt-Enter and \\ at the end\n"
         "  Ctrl-C\tstops an answer and keeps its text\n"
         "  Tab\tcompletes commands and arguments; again: lists them\n"
         "  Up, Down, Ctrl-R\trecall and search earlier messages\n"
         "  Ctrl-X Ctrl-E\topens the message in your editor (VISUAL or EDITOR)\n"
         "  Ctrl-O\topens a long paste, which is shown as [pasted 312 lines]\n"
         "  Ctrl-_\tundoes the last change of the line\n";
}

// One for all answers of this run, which /set shows.
ChatOptions with_drawn_seed(ChatOptions options) {
  if (over(options, over(options.assistant_choices, options.kept_choices)).seed.value_or(-1) >= 0) return options;
  options.seed.reset();
  options.kept_choices.seed = static_cast<int64_t>(std::random_device()());
  options.draws_seed = true;
  return options;
}

}  // namespace

Conversation::Conversation(const ChatOptions& options)
    : options_(with_drawn_seed(options)),
      controller_(options_),
      history_(history_path(options)),
      reader_(terminal_, history_, [this](std::string_view before) {
        return complete_line(before,
                             [this](SlashArgument kind, std::string_view typed) { return arguments(kind, typed); });
      }) {
  reader_.list_commands();
  controller_.stop_prompt_when(has_interrupt);
  look_.hide_thinking = options.hide_thinking;
  look_.word_wrap = !options.no_word_wrap;
  look_.verbose = options.verbose;
}

int Conversation::run() {
  std::optional<ConversationId> resumed;  // found before the model is loaded, which takes a while
  if (options_.resume) resumed = find_resumed(*options_.resume);
  {
    const Spinner spinner("opening the conversations");  // an older version's may be converted for minutes
    controller_.turn(std::chrono::milliseconds(0));
  }
  follow();
  if (!controller_.now().model) return 1;
  printer_.begin_conversation();
  noted_interrupts_.emplace();
  status_ = describe(*controller_.now().model);
  say(status_ + "\n/help lists commands, Ctrl-D leaves");
  tell_long_context();
  tell_thinking();
  if (options_.resume && !(resumed && act(OpenStored{*resumed}))) return 1;
  if (resumed) show_opened();
  if (resumed && options_.is_flag(kAssistantSetting, options_.assistant)) act(SetAssistant{options_.assistant});
  const bool is_flag = options_.is_flag(kSystemPromptSetting, options_.system_prompt);
  if (options_.resume && is_flag && options_.system_prompt != open().system_prompt &&
      act(SetSystemPrompt{options_.system_prompt}))
    say("system message from now on: " + excerpt(options_.system_prompt, {}, 300));
  while (take_turn()) continue;
  if (const Model* model = controller_.model()) save_profile(*model, options_);
  return 0;
}

bool Conversation::take_turn() {
  if (controller_.now().model && status_ != describe(*controller_.now().model))
    say(status_ = describe(*controller_.now().model));
  const PromptLine line = reader_.read(std::exchange(prefilled_, {}), usage());
  if (line.kind == PromptLine::Kind::kEnd && editing_ == 0) return false;
  try {
    if (line.kind == PromptLine::Kind::kText) return take_line(line.text);
    drop_line(line);
  } catch (const OutputClosed&) {
    throw;
  } catch (const std::exception& error) {
    log_line(std::string("error: ") + error.what());
    print_error(sentence_of(error, View::kTerminal));
  }
  return true;
}

std::string Conversation::usage() const {
  const Timings last = open().last_timings.value_or(Timings{});
  const uint32_t size = controller_.now().model ? controller_.now().model->context : 0;
  std::string text;
  if (last.generated_tokens > 1 && last.generate_seconds > 0)
    text = speed_text(last.generated_tokens / last.generate_seconds);
  if (open().context_used > 0)
    text += (text.empty() ? "context " : ", context ") + grouped(open().context_used) +
            (size > 0 ? " of " + grouped(size) : "") + " tokens";
  return text;
}

void Conversation::drop_line(const PromptLine& line) {
  offered_word_.clear();
  if (std::exchange(editing_, 0) != 0)
    say("(the message was not changed)");
  else if (line.text.empty())
    say("(Ctrl-D or /exit leaves)");
}

bool Conversation::take_line(const std::string& line) {
  const std::string offered = std::exchange(offered_word_, "");
  if (line.find_first_not_of(" \t\n") == std::string::npos) {
    if (editing_ != 0) drop_line({});
    return true;
  }
  if (const uint64_t edited = std::exchange(editing_, 0); edited != 0) {
    replace(edited, line);
    return true;
  }
  if (std::optional<SlashLine> slash = parse_typed(line, offered)) return run_slash(*slash);
  send(line);
  return true;
}

bool Conversation::run_slash(const SlashLine& line) {
  using A = SlashAction;
  using C = Conversation;
  using Argument = const std::string&;
  static const std::map<SlashAction, void (*)(C&, Argument)> kHandlers = {
      {A::kHelp, [](C&, Argument command) { write_text(command.empty() ? help_text() : help_of(command)); }},
      {A::kClear, [](C& c, Argument) { c.start_anew(), c.clear_screen(); }},
      {A::kNew, [](C& c, Argument) { c.start_anew(), say("new conversation"); }},
      {A::kRegenerate, [](C& c, Argument other) { c.regenerate(other); }},
      {A::kContinue, [](C& c, Argument) { c.go_on(); }},
      {A::kEdit, [](C& c, Argument text) { c.edit(text); }},
      {A::kUndo, [](C& c, Argument) { c.undo(); }},
      {A::kFork, [](C& c, Argument number) { c.fork(number); }},
      {A::kCut, [](C& c, Argument number) { c.cut(number); }},
      {A::kRead, [](C& c, Argument path) { path.empty() ? c.list_files() : c.read(typed_path(path)); }},
      {A::kUnread, [](C& c, Argument number) { c.unread(number); }},
      {A::kOpen, [](C& c, Argument folder) { folder.empty() ? c.list_folders() : c.open_folder(typed_path(folder)); }},
      {A::kTools, [](C& c, Argument wanted) { c.tools(wanted); }},
      {A::kPrompt, [](C& c, Argument wanted) { wanted.empty() ? c.list_prompts() : c.use_prompt(wanted); }},
      {A::kModel, [](C& c, Argument name) { name.empty() ? c.show_models() : c.change_model(name); }},
      {A::kDevice, [](C& c, Argument name) { name.empty() ? c.show_devices() : c.change_device(name); }},
      {A::kLaunch, [](C& c, Argument mode) { c.change_launch(mode); }},
      {A::kContext, [](C& c, Argument tokens) { c.change_context(tokens); }},
      {A::kTrim, [](C& c, Argument onoff) { c.trim(onoff); }},
      {A::kAssistant, [](C& c, Argument name) { c.change_assistant(name); }},
      {A::kConfig, [](C& c, Argument setting) { c.config(setting); }},
      {A::kSet, [](C& c, Argument setting) { c.set(setting); }},
      {A::kShow, [](C& c, Argument) { c.show(); }},
      {A::kPerf, [](C& c, Argument wanted) { c.perf(wanted); }},
      {A::kCopy, [](C& c, Argument wanted) { c.copy(wanted); }},
      {A::kSave, [](C& c, Argument title) { c.save(title); }},
      {A::kList, [](C& c, Argument count) { c.list(count); }},
      {A::kSearch, [](C& c, Argument words) { c.search(words); }},
      {A::kPin, [](C& c, Argument wanted) { c.pin(wanted); }},
      {A::kArchive, [](C& c, Argument wanted) { c.archive(wanted); }},
      {A::kFolder, [](C& c, Argument wanted) { c.move_to_folder(wanted); }},
      {A::kTag, [](C& c, Argument wanted) { c.tag(wanted); }},
      {A::kLoad, [](C& c, Argument wanted) { c.load(wanted); }},
      {A::kHistory, [](C& c, Argument) { c.show_all(); }},
      {A::kVersions, [](C& c, Argument number) { c.versions(number); }},
      {A::kDelete, [](C& c, Argument wanted) { c.throw_away(wanted); }},
      {A::kTrash, [](C& c, Argument numbers) { numbers.empty() ? c.list_trash() : c.show_trashed(numbers); }},
      {A::kRestore, [](C& c, Argument number) { c.take_from_trash(number); }},
      {A::kErase, [](C& c, Argument number) { c.erase(number); }},
      {A::kImport, [](C& c, Argument path) { c.import_from(typed_path(path)); }},
      {A::kExport, [](C& c, Argument path) { c.export_to(path); }},
  };
  assert(kHandlers.size() + 1 == slash_commands().size());
  if (line.command->action == A::kExit) return false;
  kHandlers.at(line.command->action)(*this, line.argument);
  return true;
}

bool Conversation::act(Action action) {
  controller_.submit(std::move(action));
  return follow();
}

bool Conversation::follow() {
  try {
    for (;;) {
      for (const Update& update : controller_.take_updates()) printer_.show(update, controller_.now());
      printer_.flush();
      if (!controller_.busy()) break;
      if (decide_call()) continue;
      if (noted_interrupts_) reader_.read_ahead();  // a line has been read before
      controller_.turn(kTick);                      // a prompt that is being built stops by itself (stop_prompt_when)
      if (noted_interrupts_ && take_interrupt()) interrupt();
    }
  } catch (...) {  // output failed: stop the answer, because it cannot be seen
    for (controller_.submit(Stop{}); controller_.busy();) controller_.turn(kTick);
    controller_.take_updates();
    printer_.forget();
    throw;
  }
  return !printer_.take_fault();
}

void Conversation::interrupt() {
  loading_stopped_ = controller_.now().loading.has_value();
  if (loading_stopped_)
    controller_.submit(CancelLoading{});
  else
    controller_.submit(Stop{});
}

const ChatMessage& Conversation::last_of(const std::string& role) const {
  for (size_t i = messages().size(); i-- > 0;)
    if (messages()[i].role == role) return messages()[i];
  throw Error(role == "user" ? "there is no message yet" : "there is no answer yet");
}

void Conversation::answer(Action action, const std::string& typed, std::string_view in_vain) {
  watch_profile();
  {
    const Spinner spinner("reading the conversation");  // until the first event: all of it becomes tokens
    controller_.submit(std::move(action));
  }
  follow();
  const bool is_text = typed != "/regen" && typed != "/continue";
  refused_ = controller_.now().refusal ? typed : "";
  if (controller_.now().refusal && controller_.now().refusal->tokens > 0) offer_remedies(*controller_.now().refusal);
  if (is_text && !refused_.empty()) offer_again();
  const std::optional<ChatPrinter::EndedAnswer> ended = printer_.take_ended();
  if (!ended) return;
  if (!ended->has_text && !messages().empty()) tell_vain_answer(in_vain);
  if (look_.verbose) write_error_text(timings());
  write_output("\n");
}

// A text is not lost. Where a key can recall it, the line stays free for the command that makes room for it.
void Conversation::offer_again() {
  if (terminal_.is_plain()) return void(prefilled_ = refused_);
  const std::string edited = refused_.starts_with("/edit ") ? refused_.substr(std::string_view("/edit ").size()) : "";
  if (parse_count(edited) > 0) return say("(your message was not sent; " + refused_ + " asks for it, Up recalls it)");
  if (!edited.empty()) history_.add(refused_);  // what was typed may be its text alone
  say("(your message was not sent; Up brings it back)");
}

void Conversation::tell_vain_answer(std::string_view in_vain) {
  const ChatMessage& last = messages().back();
  const bool has_answer = last.role == "assistant" && last.failure.empty();
  if (has_answer && in_vain.empty()) return;  // said already: it calls a tool
  say("(" + std::string(has_answer ? in_vain : "your message is kept; /regen answers it, /undo takes it back") + ")");
}

void Conversation::send(const std::string& text) { answer(Send{text}, text); }

// The reason has been printed as an error.
void Conversation::offer_remedies(const RefusedPrompt& refusal) {
  const std::string remedies = words_in_terminal({refusal.larger_context, refusal.can_drop});
  const std::string beyond = refusal.larger_context > 0 ? "" : larger_than_made_for(refusal.tokens);
  const std::string all = remedies + (remedies.empty() || beyond.empty() ? "" : "; ") + beyond;
  say("(" + (all.empty() ? "no larger context is possible; shorten the message" : all) + ")");
}

// A context beyond the model's own that holds so many tokens; empty: the machine has no room for it.
std::string Conversation::larger_than_made_for(uint64_t tokens) const {
  const Model* model = controller_.model();
  if (model == nullptr) return "";
  const uint32_t context = larger_context(model->context, model->decoder->steps().context_that_fits(), tokens);
  return context <= model->config.context_length
             ? ""
             : "the model was made for " + counted(model->config.context_length, "token") +
                   "; shorten the message, or /context " + std::to_string(context) + " goes beyond that at a risk";
}

// other: "temp=0.2 seed=7" or a model, for this answer alone.
void Conversation::regenerate(const std::string& other) {
  if (messages().empty()) throw Error("there is no answer to regenerate");
  if (other.empty()) return regenerate_with(std::nullopt);
  const std::string name = other.substr(0, other.find_first_of(" \t="));
  if (is_setting(name) || other.find('=') != std::string::npos) return regenerate_with(settings_for_once(other));
  const LoadedModel before = controller_.now().model.value_or(LoadedModel{});
  change_model(other);
  const std::optional<LoadedModel>& now = controller_.now().model;
  if (!now || (now->path == before.path && now->endpoint == before.endpoint)) return;  // the reason has been said
  regenerate_with(std::nullopt);
  refused_.clear();  // it was for that model
  load_model({.path = before.path, .endpoint = before.endpoint});
}

void Conversation::regenerate_with(const std::optional<AnswerSettings>& settings) {
  const ChatMessage& last = messages().back();
  const bool repeats = last.role == "assistant" && last.endpoint.empty() && last.status == MessageStatus::kComplete;
  const LoadedModel model = controller_.now().model.value_or(LoadedModel{});
  const float temperature = settings.value_or(settings_of(controller_.now())).sampling.temperature;
  if (repeats && last.model == model.path && temperature == 0)
    say("(at temp 0 the same model gives the same answer; /regen temp=0.8 changes that)");
  answer(Regenerate{last.key, settings}, "/regen", "the previous answer is shown again");
}

void Conversation::go_on() {
  if (messages().empty() || messages().back().role != "assistant") throw Error("there is no answer to continue");
  printer_.will_continue(messages().back());
  answer(ContinueAnswer{messages().back().key}, "/continue", "the answer is unchanged");
}

// The user's messages, first to last.
std::vector<const ChatMessage*> Conversation::questions() const {
  std::vector<const ChatMessage*> found;
  for (const ChatMessage& message : messages())
    if (message.role == "user") found.push_back(&message);
  return found;
}

// A number is that of a message; another text replaces the last one.
void Conversation::edit(const std::string& argument) {
  const ChatMessage* message = &last_of("user");
  const uint32_t number = parse_count(argument);
  if (number == 0 && !argument.empty()) return replace(message->key, argument);
  if (number > 0) {
    const std::vector<const ChatMessage*> all = questions();
    if (number > all.size())
      throw Error("you have sent " + counted(all.size(), "message") + " here, found number " + grouped(number) +
                  "; /history shows them");
    message = all[number - 1];
    if (number < all.size())
      say("(what follows message " + grouped(number) + " will be another version, which /versions shows)");
  }
  editing_ = message->key;
  prefilled_ = message->content;
}

void Conversation::replace(uint64_t message, const std::string& text) {
  const std::vector<const ChatMessage*> all = questions();
  const auto place = std::ranges::find(all, message, &ChatMessage::key);
  const bool is_last = place == all.end() || place + 1 == all.end();
  answer(EditMessage{message, text},
         "/edit " + (is_last ? text : std::to_string(static_cast<size_t>(place - all.begin()) + 1)),
         "the previous message and its answer are shown again; Up recalls yours");
}

void Conversation::undo() {
  const std::string last = last_of("user").content;
  if (act(Undo{})) say("taken back: " + printable(last, 60) + " (/versions brings it back)");
}

// The message of the user with this number, from 1 on; the last one without a number.
size_t Conversation::message_numbered(const std::string& number) const {
  std::vector<size_t> own;
  for (size_t i = 0; i < messages().size(); ++i)
    if (messages()[i].role == "user") own.push_back(i);
  if (own.empty()) throw Error("there is no message yet");
  const uint32_t n = number.empty() ? static_cast<uint32_t>(own.size()) : parse_count(number);
  if (n < 1 || n > own.size())
    throw Error("no message has the number '" + printable(number, 60) + "'; this conversation has " +
                counted(own.size(), "message") + " of yours, the first one is 1");
  return own[n - 1];
}

void Conversation::fork(const std::string& number) {
  if (messages().empty()) throw Error("there is no message yet");
  size_t last = number.empty() ? messages().size() - 1 : message_numbered(number);
  while (last + 1 < messages().size() && messages()[last + 1].role != "user") ++last;
  if (act(Fork{messages()[last].key})) say("you are now in a copy; the original stays unchanged");
}

void Conversation::cut(const std::string& number) {
  const ChatMessage message = messages()[message_numbered(number)];
  if (act(DeleteTurn{message.key})) say("deleted: " + printable(message.content, 60) + " (/versions brings it back)");
}

void Conversation::start_anew() {
  versions_.clear();
  refused_.clear();
  marked_.clear();
  act(NewConversation{});
}

void Conversation::clear_screen() const {
  if (moves_cursor()) write_styled_output("\x1b[H\x1b[2J\x1b[3J");
}

// Ctrl-C keeps those that are read.
void Conversation::read_all(const std::string& named, const FoundFiles& found) {
  const size_t n_before = controller_.now().attachments.size();
  for (const std::string& path : found.paths) {
    const size_t n = controller_.now().attachments.size();
    if (act(AttachFile{path}) && controller_.now().attachments.size() == n) break;
  }
  const std::vector<Attachment>& files = controller_.now().attachments;
  Attachment all;
  for (size_t i = n_before; i < files.size(); ++i) all.bytes += files[i].bytes, all.n_tokens += files[i].n_tokens;
  const size_t n_read = files.size() - n_before;
  for (const std::string& line : found.about_skipped()) say(line);
  if (n_read == 0) return say("(no file was attached)");
  say("read " + counted(n_read, "file") + " of " + named + ": " + size_of(all) + ", sent before your next message");
  if (n_read < found.paths.size())
    say("(" + counted(found.paths.size() - n_read, "file") + " not read; /read lists those that are)");
  tell_too_long();
}

void Conversation::read(const std::string& path) {
  if (const std::optional<FoundFiles> found = find_files(path)) return read_all(path, *found);
  const size_t n_before = controller_.now().attachments.size();
  if (!act(AttachFile{path})) return;
  if (controller_.now().attachments.size() == n_before) return say("(stopped; the file was not attached)");
  const Attachment& file = controller_.now().attachments.back();
  say("read " + path + ": " + size_of(file) + ", sent before your next message");
  const auto n_alike = std::ranges::count_if(controller_.now().attachments, [&](const Attachment& other) {
    return other.name == file.name && other.bytes == file.bytes;
  });
  if (n_alike > 1)
    say("(" + printable(file.name) + " is attached " + grouped(static_cast<uint64_t>(n_alike)) +
        " times; /unread N detaches one)");
  tell_too_long();
}

// A lower bound before sending: the template and the answer need more tokens.
void Conversation::tell_too_long() const {
  const ChatState& now = controller_.now();
  size_t tokens = now.open.drops_oldest ? 0 : now.open.context_used;
  for (const Attachment& file : now.attachments) tokens += file.n_tokens;
  if (!now.model || now.model->context == 0 || tokens < now.model->context) return;
  const Remedies found = remedies_before_sending(now, tokens);
  std::string remedies = words_in_terminal(found);
  if (!found.any()) remedies = larger_than_made_for(tokens);
  say("(that is " + counted(tokens, "token") + " with the conversation, but the context holds " +
      grouped(now.model->context) + "; " + (remedies.empty() ? "" : remedies + "; ") + "/unread detaches files)");
}

void Conversation::list_files() const {
  const std::vector<Attachment>& files = controller_.now().attachments;
  if (files.empty()) throw Error("no file is attached; /read FILE attaches one");
  std::string lines;
  for (size_t i = 0; i < files.size(); ++i)
    lines += "  " + std::to_string(i + 1) + "\t" + printable(files[i].name) + "\t" + size_of(files[i]) + "\n";
  write_text(lines);
}

void Conversation::unread(const std::string& number) {
  const std::vector<Attachment>& files = controller_.now().attachments;
  const size_t n = files.size(), wanted = number.empty() ? 0 : parse_count(number);
  if (n == 0) throw Error("no file is attached");
  if (!number.empty() && (wanted < 1 || wanted > n))
    throw Error("no attached file has the number '" + printable(number, 60) + "'; the last one is " + grouped(n) +
                "; /read lists them");
  if (wanted > 0) {
    const std::string name = files[wanted - 1].name;
    act(DropAttachment{wanted - 1});
    return say("detached " + printable(name));
  }
  for (size_t i = 0; i < n; ++i) act(DropAttachment{0});
  say("detached " + counted(n, "file"));
}

}  // namespace warpchat
