// Questions go to standard error, so that standard output is the answer's alone.
#include "app/terminal/choose_model.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <initializer_list>
#include <optional>

#include "app/model_choice/endpoint_choice.h"
#include "app/model_choice/hub_models.h"
#include "app/model_choice/model_download.h"
#include "app/model_choice/model_loading.h"
#include "app/model_choice/model_places.h"
#include "app/platform/directories.h"
#include "app/platform/log.h"
#include "app/platform/output.h"
#include "app/platform/program_name.h"
#include "app/platform/signals.h"
#include "app/platform/spinner.h"
#include "app/platform/typed_path.h"
#include "app/terminal/editor/prompt_reader.h"
#include "engine/http/http_url.h"
#include "engine/hub/hub_settings.h"
#include "models/ascii.h"
#include "models/gguf_reader.h"
#include "models/model_purpose.h"
#include "models/number_in.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr const char* kFirstWays =
    "Number, org/repo[:QUANT], search words, a file's path or a server's address (Enter quits):";

constexpr const char* kWaysWithoutHub = "A file's path or a server's address (Enter quits):";
constexpr const char* kWaysOffline = "A file's path (Enter quits):";

// A line from the terminal, trimmed; nullopt at its end or when Ctrl-C is noted. Byte by byte: what follows belongs to
// the conversation.
std::optional<std::string> ask(const std::string& question) {
  take_interrupt();  // one that was meant for something else
  write_error_text(question);
  std::string line;
  for (char c = 0;;) {
    pollfd sources[] = {{STDIN_FILENO, POLLIN, 0}, {signal_descriptor(), POLLIN, 0}};
    if (poll(sources, 2, -1) < 0 && errno != EINTR) return std::nullopt;
    if (sources[1].revents != 0) drain_signal_descriptor();
    if (take_interrupt()) {
      write_error("\n");
      return std::nullopt;
    }
    if (sources[0].revents == 0) continue;
    const ssize_t n = read(STDIN_FILENO, &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    if (c == '\n') break;
    line += c;
  }
  return std::string(trimmed(line));
}

// The same with the line editor, on a line of its own, where the terminal can be drawn on.
std::optional<std::string> ask_for_line(const std::string& question, History& history) {
  if (!moves_cursor()) return ask(question);
  write_error_text(question + "\n");
  Terminal terminal;
  PromptReader reader(terminal, history, complete_path);
  const PromptLine line = reader.read();
  terminal.leave();
  if (line.kind == PromptLine::Kind::kInterrupted) {
    raise(SIGINT);  // which the key would have been: it may end the program
    take_interrupt();
  }
  if (line.kind != PromptLine::Kind::kText) return std::nullopt;
  return std::string(trimmed(line.text));
}

bool is_one_of(const std::string& line, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, lower_case(line)) != words.end();
}

// The index of a line "1" to "n".
std::optional<size_t> index_in(const std::string& line, size_t n) {
  const std::optional<size_t> number = number_in<size_t>(line);
  return number && *number >= 1 && *number <= n ? std::optional(*number - 1) : std::nullopt;
}

bool is_yes(const std::optional<std::string>& line) {
  const std::string low = lower_case(line.value_or(""));
  return low == "y" || low == "yes";
}

void require_yes(const DownloadPlan& plan, const std::string& folder) {
  if (plan.missing == 0) return;
  const std::string part = plan.missing < plan.bytes ? "the missing " + human_bytes(plan.missing) + " of " : "";
  if (!is_yes(ask("download " + part + plan.name.text() + ", " + human_bytes(plan.bytes) + ", into " +
                  printable(folder, 200) + "? [y/N]")))
    throw Error("nothing was downloaded");
}

std::string fetch(const HubModelName& name, const ChatOptions& options) {
  if (options.yes) return download_model(name, options.offline);
  return download_model(name, options.offline,
                        [&](const DownloadPlan& plan, const std::string& folder) { require_yes(plan, folder); });
}

