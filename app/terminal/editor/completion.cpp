// A word that begins with a slash is a command's name; the rest is one argument, blanks included.
#include "app/terminal/editor/completion.h"

#include <algorithm>
#include <filesystem>

#include "app/platform/text/graphemes.h"
#include "app/platform/typed_path.h"
#include "models/ascii.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

namespace fs = std::filesystem;
constexpr int kBetweenNames = 2;  // columns between two names
constexpr size_t kMaxRows = 8;    // of a list

size_t common_length(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) { return lower_case(x) == lower_case(y); };
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end(), same).first - a.begin());
}

bool begins_with(std::string_view text, std::string_view typed) { return common_length(text, typed) == typed.size(); }

std::vector<Candidate> beginning_with(std::string_view typed, const std::vector<std::string>& words) {
  std::vector<Candidate> candidates;
  for (const std::string& word : words)
    if (begins_with(word, typed)) candidates.push_back({word, word});
  return candidates;
}

std::vector<Candidate> command_names(std::string_view typed) {
  std::vector<Candidate> candidates;
  for (const SlashCommand* command : commands_beginning_with(typed))
    candidates.push_back({std::string(command->name) + " ", std::string(command->name)});
  return candidates;
}

// An opening quote is closed after a file; without one, blanks need no quotes.
std::vector<Candidate> files(std::string_view typed) {
  const bool quoted = typed.starts_with('"') || typed.starts_with('\'');
  const std::string quote(typed.substr(0, quoted ? 1 : 0));
  const std::string_view path = typed.substr(quote.size());
  const size_t name_at = path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1;
  const std::string folder(path.substr(0, name_at));
  const std::string_view name = path.substr(name_at);
  std::vector<Candidate> candidates;
  if (path == "~") return {{quote + "~/", "~/"}};
  std::error_code error;
  for (fs::directory_iterator entry(folder.empty() ? "." : with_home_directory(folder), error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string found = entry->path().filename().string();
    if (!found.starts_with(name) || (found.starts_with('.') && name.empty())) continue;
    if (!is_valid_utf8(found) || found.find('\n') != std::string::npos) continue;  // it cannot be typed
    std::error_code unknown;
    const bool is_folder = entry->is_directory(unknown);
    candidates.push_back({quote + folder + found + (is_folder ? "/" : quote), found + (is_folder ? "/" : "")});
  }
  std::ranges::sort(candidates, {}, &Candidate::shown);
  return candidates;
}

bool looks_like_a_path(std::string_view text) {
  return text.starts_with('/') || text.starts_with('.') || text.starts_with('~') || text.starts_with('"') ||
         text.starts_with('\'');
}

std::vector<Candidate> arguments_of(SlashArgument kind, std::string_view typed, const ArgumentList& arguments) {
  if (kind == SlashArgument::kFile || (kind == SlashArgument::kModel && looks_like_a_path(typed))) return files(typed);
  std::vector<Candidate> candidates = beginning_with(typed, arguments(kind, typed));
  if (const size_t blank = typed.find(' '); kind == SlashArgument::kSetting && blank != std::string_view::npos)
    for (Candidate& candidate : candidates) candidate.shown.erase(0, blank + 1);  // the name
  if (kind == SlashArgument::kPrompt)
    for (Candidate& candidate : candidates)
      if (candidate.text.ends_with('=')) candidate.shown.erase(0, candidate.text.rfind(' ') + 1);  // what is there
  return candidates;
}

std::string fitting(const std::string& name, int width) {
  std::string text;
  int used = 0;
  for (size_t at = 0; at < name.size();) {
    const size_t end = next_grapheme(name, at);
    const Drawn cluster = drawn_cluster(std::string_view(name).substr(at, end - at));
    if (used + cluster.width > width) break;
    text += cluster.text, used += cluster.width;
    at = end;
  }
  return text;
}

}  // namespace

std::string Completion::common_prefix() const {
  if (candidates.empty()) return "";
  const std::string& first = candidates.front().text;
  size_t length = first.size();
  for (const Candidate& candidate : candidates) length = std::min(length, common_length(first, candidate.text));
  while (length < first.size() && continues_character(first[length])) --length;
  return first.substr(0, length);
}

