// # TITLE                                                       with punctuation escaped as Markdown has it
//
// <!-- warpchat conversation {"version":2,"model":...,"created":...,"updated":...} -->
//
// <!-- warpchat user {"created":...} -->                        also: system, assistant, tool; a line of its own
// ## You                                                        System, or the model's name; for people only
//
// TEXT                                                          unchanged, and one line end
//
// <!-- warpchat assistant {"created":...,"state":"stopped","model":...,"timings":...,"folded":1} -->
// ## MODEL
//
// <!-- warpchat thought {} -->                                  as many folded texts; also: file {"name":...}
// <details><summary>Thought</summary>                           or the file's name; for people only
//
// REASONING
//
// <!-- warpchat end {} -->
// </details>
//
// ...
// The facts of a message are the keys of its JSON form (engine/message.h) that are no text. In version 1 nothing is
// folded, and a thought stands in its answer's text.
// Only lines that begin with "<!-- warpchat " are marks. A line of a text that does, after any number of backslashes,
// is written with one backslash more, so every text comes back to the byte. A text that would swallow what follows it
// (a code block or comment that it leaves open) stands in a fence longer than any inside; its mark says "fenced":true.
#include "app/formats/conversation_markdown.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "app/formats/conversation_json.h"
#include "app/formats/html_text.h"
#include "app/formats/shown_call.h"
#include "app/formats/transfer.h"
#include "app/model_choice/model_lookup.h"
#include "app/platform/text_input.h"
#include "models/ascii.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view kMark = "<!-- warpchat ", kMarkEnd = " -->";
constexpr std::string_view kPunctuation = "\\`*_[]<#|~&$";  // what a heading could take for more than letters
constexpr const char* kChanged = "; this is a Warpchat export that was changed or cut off";

// ---- lines

// Calls line(text without its line end) for each; a text that ends with a line end has an empty line behind it.
template <class Line>
void for_each_line(std::string_view text, const Line& line) {
  for (;;) {
    const size_t end = std::min(text.find('\n'), text.size());
    line(text.substr(0, end));
    if (end == text.size()) return;
    text.remove_prefix(end + 1);
  }
}

bool is_mark_behind_backslashes(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of('\\'), line.size()));
  return line.starts_with(kMark);
}

std::string with_escaped_marks(std::string_view text) {
  std::string out;
  for_each_line(text, [&](std::string_view line) {
    if (!out.empty() || line.data() != text.data()) out += '\n';
    if (is_mark_behind_backslashes(line)) out += '\\';
    out += line;
  });
  return out;
}

std::string without_escaped_marks(std::string_view text) {
  std::string out;
  for_each_line(text, [&](std::string_view line) {
    if (!out.empty() || line.data() != text.data()) out += '\n';
    out += line.starts_with('\\') && is_mark_behind_backslashes(line) ? line.substr(1) : line;
  });
  return out;
}

// ---- titles

std::string escape_title(std::string_view title) {
  std::string out;
  for (size_t i = 0; i < title.size(); ++i) {
    const char c = title[i];
    const bool at_edge = i == 0 || i + 1 == title.size();
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || (c == ' ' && at_edge))
      out += "&#" + std::to_string(static_cast<int>(c)) + ";";
    else
      out += (kPunctuation.find(c) == std::string_view::npos ? "" : "\\") + std::string(1, c);
  }
  return out;
}

std::string unescape_title(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    if (text[i] == '\\' && i + 1 < text.size()) {
      out += text[++i];
    } else if (text.substr(i).starts_with("&#")) {
      const char* end = std::from_chars(text.data() + i + 2, text.data() + text.size(), code).ptr;
      const bool complete = end != text.data() + text.size() && *end == ';' && code < 0x80;
      if (complete) i = static_cast<size_t>(end - text.data());
      out += complete ? static_cast<char>(code) : '&';
    } else {
      out += text[i];
    }
  }
  return out;
}

// ---- texts that leave something open

