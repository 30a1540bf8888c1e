#include "app/formats/html_text.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "models/ascii.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

constexpr size_t kMaxEntity = 12;    // bytes, with & and ;
constexpr size_t kMaxListDepth = 3;  // that indents, so that text grows by no more than its tags
constexpr size_t kMaxMarks = 16;     // of emphasis that are open at once

void append_character(std::string& out, uint32_t code_point) {
  const bool surrogate = code_point >= 0xD800 && code_point < 0xE000;
  append_utf8(code_point == 0 || code_point > 0x10FFFF || surrogate ? U'\uFFFD' : code_point, out);
}

struct Tag {
  std::string name;  // in lower case; empty: a comment or declaration
  bool is_end = false;
  std::string_view inside;  // what follows the name
};

// The tag at the text's first byte, a '<', and its length. None: the text is no tag. Looks no further than to the next
// '<', so that reading stays linear.
std::optional<std::pair<Tag, size_t>> tag_at(std::string_view html) {
  const bool is_end = html.substr(1).starts_with('/');
  const size_t name = is_end ? 2 : 1, end = html.find_first_of("<>", 1);
  if (end == std::string_view::npos || html[end] == '<') return std::nullopt;
  if (html[name] == '!' || html[name] == '?') return std::pair{Tag{}, end + 1};
  if (lower_case(html[name]) < 'a' || lower_case(html[name]) > 'z') return std::nullopt;
  size_t name_end = name;
  while (is_word_character(html[name_end])) ++name_end;
  const std::string_view inside = html.substr(name_end, end - name_end);
  return std::pair{Tag{lower_case(html.substr(name, name_end - name)), is_end, inside}, end + 1};
}

// The value of ` name="..."`, or "".
std::string attribute(std::string_view inside, std::string_view name) {
  for (size_t at = inside.find(name); at != std::string_view::npos; at = inside.find(name, at + 1)) {
    std::string_view rest = inside.substr(at + name.size());
    const bool begins = at > 0 && is_blank(inside[at - 1]);
    if (!begins || rest.size() < 2 || rest[0] != '=' || (rest[1] != '"' && rest[1] != '\'')) continue;
    const size_t end = rest.find(rest[1], 2);
    return end == std::string_view::npos ? "" : without_entities(rest.substr(2, end - 2));
  }
  return "";
}

// Longer than any run of backticks in the text, and at least n.
std::string backticks_around(std::string_view text, size_t n) {
  size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    n = std::max(n, run + 1);
  }
  return std::string(n, '`');
}

class HtmlReader {
 public:
  HtmlText read(std::string_view html) {
    while (!html.empty()) {
      const size_t before = std::min(html.find('<'), html.size());
      text(html.substr(0, before));
      html.remove_prefix(before);
      if (html.empty()) break;
      const auto tag = tag_at(html);
      if (!tag) text(html.substr(0, 1));
      html.remove_prefix(tag ? tag->second : 1);
      if (!tag || tag->first.name.empty()) continue;
      if (is_hidden(tag->first)) html.remove_prefix(std::min(html.find("</" + tag->first.name), html.size()));
      element(tag->first);
    }
    end_code();
    return std::move(result_);
  }

 private:
  struct List {
    bool is_ordered = false;
    size_t n_items = 0;
  };
  struct Mark {
    std::string_view mark;
    size_t begin;  // of what it marks
  };
  std::string& out() { return result_.markdown; }

  static bool is_hidden(const Tag& tag) { return !tag.is_end && (tag.name == "script" || tag.name == "style"); }

  void text(std::string_view html) {
    const std::string plain = without_entities(html);
    if (code_) {
      *code_ += plain;
      return;
    }
    for (std::string_view rest = plain; !rest.empty();) {
      const auto* word = std::ranges::find_if_not(rest, is_blank);
      if (word != rest.begin()) has_space_ = true;
      rest.remove_prefix(static_cast<size_t>(word - rest.begin()));
      const auto* end = std::ranges::find_if(rest, is_blank);
      put(rest.substr(0, static_cast<size_t>(end - rest.begin())));
      rest.remove_prefix(static_cast<size_t>(end - rest.begin()));
    }
  }

  // Appends visible text, after the space or the line ends that stand before it.
  void put(std::string_view visible) {
    if (visible.empty()) return;
    if (n_breaks_ > 0 && !out().empty()) {
      if (n_breaks_ > 1) out() += std::min(quotes_, break_quotes_) > 0 ? "\n>" : "\n";
      out() += "\n" + std::string(quotes_ > 0 ? "> " : "") + std::string(indentation(), ' ');
    } else if (out().empty() && quotes_ > 0) {
      out() += "> ";
    } else if (has_space_ && !begins_ && !out().empty()) {
      out() += ' ';
    }
    n_breaks_ = 0;
    has_space_ = begins_ = begins_item_ = false;
    out() += visible;
  }

