// Questions go to standard error, so that standard output is the answer's alone.
#include "app/model_choice.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <span>

#include "app/directories.h"
#include "app/model_download.h"
#include "app/model_loading.h"
#include "app/model_suggestions.h"
#include "app/output.h"
#include "engine/cpu/memory_budget.h"
#include "engine/http/http_url.h"
#include "engine/hub/hub_settings.h"
#include "models/message.h"

namespace warpchat {

namespace {

bool can_ask() { return input_is_terminal() && error_is_terminal(); }

// A line from the terminal, trimmed; nullopt at its end. Byte by byte: what follows belongs to the conversation.
std::optional<std::string> ask(const std::string& question) {
  write_error(question);
  std::string line;
  for (char c = 0;;) {
    const ssize_t n = read(STDIN_FILENO, &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    if (c == '\n') break;
    line += c;
  }
  const size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

// The index of a line "1" to "n".
std::optional<size_t> number_in(const std::string& line, size_t n) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc() || end != line.data() + line.size() || number < 1 || number > n) return std::nullopt;
  return number - 1;
}

void require_yes(const HubModelName& name, const DownloadPlan& plan, const std::string& folder) {
  if (plan.missing == 0) return;
  const std::string part = plan.missing < plan.bytes ? "the missing " + human_bytes(plan.missing) + " of " : "";
  const std::string answer = ask("download " + part + name.text() + ", " + human_bytes(plan.bytes) + ", into " +
                                 printable(folder, 200) + "? [y/N] ")
                                 .value_or("");
  if (lower_case(answer) != "y" && lower_case(answer) != "yes")
    throw Error("nothing was downloaded; chat -m FILE.gguf takes a file that is here");
}

std::string fetch(const HubModelName& name, const ChatOptions& options) {
  if (options.yes) return download_model(name, options.offline);
  return download_model(name, options.offline,
                        [&](const DownloadPlan& plan, const std::string& folder) { require_yes(name, plan, folder); });
}

std::string padded(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string suggestions_text() {
  const uint64_t available = available_memory();
  std::string text = "No model is here yet. These can be fetched (sizes are approximate):\n";
  const std::span<const ModelSuggestion> suggestions = model_suggestions();
  for (size_t i = 0; i < suggestions.size(); ++i) {
    const ModelSuggestion& s = suggestions[i];
    text += "  " + std::to_string(i + 1) + "  " + padded(std::string(s.repository), 37) +
            padded(human_bytes(s.bytes), 8) + padded(std::string(s.good_for), 29) +
            (memory_for_file(s.bytes) <= available ? "fits" : "too large") + "\n";
  }
  text += "(" + human_bytes(available) + " of memory are free.) Looked for models in\n";
  for (const ModelFolder& folder : model_folders()) text += "  " + printable(folder.path, 200) + "\n";
  return text + "A number fetches one; the path of a GGUF file or org/repo[:QUANT] takes that; Enter leaves: ";
}

std::string choose_first(const ChatOptions& options) {
  std::string question = suggestions_text();
  for (;;) {
    const std::string line = ask(question).value_or("");
    if (line.empty()) throw Error("no model was chosen; chat --help tells how to name one");
    if (const std::optional<size_t> index = number_in(line, model_suggestions().size()))
      return download_model(*parse_hub_model_name(model_suggestions()[*index].repository), options.offline);
    try {
      return find_model_file(line);
    } catch (const NotCached& missing) {
      return download_model(missing.name, options.offline);
    } catch (const Error& error) {
      question = std::string(error.what()) + "\nA number, a path or org/repo[:QUANT]; Enter leaves: ";
    }
  }
}

std::string choose_among(const std::vector<FoundModel>& models) {
  std::string question = "Several models are here:\n";
  for (size_t i = 0; i < models.size(); ++i)
    question += "  " + std::to_string(i + 1) + "  " + printable(models[i].name, 200) + "\n";
  question += "Which one? ";
  for (;;) {
    const std::string line = ask(question).value_or("");
    if (line.empty()) throw Error("no model was chosen; choose one with --model");
    if (const std::optional<size_t> index = number_in(line, models.size())) return models[*index].path;
    question = "A number from 1 to " + std::to_string(models.size()) + "; Enter leaves: ";
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
  } catch (const NoModel&) {
    if (offline || !can_ask()) throw;
    return choose_first(options);
  } catch (const SeveralModels& several) {
    if (!can_ask()) throw;
    return choose_among(several.models);
  }
}

}  // namespace warpchat
