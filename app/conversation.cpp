// Lines become messages or commands; whatever fails is one sentence, and the conversation goes on.
#include "app/conversation.h"

#include <filesystem>
#include <utility>

#include "app/directories.h"
#include "app/export.h"
#include "app/log.h"
#include "app/model_loading.h"
#include "app/output.h"
#include "app/text_input.h"
#include "models/message.h"

namespace warpchat {

namespace {

std::string history_path() {
  const std::string folder = state_directory();
  return make_private_directory(folder) ? folder + "/history" : "";
}

std::string dimmed(const std::string& text) { return wants_style() ? "\x1b[2m" + text + "\x1b[0m" : text; }

void say(const std::string& text) { write_output(dimmed(text) + "\n"); }

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
      history_(history_path()),
      reader_(terminal_, history_) {}

int Conversation::run() {
  say(describe(*model_) + "\n/help lists commands, Ctrl-D leaves");
  while (take_turn()) {
  }
  save_profile(*model_, options_);
  return 0;
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
  switch (line.command->action) {
    case SlashAction::kHelp:
      write_output(help_text());
      break;
    case SlashAction::kExit:
      return false;
    case SlashAction::kClear:
      start_anew(/*clear_screen=*/true);
      break;
    case SlashAction::kNew:
      start_anew(/*clear_screen=*/false);
      break;
    case SlashAction::kRegenerate:
      answer([&] { session_->regenerate(); });
      break;
    case SlashAction::kEdit:
      edit(line.argument);
      break;
    case SlashAction::kUndo:
      undo();
      break;
    case SlashAction::kRead:
      read(line.argument);
      break;
    case SlashAction::kModel:
      line.argument.empty() ? show_models() : change_model(line.argument);
      break;
    case SlashAction::kSet:
      set(line.argument);
      break;
    case SlashAction::kShow:
      show();
      break;
    case SlashAction::kSave:
    case SlashAction::kLoad:
      throw Error(std::string(line.command->name) +
                  " comes with the conversation store, which this version does not have; "
                  "/export writes the conversation to a file");
    case SlashAction::kExport:
      export_conversation(line.argument, model_name(*model_), settings_.session.system_prompt, session_->messages());
      say("wrote " + line.argument);
      break;
    case SlashAction::kPerf:
      perf();
      break;
  }
  return true;
}

void Conversation::answer(const std::function<void()>& start) {
  session_->options() = settings_.session;
  model_->decoder->steps().profile().reset();
  start();
  const StreamedAnswer streamed = stream_answer(
      {[&](std::chrono::milliseconds timeout) { return session_->next_event(timeout); }, [&] { session_->stop(); }},
      settings_);
  last_timings_ = streamed.end.timings;
  if (streamed.interrupted) say("(stopped)");
  if (settings_.verbose)
    write_error(timing_report(*last_timings_, settings_.session.sampling.seed, model_->decoder->steps().profile()));
  write_output("\n");
}

void Conversation::send(const std::string& text) {
  const size_t before = session_->messages().size();
  try {
    answer([&] { session_->send(attached_ + text); });
  } catch (...) {
    take_back(before);
    throw;
  }
  if (!take_back(before)) attached_.clear();
}

// A message without an answer would break the turns that templates expect.
bool Conversation::take_back(size_t n_messages) {
  const bool unanswered = session_->messages().size() == n_messages + 1;
  if (!unanswered) return false;
  session_->undo();
  say("(there is no answer, so the message is not kept; Up recalls it)");
  return true;
}

std::string Conversation::last_user_text() const {
  for (auto message = session_->messages().rbegin(); message != session_->messages().rend(); ++message)
    if (message->role == "user") return message->content;
  throw Error("there is no message yet");
}

void Conversation::edit(const std::string& text) {
  const std::string last = last_user_text();
  if (text.empty()) {
    editing_ = true;
    prefilled_ = last;
  } else {
    answer([&] { session_->edit_last(text); });
  }
}

void Conversation::undo() {
  const std::string last = last_user_text();
  session_->undo();
  say("forgot: " + printable(last, 60));
}

void Conversation::start_anew(bool clear_screen) {
  session_->clear();
  attached_.clear();
  last_timings_.reset();
  if (clear_screen)
    write_output("\x1b[H\x1b[2J\x1b[3J");
  else
    say("a new conversation");
}

void Conversation::read(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) throw Error("cannot read " + path + ": it is no regular file");
  const std::string text = read_file(path);
  require_utf8(text, path);
  attached_ += text + (text.ends_with('\n') ? "\n" : "\n\n");
  const size_t n_tokens = model_->tokenizer->encode(text, /*parse_special=*/false, /*add_bos=*/false).size();
  say("read " + path + ": " + counted(n_tokens, "token") + ", sent before your next message");
}

void Conversation::change_model(const std::string& name) {
  ModelFlags flags = options_;
  flags.model = name;
  std::unique_ptr<Model> next = load_model(flags);
  ChatSettings settings = settings_;
  settings.session.sampling = settings_from(options_, next->file_sampling).session.sampling;
  auto session = std::make_unique<ChatSession>(*next, settings.session);
  session->restore(session_->messages());
  session_ = std::move(session);
  model_ = std::move(next);
  settings_ = std::move(settings);
  last_timings_.reset();
  remember_model(model_->file.path(), state_directory());
  say(describe(*model_));
}

void Conversation::show_models() const {
  std::string text = "now: " + model_->file.path();
  for (const FoundModel& model : find_models(model_folders())) text += "\n     " + model.name;
  say(text);
}

void Conversation::set(const std::string& argument) {
  if (argument.empty()) return write_output(list_settings(settings_));
  const size_t blank = std::min(argument.find_first_of(" \t"), argument.size());
  const size_t value = std::min(argument.find_first_not_of(" \t", blank), argument.size());
  change_setting(settings_, argument.substr(0, blank), argument.substr(value));
  say(argument.substr(0, blank) + (value < argument.size() ? ": " + argument.substr(value) : " is empty now"));
}

void Conversation::show() const {
  write_output("model     " + model_->file.path() + "\n          " + describe(*model_) + "\ntokens    " +
               std::string(model_->tokenizer->method()) + "\ncontext   " + grouped(session_->context_used()) + " of " +
               counted(session_->context_size(), "token") + " used by " +
               counted(session_->messages().size(), "message") + "\n\nsettings\n" + list_settings(settings_));
}

void Conversation::perf() const {
  if (!last_timings_) throw Error("there is no answer yet");
  write_output(timing_report(*last_timings_, settings_.session.sampling.seed, model_->decoder->steps().profile()));
}

}  // namespace warpchat