  // What is inside a list item, below its mark; the mark itself is one level further out.
  size_t indentation() const {
    const size_t depth = std::min(lists_.size(), kMaxListDepth);
    return 3 * (is_mark_ && depth > 0 ? depth - 1 : depth);
  }

  void break_lines(size_t n) {
    has_space_ = true;
    if (is_in_cell_ || begins_item_) return;
    break_quotes_ = n_breaks_ == 0 ? quotes_ : std::min(break_quotes_, quotes_);
    n_breaks_ = std::max(n_breaks_, n);
  }

  // Appends a mark to which the next text is joined.
  void put_joined(std::string_view mark) {
    put(mark);
    begins_ = true;
  }

  void emphasis(std::string_view mark, bool is_end) {
    if (!is_end && marks_.size() < kMaxMarks) {
      put_joined(mark);
      marks_.push_back({mark, out().size()});
    }
    if (!is_end) return;
    const auto own = std::ranges::find(marks_.rbegin(), marks_.rend(), mark, &Mark::mark);
    if (own == marks_.rend()) return;
    const bool is_empty = own->begin == out().size();
    marks_.erase(std::next(own).base(), marks_.end());
    is_empty ? out().resize(out().size() - mark.size()) : void(out() += mark);
    begins_ = false;
  }

  void link(const Tag& tag) {
    if (!tag.is_end) {
      address_ = attribute(tag.inside, "href");
      if (!address_.empty()) put_joined("[");
    } else if (!address_.empty()) {
      out() += "](" + std::exchange(address_, "") + ")";
      begins_ = false;
    }
  }

  void begin_code(const Tag& tag, bool is_block) {
    if (code_) {  // <pre><code class="language-cpp">
      if (language_.empty()) language_ = language_of(tag);
      return;
    }
    code_.emplace();
    is_block_ = is_block;
    language_ = language_of(tag);
  }

  static std::string language_of(const Tag& tag) {
    constexpr std::string_view kPrefix = "language-";
    const std::string classes = attribute(tag.inside, "class");
    const size_t at = classes.find(kPrefix);
    if (at == std::string::npos) return "";
    const std::string name = classes.substr(at + kPrefix.size());
    return name.substr(0, name.find_first_of(" \t\n`"));
  }

  void end_code() {
    if (!code_) return;
    const std::string code = *std::exchange(code_, std::nullopt);
    if (trimmed(code).empty()) return;
    if (!is_block_) {
      const std::string fence = backticks_around(code, 1), blank = fence.size() > 1 ? " " : "";
      return put(fence + blank + code + blank + fence);
    }
    const std::string fence = backticks_around(code, 3);
    break_lines(2);
    put(fence + language_ + "\n" + code + (code.ends_with('\n') ? "" : "\n") + fence);
    break_lines(2);
  }

  void item() {
    if (lists_.empty()) lists_.push_back({});
    List& list = lists_.back();
    begins_item_ = false;
    break_lines(1);
    if (++list.n_items > 1) n_breaks_ = 1;
    is_mark_ = true;
    put_joined(list.is_ordered ? std::to_string(list.n_items) + ". " : "- ");
    is_mark_ = false;
    begins_item_ = true;
  }

  void row(bool is_end) {
    begins_item_ = false;
    if (!is_end) {
      break_lines(1);
      n_cells_ = 0;
      return put("|");
    }
    if (n_cells_ == 0) return;
    if (is_first_row_) {
      break_lines(1);
      put("|");
      for (size_t i = 0; i < n_cells_; ++i) out() += " --- |";
    }
    is_first_row_ = false;
    break_lines(1);
  }

  void cell(bool is_end) {
    is_in_cell_ = !is_end;
    has_space_ = true;
    if (!is_end) return;
    begins_ = false;
    put("|");
    ++n_cells_;
  }

  void element(const Tag& tag) {
    const std::string& name = tag.name;
    const bool is_end = tag.is_end;
    if (name == "pre") return is_end ? end_code() : begin_code(tag, true);
    if (name == "code" && !is_end) return begin_code(tag, false);
    if (name == "code" && !is_block_) return end_code();
    if (code_ && name == "br") *code_ += "\n";
    if (code_) return;
    if (name == "strong" || name == "b") return emphasis("**", is_end);
    if (name == "em" || name == "i") return emphasis("*", is_end);
    if (name == "a") return link(tag);
    if (name == "img") return void(result_.n_pictures += !is_end);
    if (name == "br") return break_lines(1);
    if (name == "li") return is_end ? void(begins_item_ = false) : item();
    if (name == "tr") return row(is_end);
    if (name == "td" || name == "th") return cell(is_end);
    block(tag);
  }