std::string padded(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

// Two lines a model: its number, name and size; what it is good for, and why it fits or does not.
std::string numbered(const std::vector<ModelChoice>& models) {
  size_t width = 0;
  for (const ModelChoice& model : models) width = std::max(width, model.name.size());
  std::string text;
  for (size_t i = 0; i < models.size(); ++i) {
    const ModelChoice& m = models[i];
    const std::string about = about_and_why(m);
    text += "  " + std::to_string(i + 1) + "  " + padded(m.name, width + 2) +
            padded(m.bytes > 0 ? human_bytes(m.bytes) : "", 8) + std::string(word_of(m.fits)) + "\n" +
            (about.empty() ? "" : "     " + about + "\n");
  }
  return text;
}

// Searches the hub. Error without results.
std::vector<ModelChoice> models_of_hub(const std::string& words, const CommonOptions& options, bool offline) {
  const HubSettings settings = hub_settings_of_user(offline);
  HubClient hub(settings, [](const std::string& note) { log_line(note); });
  std::vector<ModelChoice> models;
  {
    Spinner spinner("searching " + host_of(settings.endpoint));
    search_hub(hub, words, memory_room(options.device), [&](ModelChoice model) { models.push_back(std::move(model)); });
  }
  if (models.empty())
    throw Error(host_of(settings.endpoint) + " has no GGUF model with '" + printable(words) +
                "' in its name; try fewer words");
  return models;
}

const ModelChoice* chosen_by(const std::string& line, const std::vector<ModelChoice>& models) {
  const std::optional<size_t> index = index_in(line, models.size());
  return index ? &models[*index] : nullptr;
}

std::string download(const ModelChoice& model, bool offline) {
  if (model.fits == FitsMemory::kUnsupported) throw Error(model.name + " was not downloaded: " + model.why);
  if (model.fits == FitsMemory::kNo && !is_yes(ask(model.name + " " + model.why + "; download it anyway? [y/N]")))
    throw Error("nothing was downloaded");
  return download_model(*parse_hub_model_name(model.path), offline);
}

std::string first_question(const std::vector<ModelChoice>& suggested, const std::string& offline_reason) {
  std::string text = "No model found on this machine; searched\n";
  for (const ModelFolder& folder : model_places().folders) text += "  " + printable(folder.path, 200) + "\n";
  if (!offline_reason.empty()) return text + offline_reason + ", so none can be downloaded.\n";
  return text + "These can be downloaded (sizes are approximate):\n" + numbered(suggested);
}

size_t choose_among(const std::string& offer, const std::vector<std::string>& names) {
  std::string question = offer + ":\n";
  for (size_t i = 0; i < names.size(); ++i)
    question += "  " + std::to_string(i + 1) + "  " + printable(names[i], 200) + "\n";
  question += "Which one?";
  for (;;) {
    const std::string line = ask(question).value_or("");
    if (line.empty()) throw Error("no model was chosen");
    if (const std::optional<size_t> index = index_in(line, names.size())) return *index;
    question = "Choose a number from 1 to " + std::to_string(names.size()) + " (Enter quits):";
  }
}

std::string served_model(const ChatOptions& options) {
  try {
    return choose_remote_model(find_endpoint(options), options, wait_at_terminal()).id;
  } catch (const SeveralServedModels& several) {
    if (!can_ask()) throw;
    std::vector<std::string> names;
    for (const RemoteModel& model : several.models) names.push_back(model.id);
    return names[choose_among("The server has several models", names)];
  }
}

ChatOptions with_server(ChatOptions options, const std::string& endpoint) {
  options.endpoint = endpoint;
  options.model = served_model(options);
  return options;
}

// Handles one answer to first_question: returns the file, else updates `models` and the offer, which is shown again.
std::optional<std::string> take_first(const std::string& line, const ChatOptions& options,
                                      std::vector<ModelChoice>& models, std::string& offer) {
  if (const ModelChoice* model = chosen_by(line, models)) return download(*model, options.offline);
  if (!models.empty() && line.find_first_not_of("0123456789") == std::string::npos)
    throw Error("choose a number from 1 to " + std::to_string(models.size()));
  if (is_one_of(line, {"?", "help", "/help", "/?"})) return std::nullopt;
  std::string path;
  try {
    path = find_model_file(typed_path(line));
  } catch (const NotCached& missing) {
    return download_model(missing.name, options.offline);
  } catch (const Error&) {
    if (!are_search_words(line)) throw;
  }
  if (!path.empty()) {
    const GgufFile file = GgufFile::open(path);
    if (const std::string why = why_no_chat_model(file); !why.empty()) file.fail(why);
    return path;
  }
  models = models_of_hub(line, options, options.offline);
  offer = "Found on the hub:\n" + numbered(models);
  return std::nullopt;
}

ChatOptions choose_first(ChatOptions options) {
  const std::string offline = hub_settings("", options.offline).offline_reason;
  std::vector<ModelChoice> models;
  if (offline.empty()) models = suggested_models(memory_room(options.device));
  note_paused_downloads(models, hub_settings_of_user(options.offline).cache);
  std::string offer = first_question(models, offline), question = offer;
  for (History history;;) {
    const std::string ways = options.offline ? kWaysOffline : offline.empty() ? kFirstWays : kWaysWithoutHub;
    const std::string line = ask_for_line(question + ways, history).value_or("");
    if (line.empty() || is_one_of(line, {"q", "quit", "exit", "/quit", "/exit", "/bye"}))
      throw Error("no model was chosen; " + program_name() + " --help shows how to name one");
    try {
      if (!options.offline && is_endpoint(line)) return with_server(options, line);
      if (const std::optional<std::string> path = take_first(line, options, models, offer)) {
        options.model = *path;
        return options;
      }
      question = offer;
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      question = std::string(error.what()) + "\n";
    }
  }
}

}  // namespace