Completion complete_line(std::string_view text, const ArgumentList& arguments) {
  if (!text.starts_with('/') || text.find('\n') != std::string_view::npos) return {};
  const size_t word_end = text.find(' ');
  if (word_end == std::string_view::npos) return {0, command_names(text)};
  const SlashCommand* command = find_slash_command(text.substr(0, word_end));
  const size_t from = std::min(text.find_first_not_of(' ', word_end), text.size());
  if (command == nullptr || command->argument == SlashArgument::kNone) return {};
  return {from, arguments_of(command->argument, text.substr(from), arguments)};
}

Completion complete_path(std::string_view text) { return {0, files(text)}; }

std::vector<const SlashCommand*> commands_beginning_with(std::string_view typed) {
  std::vector<const SlashCommand*> commands;
  for (const SlashCommand& command : slash_commands())
    if (typed.starts_with('/') && command.name.starts_with(typed)) commands.push_back(&command);
  return commands;
}

std::vector<MenuEntry> menu_entries(std::string_view typed,
                                    const std::function<Completion(std::string_view before)>& complete) {
  std::vector<MenuEntry> entries;
  for (const SlashCommand* command : commands_beginning_with(typed)) {
    const std::string name(command->name), blank = command->arguments.empty() ? "" : " ";
    entries.push_back({name + blank, name + blank + std::string(command->arguments), std::string(command->help)});
  }
  const SlashCommand* command = find_slash_command(typed.substr(0, typed.find(' ')));
  if (!entries.empty() || command == nullptr || command->argument != SlashArgument::kPrompt) return entries;
  const Completion names = complete(typed);
  for (const Candidate& candidate : names.candidates)
    if (candidate.text.ends_with(' ') && candidate.text.size() > typed.size() - names.from)
      entries.push_back({std::string(typed.substr(0, names.from)) + candidate.text, candidate.shown, ""});
  return entries;
}

std::vector<std::string> menu_rows(const std::vector<MenuEntry>& entries, std::optional<size_t> chosen, int width) {
  const size_t n_shown = std::min(entries.size(), kMaxRows);
  const size_t chosen_row = chosen.value_or(0);
  const size_t first = chosen_row < n_shown ? 0 : chosen_row + 1 - n_shown;
  int widest = 0;
  for (size_t i = first; i < first + n_shown; ++i) widest = std::max(widest, text_width(entries[i].label));
  std::vector<std::string> rows;
  for (size_t i = first; i < first + n_shown; ++i) {
    const MenuEntry& entry = entries[i];
    std::string row = (chosen == i ? "> " : "  ") + entry.label;
    const int gap = entry.help.empty() ? 0 : widest - text_width(entry.label) + kBetweenNames;
    row.append(static_cast<size_t>(gap), ' ');
    rows.push_back(fitting(row + entry.help, width - 1));
  }
  if (n_shown < entries.size())
    rows.push_back(fitting("  " + grouped(entries.size() - n_shown) + " more; type on", width - 1));
  return rows;
}

std::vector<std::string> in_columns(const std::vector<Candidate>& candidates, int width) {
  int widest = 1;
  for (const Candidate& candidate : candidates) widest = std::max(widest, text_width(candidate.shown));
  widest = std::min(widest, std::max(width - 1, 1));
  const auto n_columns = static_cast<size_t>(std::max(1, (width - 1 + kBetweenNames) / (widest + kBetweenNames)));
  const size_t n_shown = std::min(candidates.size(), n_columns * kMaxRows);
  std::vector<std::string> rows((n_shown + n_columns - 1) / n_columns);
  for (size_t i = 0; i < n_shown; ++i) {
    std::string name = fitting(candidates[i].shown, widest);
    if (i + rows.size() < n_shown) name.append(static_cast<size_t>(widest + kBetweenNames - text_width(name)), ' ');
    rows[i % rows.size()] += name;
  }
  if (n_shown < candidates.size())
    rows.push_back(fitting("and " + grouped(candidates.size() - n_shown) + " more", width - 1));
  return rows;
}

}  // namespace warpchat