  // Elements that stand on lines of their own.
  void block(const Tag& tag) {
    const std::string& name = tag.name;
    const bool is_list = name == "ul" || name == "ol", is_heading = name.size() == 2 && name[0] == 'h';
    if (is_list) {
      begins_item_ = false;
      break_lines(lists_.size() > (tag.is_end ? 1 : 0) ? 1 : 2);
      if (!tag.is_end) lists_.push_back({name == "ol"});
      if (tag.is_end && !lists_.empty()) lists_.pop_back();
    } else if (name == "p" || name == "table" || name == "blockquote" || name == "section") {
      break_lines(2);
      if (name == "table") is_first_row_ = !tag.is_end;
      if (name == "blockquote") quotes_ = tag.is_end ? quotes_ - (quotes_ > 0) : quotes_ + 1;
    } else if (name == "div") {
      break_lines(1);
    } else if (name == "hr") {
      break_lines(2);
      put("---");
      break_lines(2);
    } else if (is_heading && name[1] >= '1' && name[1] <= '6') {
      break_lines(2);
      if (!tag.is_end) put_joined(std::string(static_cast<size_t>(name[1] - '0'), '#') + " ");
    }
  }

  HtmlText result_;
  size_t n_breaks_ = 0;       // line ends before the next text
  bool has_space_ = false;    // a blank before the next text
  bool begins_ = false;       // after a mark, to which the next text is joined
  bool begins_item_ = false;  // in a list item without text, where paragraphs break no line
  bool is_mark_ = false;      // the next text is an item's mark
  size_t quotes_ = 0;         // that are open
  size_t break_quotes_ = 0;   // the fewest that were open at these line ends
  std::vector<List> lists_;   // that are open
  std::vector<Mark> marks_;   // of emphasis that is open
  std::string address_;       // of the link that is open
  std::optional<std::string> code_;
  bool is_block_ = false;  // the code is one
  std::string language_;   // of the code
  bool is_in_cell_ = false, is_first_row_ = false;
  size_t n_cells_ = 0;  // of the row
};

}  // namespace

std::string entity_text(std::string_view entity) {
  static const std::map<std::string_view, uint32_t> kNames = {
      {"amp", '&'},      {"lt", '<'},       {"gt", '>'},        {"quot", '"'},     {"apos", '\''},    {"nbsp", 0xA0},
      {"copy", 0xA9},    {"reg", 0xAE},     {"deg", 0xB0},      {"plusmn", 0xB1},  {"middot", 0xB7},  {"times", 0xD7},
      {"divide", 0xF7},  {"ndash", 0x2013}, {"mdash", 0x2014},  {"lsquo", 0x2018}, {"rsquo", 0x2019}, {"ldquo", 0x201C},
      {"rdquo", 0x201D}, {"bull", 0x2022},  {"hellip", 0x2026}, {"euro", 0x20AC},  {"trade", 0x2122}, {"larr", 0x2190},
      {"uarr", 0x2191},  {"rarr", 0x2192},  {"darr", 0x2193},   {"le", 0x2264},    {"ge", 0x2265},    {"ne", 0x2260}};
  std::string out;
  std::string_view name = entity.substr(1, entity.size() - 2);
  if (name.starts_with('#')) {
    const bool is_hex = name.size() > 1 && (name[1] == 'x' || name[1] == 'X');
    name.remove_prefix(is_hex ? 2 : 1);
    uint32_t value = 0;
    std::from_chars(name.data(), name.data() + name.size(), value, is_hex ? 16 : 10);
    append_character(out, value);
  } else if (auto known = kNames.find(name); known != kNames.end()) {
    append_character(out, known->second);
  } else {
    out = entity;
  }
  return out;
}

std::string without_entities(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const size_t before = std::min(text.find('&'), text.size());
    plain += text.substr(0, before);
    text.remove_prefix(before);
    if (text.empty()) break;
    const size_t end = text.substr(0, kMaxEntity).find(';');
    const bool is_entity = end != std::string_view::npos && end > 1 && !is_blank(text[1]);
    const size_t n = is_entity ? end + 1 : 1;
    plain += is_entity ? entity_text(text.substr(0, n)) : "&";
    text.remove_prefix(n);
  }
  return plain;
}

std::string in_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = static_cast<unsigned char>(c) >= 0x20 && c != '<' && c != '>' && c != '&';
    out += plain ? std::string(1, c) : "&#" + std::to_string(static_cast<int>(static_cast<unsigned char>(c))) + ";";
  }
  return out;
}

HtmlText text_of_html(std::string_view html) { return HtmlReader().read(html); }

}  // namespace warpchat