std::string choose_model_file(const ChatOptions& options) {
  const bool offline = !hub_settings("", options.offline).offline_reason.empty();
  try {
    return model_options(options).path;
  } catch (const NotCached& missing) {
    if (!offline && !options.yes && !can_ask()) throw;
    return fetch(missing.name, options);  // which says why not, if offline
  } catch (const SeveralModels& several) {
    if (!can_ask()) throw;
    std::vector<std::string> names;
    for (const FoundModel& model : several.models) names.push_back(model.name);
    return several.models[choose_among("Several models found", names)].path;
  }
}

ChatOptions with_chosen_model(ChatOptions options) {
  if (!options.endpoint.empty()) return with_server(options, options.endpoint);
  if (is_server_address(options.model) && !is_hub_address(options.model))
    throw UsageError(printable(options.model) + " is a server's address; ask a server with --endpoint");
  try {
    options.model = choose_model_file(options);
    return options;
  } catch (const NoModel&) {
    if (!can_ask()) throw;
    return choose_first(std::move(options));
  }
}

bool can_ask() { return input_is_terminal() && error_is_terminal(); }
bool agrees(const std::string& question) { return can_ask() && is_yes(ask(question + " [y/N]")); }

std::string choose_of_hub(const std::string& words, const CommonOptions& options, bool offline) {
  const std::vector<ModelChoice> models = models_of_hub(words, options, offline);
  std::string question = "Found on the hub:\n" + numbered(models);
  if (!can_ask()) {
    write_error_text(question);
    throw UsageError("'" + printable(words) + "' is not a model name; use " + program_name() +
                     " pull with one of these names");
  }
  for (;;) {
    const std::string line = ask(question + "Which one?").value_or("");
    if (line.empty()) throw Error("no model was chosen");
    const ModelChoice* model = chosen_by(line, models);
    if (model != nullptr && model->fits != FitsMemory::kUnsupported) return model->path;
    question = model != nullptr ? model->name + ": " + model->why + "\n"
                                : "Choose a number from 1 to " + std::to_string(models.size()) + " (Enter quits).\n";
  }
}

}  // namespace warpchat