size_t run_of(std::string_view line, char c) { return std::min(line.find_first_not_of(c), line.size()); }

// A comment and the like ends where it says so, not with the next blank line.
bool opens_html(std::string_view line) {
  constexpr std::string_view kStarts[] = {"<!", "<?", "<script", "<pre", "<style", "<textarea"};
  const std::string lower = lower_case(line.substr(0, 16));
  return std::any_of(std::begin(kStarts), std::end(kStarts), [&](std::string_view s) { return lower.starts_with(s); });
}

struct Openness {
  bool open = false;
  size_t longest = 0;  // run of backticks at a line's start
};

// What is indented deeper belongs to a list and ends with it.
Openness openness(std::string_view text) {
  Openness found;
  char fence = 0;
  size_t length = 0;
  for_each_line(text, [&](std::string_view line) {
    line.remove_prefix(std::min(run_of(line, ' '), size_t{3}));
    const char c = line.empty() ? ' ' : line[0];
    const size_t run = c == '`' || c == '~' ? run_of(line, c) : 0;
    if (c == '`') found.longest = std::max(found.longest, run);
    if (fence != 0) {
      const bool closes = c == fence && run >= length && line.find_first_not_of(" \t\r", run) == std::string_view::npos;
      if (closes) fence = 0;
    } else if (run >= 3 && (c == '~' || line.find('`', run) == std::string_view::npos)) {
      fence = c;
      length = run;
    } else if (opens_html(line)) {
      found.open = true;
    }
  });
  found.open |= fence != 0;
  return found;
}

// ---- writing

// Inside a comment, which ">" could end.
std::string in_comment(const ordered_json& facts) {
  std::string out;
  for (const char c : dump(facts)) out += c == '>' ? "\\u003e" : std::string(1, c);
  return out;
}

std::string mark(std::string_view kind, const ordered_json& facts) {
  return std::string(kMark) + std::string(kind) + " " + in_comment(facts) + std::string(kMarkEnd) + "\n";
}

// Notes in the facts if it stands in a fence: because it would swallow what follows, or as is wanted.
std::string framed(const std::string& text, ordered_json& facts, bool wanted = false) {
  const Openness left = openness(text);
  if (!left.open && !wanted) return with_escaped_marks(text);
  facts["fenced"] = true;
  const std::string fence(std::max(left.longest + 1, size_t{3}), '`');
  return fence + "text\n" + with_escaped_marks(text) + "\n" + fence;
}

std::string folded(const std::string& kind, const std::string& summary, const std::string& text, ordered_json facts,
                   bool fenced) {
  const std::string body = framed(text, facts, fenced);
  return "\n" + mark(kind, facts) + "<details><summary>" + in_html(summary) + "</summary>\n\n" + body + "\n\n" +
         mark("end", ordered_json::object()) + "</details>\n";
}

// The facts of a message apart from its texts.
ordered_json facts_of(const Turn& turn) {
  Message message = turn.message;
  message.content.clear();
  message.reasoning.clear();
  message.files.clear();
  ordered_json facts = turn_facts(turn);
  facts.update(to_json(message));
  facts.erase("role");
  facts.erase("content");
  return facts;
}

std::string heading_of(const Message& message, const std::string& model) {
  if (message.role != "assistant") return message.role == "user" ? "You" : "Tool";
  const std::string name = shown_name(message.model.empty() ? model : message.model);
  return name.empty() ? "Assistant" : escape_title(name);
}

std::string section(const std::string& kind, const std::string& heading, const std::string& folded_texts,
                    const std::string& text, ordered_json facts) {
  const std::string body = framed(text, facts);
  return "\n" + mark(kind, facts) + "## " + heading + "\n" + folded_texts + "\n" + body + "\n";
}

// What an answer said and called before its last text; the facts have it, too.
std::string calls_of(const Message& message) {
  return answer_markdown({.rounds = message.rounds, .tool_calls = message.tool_calls});
}

