// Lines become messages or commands. A failure is one sentence, and the conversation continues.
#include "app/conversation.h"

#include <cassert>
#include <map>
#include <utility>

#include "app/conversation_list.h"
#include "app/directories.h"
#include "app/log.h"
#include "app/model_loading.h"
#include "app/output.h"
#include "app/remedies.h"
#include "app/terminal/spinner.h"
#include "app/typed_path.h"
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

std::string help_line(const SlashCommand& command) {
  return "  " + std::string(command.name) + " " + std::string(command.arguments) + "\t" + std::string(command.help) +
         "\n";
}

// With or without its slash.
std::string help_of(const std::string& word) {
  const SlashCommand* command = find_slash_command(word.starts_with('/') ? word : "/" + word);
  if (command == nullptr) throw Error("unknown command " + printable(word, 60) + "; /help lists them");
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
         "  Ctrl-O\topens a long paste, which is shown as [pasted 312 lines]\n"
         "  Ctrl-_\tundoes the last change of the line\n";
}

}  // namespace

Conversation::Conversation(const ChatOptions& options)
    : options_(options),
      controller_(options),
      history_(history_path(options)),
      reader_(terminal_, history_, [this](std::string_view before) {
        return complete_line(before,
                             [this](SlashArgument kind, std::string_view typed) { return arguments(kind, typed); });
      }) {
  controller_.stop_prompt_when(has_interrupt);
  look_.hide_thinking = options.hide_thinking;
  look_.word_wrap = !options.no_word_wrap;
  look_.verbose = options.verbose;
}

int Conversation::run() {
  std::optional<ConversationId> resumed;  // found before the model is loaded, which takes a while
  if (options_.resume) resumed = find_resumed(*options_.resume);
  controller_.turn(std::chrono::milliseconds(0));
  follow();
  if (!controller_.now().model) return 1;
  printer_.begin_conversation();
  noted_interrupts_.emplace();
  AnswerSettings settings = controller_.now().settings;
  settings.random_seed = false;  // it is shown, and can be set
  act(ChangeSettings{settings});
  note_model();
  status_ = describe(*controller_.now().model);
  say(status_ + "\n/help lists commands, Ctrl-D leaves");
  tell_long_context();
  tell_thinking();
  if (options_.resume && !(resumed && act(OpenStored{*resumed}))) return 1;
  if (resumed) show_opened();
  if (options_.resume && !options_.system_prompt.empty() && options_.system_prompt != open().system_prompt &&
      act(SetSystemPrompt{options_.system_prompt}))
    say("system message from now on: " + excerpt(options_.system_prompt, {}, 300));
  while (take_turn()) continue;
  if (const Model* model = controller_.model()) save_profile(*model, options_);
  return 0;
}

bool Conversation::take_turn() {
  if (controller_.now().model && status_ != describe(*controller_.now().model))
    say(status_ = describe(*controller_.now().model));
  const PromptLine line = reader_.read(std::exchange(prefilled_, {}));
  if (line.kind == PromptLine::Kind::kEnd && !editing_) return false;
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

void Conversation::drop_line(const PromptLine& line) {
  if (std::exchange(editing_, false))
    say("(the message was not changed)");
  else if (line.text.empty())
    say("(Ctrl-D or /exit leaves)");
}

bool Conversation::take_line(const std::string& line) {
  if (line.find_first_not_of(" \t\n") == std::string::npos) {
    if (editing_) drop_line({});
    return true;
  }
  if (std::exchange(editing_, false)) {
    edit(line);
    return true;
  }
  if (const std::optional<SlashLine> slash = parse_slash_line(line)) return run_slash(*slash);
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
      {A::kRegenerate, [](C& c, Argument) { c.regenerate(); }},
      {A::kContinue, [](C& c, Argument) { c.go_on(); }},
      {A::kEdit, [](C& c, Argument text) { c.edit(text); }},
      {A::kUndo, [](C& c, Argument) { c.undo(); }},
      {A::kFork, [](C& c, Argument number) { c.fork(number); }},
      {A::kCut, [](C& c, Argument number) { c.cut(number); }},
      {A::kRead, [](C& c, Argument path) { path.empty() ? c.list_files() : c.read(typed_path(path)); }},
      {A::kUnread, [](C& c, Argument number) { c.unread(number); }},
      {A::kModel, [](C& c, Argument name) { name.empty() ? c.show_models() : c.change_model(name); }},
      {A::kDevice, [](C& c, Argument name) { name.empty() ? c.show_devices() : c.change_device(name); }},
      {A::kLaunch, [](C& c, Argument mode) { c.change_launch(mode); }},
      {A::kContext, [](C& c, Argument tokens) { c.change_context(tokens); }},
      {A::kTrim, [](C& c, Argument onoff) { c.trim(onoff); }},
      {A::kSet, [](C& c, Argument setting) { c.set(setting); }},
      {A::kShow, [](C& c, Argument) { c.show(); }},
      {A::kPerf, [](C& c, Argument wanted) { c.perf(wanted); }},
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
      if (noted_interrupts_) reader_.read_ahead();  // a line has been read before
      if (noted_interrupts_ && take_interrupt()) interrupt();
      controller_.turn(kTick);
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
  if (refused_.starts_with("/edit ")) history_.add(refused_);  // what was typed may be its text alone
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

void Conversation::regenerate() {
  if (messages().empty()) throw Error("there is no answer to regenerate");
  const ChatMessage& last = messages().back();
  const bool repeats = last.role == "assistant" && last.endpoint.empty() && last.status == MessageStatus::kComplete;
  if (repeats && controller_.model() != nullptr && controller_.now().settings.sampling.temperature == 0)
    say("(at temp 0 the same model gives the same answer; /set temp changes that)");
  answer(Regenerate{messages().back().key}, "/regen", "the previous answer is shown again");
}

void Conversation::go_on() {
  if (messages().empty() || messages().back().role != "assistant") throw Error("there is no answer to continue");
  printer_.will_continue(messages().back());
  answer(ContinueAnswer{messages().back().key}, "/continue", "the answer is unchanged");
}

void Conversation::edit(const std::string& text) {
  const ChatMessage& last = last_of("user");
  editing_ = text.empty();
  if (editing_) {
    prefilled_ = last.content;
    return;
  }
  answer(EditMessage{last.key, text}, "/edit " + text,
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
  act(NewConversation{});
}

void Conversation::clear_screen() const {
  if (moves_cursor()) write_styled_output("\x1b[H\x1b[2J\x1b[3J");
}

void Conversation::read(const std::string& path) {
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
