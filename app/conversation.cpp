// Lines become messages or commands; whatever fails is one sentence, and the conversation goes on.
#include "app/conversation.h"

#include <filesystem>
#include <utility>

#include "app/directories.h"
#include "app/log.h"
#include "app/model_loading.h"
#include "app/output.h"
#include "app/text_input.h"
#include "models/message.h"

namespace warpchat {

namespace {

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
  say(describe(*model_) + "\n/help lists commands, Ctrl-D leaves");
  do {
    tell_notices();
  } while (take_turn());
  save_profile(*model_, options_);
  return 0;
}

void Conversation::tell_notices() {
  if (const std::string notice = record_.take_notice(); !notice.empty()) print_error(notice);
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
      start_anew();
      write_output("\x1b[H\x1b[2J\x1b[3J");
      break;
    case SlashAction::kNew:
      start_anew();
      say("a new conversation");
      break;
    case SlashAction::kRegenerate:
      regenerate();
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
      save(line.argument);
      break;
    case SlashAction::kList:
      list(line.argument);
      break;
    case SlashAction::kSearch:
      search(line.argument);
      break;
    case SlashAction::kLoad:
      load(line.argument);
      break;
    case SlashAction::kExport:
      export_to(line.argument);
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
                .n_before = n_before,
                .system_prompt = settings_.session.system_prompt,
                .model = model_->file.path()});
}

void Conversation::regenerate() {
  if (!session_->messages().empty()) record_.regenerate(last_user_message() + 1);
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

void Conversation::start_anew() {
  session_->clear();
  record_.start_new();
  attached_.clear();
  last_timings_.reset();
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

}  // namespace warpchat