std::string section_of(const Turn& turn, const std::string& model) {
  const Message& message = turn.message;
  ordered_json facts = facts_of(turn);
  std::string texts;
  for (const AttachedFile& file : message.files)
    texts += folded("file", file.name, file.text, {{"name", file.name}}, /*fenced=*/true);
  if (!message.reasoning.empty())
    texts += folded("thought", "Thought", message.reasoning, ordered_json::object(), /*fenced=*/false);
  const std::string calls = calls_of(message);
  if (!calls.empty()) texts += folded("calls", "Calls of tools", calls, ordered_json::object(), /*fenced=*/false);
  if (!texts.empty())
    facts["folded"] = message.files.size() + (message.reasoning.empty() ? 0 : 1) + (calls.empty() ? 0 : 1);
  return section(message.role, heading_of(message, model), texts, message.content, std::move(facts));
}

// ---- reading

// Reads the file line by line; the rest begins at the line that next() returns.
class Lines {
 public:
  Lines(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw TransferError(name_, "line " + grouped(number_) + ":", what);
  }
  bool at_end() const { return rest_.empty(); }
  std::string where() const { return "line " + grouped(number_); }

  std::string_view next() {
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++number_;
    return line;
  }

  void skip_empty() {
    if (!next().empty()) fail("expected an empty line; the file was changed or cut off");
  }

  // Up to the empty line before the next mark, or the end; without the line end that closes it.
  std::string_view text() {
    const std::string between = "\n\n" + std::string(kMark);
    const size_t end = rest_.find(between);
    const bool last = end == std::string_view::npos;
    if (last && !rest_.ends_with('\n')) fail("the text below it has no line end; the file was cut off");
    const std::string_view text = rest_.substr(0, last ? rest_.size() - 1 : end);
    const size_t taken = last ? rest_.size() : end + 1;
    number_ += static_cast<size_t>(std::count(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(taken), '\n'));
    rest_.remove_prefix(taken);
    return text;
  }

 private:
  std::string_view rest_;
  const std::string& name_;
  size_t number_ = 0;  // of the line that next() gave last
};

struct Mark {
  std::string kind;
  nlohmann::json facts;
};

Mark read_mark(Lines& lines) {
  std::string_view line = lines.next();
  if (!line.starts_with(kMark) || !line.ends_with(kMarkEnd))
    lines.fail(std::string("expected a line like '<!-- warpchat user {...} -->'") + kChanged);
  line.remove_prefix(kMark.size());
  line.remove_suffix(std::min(kMarkEnd.size(), line.size()));
  const size_t blank = std::min(line.find(' '), line.size());
  Mark mark{std::string(line.substr(0, blank)), nullptr};
  try {
    mark.facts = parse_file_json(line.substr(blank));
  } catch (const JsonError&) {
    lines.fail("the mark has invalid JSON");
  }
  if (!mark.facts.is_object()) lines.fail("the mark has no JSON object");
  return mark;
}

std::string read_text(Lines& lines, bool fenced) {
  std::string_view text = lines.text();
  if (fenced) {
    const std::string fence(run_of(text, '`'), '`');
    const std::string first = fence + "text\n", last = "\n" + fence;
    const bool whole = text.starts_with(first) && text.ends_with(last) && text.size() >= first.size() + last.size();
    if (!whole) lines.fail("the text above is not between two fences of the same length");
    text.remove_prefix(first.size());
    text.remove_suffix(last.size());
  }
  return without_escaped_marks(text);
}

bool is_fenced(const Mark& mark) { return mark.facts.value("fenced", nlohmann::json(false)) == true; }

