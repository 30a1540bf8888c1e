// A mapping is {ID: {"message": null or {"author": {"role"}, "create_time", "content": {"content_type", "parts"},
// "recipient", "metadata"}, "parent": ID or null, "children": [ID, ...]}, ...}; "current_node" ends the shown branch.
#include "app/conversation_foreign.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <unordered_map>
#include <utility>

#include "app/conversation_json.h"
#include "app/signals.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::ordered_json;

// ---- ChatGPT's export

constexpr double kLastTime = 253'402'300'799;  // s since 1970: the end of the year 9999

const ordered_json& member(const ordered_json& object, const char* key) {
  static const ordered_json kNone;
  if (!object.is_object()) return kNone;
  const auto found = object.find(key);
  return found == object.end() ? kNone : *found;
}

std::string text_of(const ordered_json& value) { return value.is_string() ? value.get<std::string>() : ""; }

StoreTime time_of(const ordered_json& seconds, StoreTime otherwise) {
  if (!seconds.is_number()) return otherwise;
  const double time = seconds.get<double>();
  return time > 0 && time < kLastTime ? static_cast<StoreTime>(time * 1000) : otherwise;
}

void append(std::string& text, const std::string& more) {
  if (!more.empty()) text += (text.empty() ? "" : "\n\n") + more;
}

// Parts that are not text stand for images and sound; speech has a transcription.
std::string said_in(const ordered_json& content) {
  std::string text;
  for (const ordered_json& part : member(content, "parts"))
    append(text, text_of(part.is_string() ? part : member(part, "text")));
  return text;
}

std::string thought_in(const ordered_json& content) {
  std::string text;
  for (const ordered_json& thought : member(content, "thoughts")) append(text, text_of(member(thought, "content")));
  return text;
}

bool is_shown(const ordered_json& message) {
  const ordered_json &recipient = member(message, "recipient"),
                     &hidden = member(member(message, "metadata"), "is_visually_hidden_from_conversation");
  return (!recipient.is_string() || recipient == "all") && hidden != true;
}

Message message_of(const ordered_json& json) {
  const ordered_json& content = member(json, "content");
  const std::string type = text_of(member(content, "content_type"));
  Message message{.role = text_of(member(member(json, "author"), "role"))};
  if (type == "thoughts") message.reasoning = thought_in(content);
  if ((type == "text" || type == "multimodal_text") && is_shown(json)) message.content = said_in(content);
  if (message.role == "assistant") message.model = text_of(member(member(json, "metadata"), "model_slug"));
  return message;
}

class MappingReader {
 public:
  explicit MappingReader(const ordered_json& conversation) {
    tree_.created = time_of(member(conversation, "create_time"), store_time_now());
    tree_.updated = time_of(member(conversation, "update_time"), tree_.created);
    tree_.title = text_of(member(conversation, "title"));
    for (const auto& [id, node] : member(conversation, "mapping").items()) nodes_.emplace(id, &node);
    for (const auto& [id, node] : member(conversation, "mapping").items())
      if (!nodes_.contains(text_of(member(node, "parent")))) walk(id);
    const auto shown = turn_of_.find(text_of(member(conversation, "current_node")));
    tree_.shown = shown != turn_of_.end() ? shown->second : static_cast<TurnId>(tree_.turns.size());
  }
  ConversationTree release() { return std::move(tree_); }

 private:
  struct Step {
    std::string id;
    TurnId parent = 0;      // that it is below; 0: none
    bool alone = true;      // nothing else is
    std::string thought{};  // on the way here from the parent
  };

  // Without recursion, since a conversation is as deep as it is long. Visits each node once, even in a cyclic mapping.
  void walk(const std::string& root) {
    std::vector<Step> steps{{root}};
    while (!steps.empty()) {
      Step step = std::move(steps.back());
      steps.pop_back();
      const auto node = nodes_.find(step.id);
      if (node == nodes_.end() || turn_of_.contains(step.id)) continue;
      take_message(member(*node->second, "message"), step);
      turn_of_[step.id] = step.parent;
      const ordered_json& children = member(*node->second, "children");
      if (!children.is_array()) continue;
      step.alone = step.alone && children.size() == 1;
      for (auto child = children.rbegin(); child != children.rend(); ++child)
        steps.push_back({text_of(*child), step.parent, step.alone, step.thought});
    }
  }

  // An answer with tool calls comes as several messages, which are joined here.
  void take_message(const ordered_json& json, Step& step) {
    Message message = message_of(json);
    append(step.thought, message.reasoning);
    if (message.content.empty()) return;
    if (message.role == "system" && tree_.turns.empty()) tree_.system_prompt = message.content;
    if (message.role != "user" && message.role != "assistant") return;
    message.reasoning = message.role == "assistant" ? std::exchange(step.thought, "") : "";
    Message* before = step.parent == 0 ? nullptr : &tree_.turns[static_cast<size_t>(step.parent) - 1].message;
    if (before != nullptr && before->role == message.role && step.alone) {
      append(before->content, message.content);
      append(before->reasoning, message.reasoning);
      return;
    }
    const TurnId id = static_cast<TurnId>(tree_.turns.size() + 1);
    const StoreTime created = time_of(member(json, "create_time"), tree_.created);
    tree_.turns.push_back({id, step.parent, std::move(message), TurnState::kComplete, created});
    step.parent = id;
    step.alone = true;
  }

  ConversationTree tree_;
  std::unordered_map<std::string, const ordered_json*> nodes_;
  std::unordered_map<std::string, TurnId> turn_of_;  // by node: its own, or the one that it is below
};

// ---- Markdown

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
  if (role == "system") return append(tree.system_prompt, std::string(text));
  const TurnId id = static_cast<TurnId>(tree.turns.size() + 1);
  tree.turns.push_back(
      {id, id - 1, {.role = std::string(role), .content = std::string(text)}, TurnState::kComplete, tree.created});
  tree.shown = id;
}

}  // namespace

bool is_chatgpt_export(const ordered_json& root) {
  return !member(root.is_array() && !root.empty() ? root[0] : root, "mapping").is_null();
}

std::vector<ConversationTree> read_chatgpt_export(const ordered_json& root, const std::string& name) {
  std::vector<ConversationTree> trees;
  const auto read = [&](const ordered_json& conversation, const std::string& where) {
    if (!member(conversation, "mapping").is_object()) throw TransferError(name, where, "has no object as 'mapping'");
    ConversationTree tree = MappingReader(conversation).release();
    if (!tree.turns.empty()) trees.push_back(std::move(tree));
  };
  if (!root.is_array()) read(root, "the conversation");
  for (size_t i = 0; root.is_array() && i < root.size(); ++i) {
    if (has_interrupt()) throw Error("stopped; nothing was imported");
    read(root[i], "conversation " + grouped(i + 1));
  }
  return trees;
}

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
