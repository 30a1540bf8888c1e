// Finds labels line by line, outside of code; then each message is the text between two of them.
#include "app/formats/import_formats.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include "app/formats/import_message.h"
#include "models/ascii.h"

namespace warpchat {

namespace {

enum class LabelStyle { kHeading, kBold, kPlain };

struct Label {
  LabelStyle style;
  std::string_view role, rest;  // rest: of the line, behind the colon
};

struct Speaker {
  std::string_view name, role;
  bool stands_alone = true;  // is a label without "#" or "**", too
};
constexpr Speaker kSpeakers[] = {
    {"user", "user"},
    {"you", "user"},
    {"you said", "user"},
    {"human", "user"},
    {"me", "user", false},
    {"prompt", "user", false},
    {"question", "user"},
    {"assistant", "assistant"},
    {"chatgpt", "assistant"},
    {"chatgpt said", "assistant"},
    {"gpt", "assistant"},
    {"claude", "assistant"},
    {"gemini", "assistant"},
    {"copilot", "assistant"},
    {"deepseek", "assistant"},
    {"ai", "assistant"},
    {"bot", "assistant"},
    {"model", "assistant", false},
    {"response", "assistant", false},
    {"answer", "assistant"},
    {"system", "system", false},
    {"system prompt", "system", false},
};

// "👤 **User** (10:31):" is "user".
std::string plain_name(std::string_view label) {
  std::string name;
  for (const char c : label.substr(0, label.find('(')))
    if (std::isalnum(static_cast<unsigned char>(c)) || c == ' ' || c == '-') name += lower_case(c);
  return std::string(trimmed(name, " "));
}

const Speaker* speaker_of(std::string_view label) {
  constexpr size_t kLongestLabel = 60;
  if (label.size() > kLongestLabel) return nullptr;
  std::string name = plain_name(label);
  for (const std::string_view version : {"gpt-", "chatgpt "})  // "GPT-4o", "ChatGPT 5"
    if (name.starts_with(version) && name.find_first_of("0123456789") == version.size()) name = "gpt";
  const auto found = std::ranges::find(kSpeakers, name, &Speaker::name);
  return found == std::end(kSpeakers) ? nullptr : found;
}

std::optional<Label> label_of(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (text.starts_with('#')) {
    const size_t level = text.find_first_not_of('#');
    if (level == std::string_view::npos || level > 6 || text[level] != ' ') return std::nullopt;
    const Speaker* speaker = speaker_of(text.substr(level));
    return speaker ? std::optional(Label{LabelStyle::kHeading, speaker->role, ""}) : std::nullopt;
  }
  if (text.starts_with("**")) {
    const size_t end = text.find("**", 2);
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view rest = text.substr(end + 2);
    const bool colon_inside = text[end - 1] == ':', colon_behind = rest.starts_with(':');
    if (!colon_inside && !colon_behind && !rest.empty()) return std::nullopt;
    const Speaker* speaker = speaker_of(text.substr(2, end - 2));
    if (speaker == nullptr) return std::nullopt;
    return Label{LabelStyle::kBold, speaker->role, trimmed(rest.substr(colon_behind ? 1 : 0))};
  }
  const size_t colon = text.find(':');
  const Speaker* speaker = colon == std::string_view::npos ? nullptr : speaker_of(text.substr(0, colon));
  if (speaker == nullptr || !speaker->stands_alone || line.starts_with(' ')) return std::nullopt;
  return Label{LabelStyle::kPlain, speaker->role, trimmed(text.substr(colon + 1))};
}

struct Line {
  std::string_view text;
  std::optional<Label> label;  // never within code
};

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  std::string_view fence;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end), begin = trimmed(line);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t run = begin.starts_with("```") || begin.starts_with("~~~")
                           ? std::min(begin.find_first_not_of(begin[0]), begin.size())
                           : 0;
    lines.push_back({line, fence.empty() && run == 0 ? label_of(line) : std::nullopt});
    if (run > 0 && fence.empty())
      fence = begin.substr(0, run);
    else if (run == begin.size() && begin.starts_with(fence))
      fence = {};
  }
  return lines;
}

// The first that names both sides.
std::optional<LabelStyle> style_of(const std::vector<Line>& lines) {
  for (const LabelStyle style : {LabelStyle::kHeading, LabelStyle::kBold, LabelStyle::kPlain}) {
    const auto names = [&](std::string_view role) {
      return std::ranges::any_of(lines, [&](const Line& line) {
        return line.label && line.label->style == style && line.label->role == role;
      });
    };
    if (names("user") && names("assistant")) return style;
  }
  return std::nullopt;
}

// Without the rule that parts it from the next one.
std::string_view message_text(std::string_view text) {
  text = trimmed(text);
  const std::string_view last = text.substr(text.rfind('\n') + 1);  // npos + 1 is 0
  const bool is_rule = last == "---" || last == "***" || last == "___" || last == "* * *";
  return is_rule ? trimmed(text.substr(0, text.size() - last.size())) : text;
}

std::string title_in(const std::vector<Line>& lines) {
  for (const Line& line : lines) {
    if (line.text.starts_with("# ") && !line.label) return std::string(trimmed(line.text.substr(2)));
    if (!trimmed(line.text).empty()) return "";
  }
  return "";
}

void add_message(std::string_view role, std::string_view text, ConversationTree& tree) {
  text = message_text(text);
  if (text.empty()) return;
  if (role == "system") return append_paragraph(tree.system_prompt, text);
  const TurnId id = static_cast<TurnId>(tree.turns.size() + 1);
  tree.turns.push_back(
      {id, id - 1, {.role = std::string(role), .content = std::string(text)}, TurnState::kComplete, tree.created});
  tree.shown = id;
}

}  // namespace

ConversationTree read_any_markdown(std::string_view text) {
  const std::vector<Line> lines = lines_of(text);
  ConversationTree tree{.title = title_in(lines), .created = store_time_now(), .updated = store_time_now()};
  const std::optional<LabelStyle> style = style_of(lines);
  if (!style) {
    add_message("user", text, tree);
    return tree;
  }
  std::string_view role;
  const char *begin = nullptr, *end = text.data() + text.size();
  const auto finish = [&](const char* at) {
    if (begin != nullptr) add_message(role, {begin, static_cast<size_t>(at - begin)}, tree);
  };
  for (const Line& line : lines) {
    if (!line.label || line.label->style != *style) continue;
    finish(line.text.data());
    role = line.label->role;
    const char* after = line.text.data() + line.text.size();
    begin = line.label->rest.empty() ? after + (after < end ? 1 : 0) : line.label->rest.data();
  }
  finish(end);
  return tree;
}

}  // namespace warpchat