void read_folded(Lines& lines, Message& message) {
  lines.skip_empty();
  const Mark mark = read_mark(lines);
  if (mark.kind != "thought" && mark.kind != "file" && mark.kind != "calls")
    lines.fail("expected the mark of a thought, a file or calls");
  if (!lines.next().starts_with("<details><summary>")) lines.fail("expected '<details><summary>'");
  lines.skip_empty();
  std::string text = read_text(lines, is_fenced(mark));
  lines.skip_empty();
  if (read_mark(lines).kind != "end" || lines.next() != "</details>") lines.fail("expected '</details>'");
  const nlohmann::json file = mark.facts.value("name", nlohmann::json(""));
  if (mark.kind == "thought") message.reasoning = std::move(text);
  if (mark.kind == "file") message.files.push_back({file.is_string() ? file.get<std::string>() : "", std::move(text)});
}

// The message facts of a mark.
Message message_of(const Mark& mark, const Lines& lines) {
  try {
    Message message = message_from_json(mark.facts);
    message.role = mark.kind;
    message.files.clear();
    return message;
  } catch (const Error& error) {
    lines.fail(error.what());
  }
}

void read_section(Lines& lines, const std::string& name, int64_t version, ConversationTree& tree) {
  const Mark mark = read_mark(lines);
  const bool is_system = mark.kind == "system";
  if (!is_system && mark.kind != "user" && mark.kind != "assistant" && mark.kind != "tool")
    lines.fail("unknown role '" + printable(mark.kind, 40) + "'; expected user, assistant or system");
  if (is_system && !tree.turns.empty()) lines.fail("a system message can only be the first one");
  const TurnId id = static_cast<TurnId>(tree.turns.size() + 1);
  Turn turn{.id = id, .parent = id - 1, .message = message_of(mark, lines), .state = TurnState::kComplete};
  if (!is_system) read_turn_facts(mark.facts, name, lines.where(), turn);
  if (!lines.next().starts_with("## ")) lines.fail("expected a heading that begins with '## '");
  const nlohmann::json n_folded = mark.facts.value("folded", nlohmann::json(0));
  if (!n_folded.is_number_unsigned() && n_folded != 0) lines.fail("the mark has no whole number as 'folded'");
  for (uint64_t i = 0; i < n_folded.get<uint64_t>(); ++i) read_folded(lines, turn.message);
  lines.skip_empty();
  turn.message.content = read_text(lines, is_fenced(mark));
  part_as_of(version, turn.message);
  if (is_system) {
    tree.system_prompt = std::move(turn.message.content);
  } else {
    tree.turns.push_back(std::move(turn));
    tree.shown = id;
  }
}

// An editor that ends lines with \r\n has changed all of them, and a title cannot contain \r.
std::string without_carriage_returns(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') out += text[i];
  return out;
}

}  // namespace

std::string to_markdown(const ConversationTree& tree) {
  std::string out = "# " + escape_title(tree.title) + "\n\n" + mark("conversation", conversation_facts(tree));
  if (!tree.system_prompt.empty()) out += section("system", "System", "", tree.system_prompt, ordered_json::object());
  for (const Turn& turn : shown_branch(tree)) out += section_of(turn, tree.model);
  return replace_invalid_utf8(out);
}

bool is_own_markdown(std::string_view text) { return text.find("\n" + std::string(kMark)) != std::string_view::npos; }

ConversationTree read_markdown_conversation(std::string_view text, const std::string& name) {
  const std::string_view first = text.substr(0, text.find('\n'));
  if (first.ends_with('\r')) return read_markdown_conversation(without_carriage_returns(text), name);
  Lines lines(text, name);
  const std::string_view heading = lines.next();
  if (!heading.starts_with("# ")) lines.fail(std::string("expected '# ' and a title") + kChanged);
  ConversationTree tree{.title = unescape_title(heading.substr(2))};
  lines.skip_empty();
  const Mark conversation = read_mark(lines);
  if (conversation.kind != "conversation") lines.fail("expected the mark 'conversation'");
  const int64_t version = read_conversation_facts(conversation.facts, name, lines.where(), tree);
  while (!lines.at_end()) {
    lines.skip_empty();
    read_section(lines, name, version, tree);
  }
  return tree;
}

}  // namespace warpchat
