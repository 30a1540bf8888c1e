// Lines become messages or commands; whatever fails is one sentence, and the conversation goes on.
#include "app/conversation.h"

#include <cassert>
#include <map>
#include <utility>

#include "app/directories.h"
#include "app/log.h"
#include "app/model_loading.h"
#include "app/output.h"
#include "app/text_input.h"
#include "models/message.h"

namespace warpchat {

namespace {

constexpr uint64_t kMostFileBytes = 64'000'000;  // of a text for a message

std::string history_path(const ChatOptions& options) {
  if (options.no_history) return "";
  const std::string folder = state_directory();
  return make_private_directory(folder) ? folder + "/history" : "";
}

std::string help_text() {
  std::string text;
  for (const SlashCommand& command : slash_commands()) {
    std::string line = "  " + std::string(command.name) + " " + std::string(command.arguments);
    line.resize(std::max<size_t>(line.size() + 1, 24), ' ');
    text += line + std::string(command.help) + "\n";
  }
  return text +
         "\n  \"\"\"                     around a message of several lines; Alt-Enter works too\n"
         "  Ctrl-C                  stops an answer and keeps its text\n"
         "  Up, Down, Ctrl-R        earlier messages, search in them\n";
}

}  // namespace

Conversation::Conversation(const ChatOptions& options, std::unique_ptr<Model> model, ChatSettings settings)
    : options_(options),
      settings_(std::move(settings)),
      model_(std::move(model)),
      session_(std::make_unique<ChatSession>(*model_, settings_.session)),
      record_(!options.no_history),
      history_(history_path(options)),
      reader_(terminal_, history_) {}

int Conversation::run() {
  status_ = describe(*model_);
  say(status_ + "\n/help lists commands, Ctrl-D leaves");
  do {
    tell_notices();
  } while (take_turn());
  save_profile(*model_, options_);
  return 0;
}

void Conversation::tell_notices() {
  if (const std::string notice = record_.take_notice(); !notice.empty()) print_error(notice);
  if (std::string status = describe(*model_); status != status_) say(status_ = std::move(status));
}

bool Conversation::take_turn() {
  const std::optional<std::string> line = reader_.read(std::exchange(prefilled_, {}));
  if (!line) return false;
  try {
    return take_line(*line);
  } catch (const OutputClosed&) {
    throw;
  } catch (const std::exception& error) {
    log_line(std::string("error: ") + error.what());
    print_error(error.what());
    return true;
  }
}

bool Conversation::take_line(const std::string& line) {
  const bool editing = std::exchange(editing_, false);
  if (line.find_first_not_of(" \t\n") == std::string::npos) return true;
  if (editing) {
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
      {A::kHelp, [](C&, Argument) { write_output(help_text()); }},
      {A::kClear, [](C& c, Argument) { c.start_on_a_clear_screen(); }},
      {A::kNew, [](C& c, Argument) { c.start_anew(), say("a new conversation"); }},
      {A::kRegenerate, [](C& c, Argument) { c.regenerate(); }},
      {A::kEdit, [](C& c, Argument text) { c.edit(text); }},
      {A::kUndo, [](C& c, Argument) { c.undo(); }},
      {A::kRead, [](C& c, Argument path) { c.read(path); }},
      {A::kModel, [](C& c, Argument name) { name.empty() ? c.show_models() : c.change_model(name); }},
      {A::kSet, [](C& c, Argument setting) { c.set(setting); }},
      {A::kShow, [](C& c, Argument) { c.show(); }},
      {A::kPerf, [](C& c, Argument onoff) { c.perf(onoff); }},
      {A::kSave, [](C& c, Argument title) { c.save(title); }},
      {A::kList, [](C& c, Argument count) { c.list(count); }},
      {A::kSearch, [](C& c, Argument words) { c.search(words); }},
      {A::kLoad, [](C& c, Argument wanted) { c.load(wanted); }},
      {A::kVersions, [](C& c, Argument number) { c.versions(number); }},
      {A::kDelete, [](C& c, Argument wanted) { c.throw_away(wanted); }},
      {A::kTrash, [](C& c, Argument) { c.list_trash(); }},
      {A::kRestore, [](C& c, Argument number) { c.take_from_trash(number); }},
      {A::kErase, [](C& c, Argument number) { c.erase(number); }},
      {A::kImport, [](C& c, Argument path) { c.import_from(path); }},
      {A::kExport, [](C& c, Argument path) { c.export_to(path); }},
  };
  assert(kHandlers.size() + 1 == slash_commands().size());
  if (line.command->action == A::kExit) return false;
  kHandlers.at(line.command->action)(*this, line.argument);
  return true;
}

void Conversation::answer(const std::function<void()>& start) {
  session_->options() = settings_.session;
  model_->decoder->steps().set_measuring(measures_ || settings_.verbose || !options_.profile.empty());
  model_->decoder->steps().profile().reset();
  start();
  record_.answer_begins();
  const auto next_event = [&](std::chrono::milliseconds timeout) {
    std::optional<Event> event = session_->next_event(timeout);
    record_.follow(session_->messages(), event);
    return event;
  };
  const StreamedAnswer streamed = stream_answer({next_event, [&] { session_->stop(); }}, settings_);
  last_timings_ = streamed.end.timings;
  if (streamed.interrupted) say("(stopped)");
  if (settings_.verbose)
    write_error(timing_report(*last_timings_, settings_.session.sampling.seed, model_->decoder->steps().profile()));
  write_output("\n");
}

void Conversation::send(const std::string& text) {
  const size_t before = session_->messages().size();
  record(attached_ + text, text, before);
  try {
    answer([&] { session_->send(attached_ + text); });
  } catch (...) {
    take_back(before);
    throw;
  }
  if (!take_back(before)) attached_.clear();
}

void Conversation::record(const std::string& text, const std::string& typed, size_t n_before) {
  record_.send({.text = text,
                .title = title_from(typed),
                .before = std::span(session_->messages()).first(n_before),
                .system_prompt = settings_.session.system_prompt,
                .model = absolute_path(*model_)});
}

void Conversation::regenerate() {
  if (!session_->messages().empty()) record_.regenerate(std::span(session_->messages()).first(last_user_message() + 1));
  answer([&] { session_->regenerate(); });
}

// A message without an answer would break the turns that templates expect.
bool Conversation::take_back(size_t n_messages) {
  const bool unanswered = session_->messages().size() == n_messages + 1;
  if (!unanswered) return false;
  session_->undo();
  record_.keep(n_messages);
  say("(there is no answer, so the message is not kept; Up recalls it)");
  return true;
}

size_t Conversation::last_user_message() const {
  for (size_t i = session_->messages().size(); i-- > 0;)
    if (session_->messages()[i].role == "user") return i;
  throw Error("there is no message yet");
}

void Conversation::edit(const std::string& text) {
  const size_t last = last_user_message();
  if (text.empty()) {
    editing_ = true;
    prefilled_ = session_->messages()[last].content;
  } else {
    record(text, text, last);
    answer([&] { session_->edit_last(text); });
  }
}

void Conversation::undo() {
  const std::string last = session_->messages()[last_user_message()].content;
  session_->undo();
  record_.undo(session_->messages().size());
  say("forgot: " + printable(last, 60));
}

void Conversation::start_on_a_clear_screen() {
  start_anew();
  write_output("\x1b[H\x1b[2J\x1b[3J");
}

void Conversation::start_anew() {
  versions_.clear();
  session_->clear();
  record_.start_new();
  attached_.clear();
  last_timings_.reset();
}

void Conversation::read(const std::string& path) {
  const std::string text = read_regular_file(path, kMostFileBytes);
  require_utf8(text, path);
  attached_ += text + (text.ends_with('\n') ? "\n" : "\n\n");
  const size_t n_tokens = model_->tokenizer->encode(text, /*parse_special=*/false, /*add_bos=*/false).size();
  say("read " + path + ": " + counted(n_tokens, "token") + ", sent before your next message");
}

}  // namespace warpchat
