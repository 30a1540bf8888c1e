#include "app/gui/transcript/markdown_parse.h"

#include <md4c.h>

#include <algorithm>
#include <map>
#include <utility>

#include "app/formats/html_text.h"
#include "app/gui/text/text_engine.h"
#include "app/gui/transcript/markdown_guard.h"
#include "app/gui/transcript/plain_text.h"
#include "models/ascii.h"
#include "models/utf8.h"

namespace warpchat::gui {
namespace {

constexpr unsigned kFlags =
    MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS | MD_FLAG_NOHTMLBLOCKS | MD_FLAG_PERMISSIVEAUTOLINKS;

std::string attribute_text(const MD_ATTRIBUTE& attribute) {
  std::string out;
  for (size_t i = 0; attribute.text && attribute.substr_offsets[i] < attribute.size; ++i) {
    const std::string_view part(attribute.text + attribute.substr_offsets[i],
                                attribute.substr_offsets[i + 1] - attribute.substr_offsets[i]);
    out += attribute.substr_types[i] == MD_TEXT_ENTITY ? entity_text(part) : std::string(part);
  }
  return out;
}

constexpr size_t kCellGrowth = 8;                     // bytes, of a table's cell; md4c adds cells that a row lacks
constexpr size_t kLongestTarget = 8000;               // bytes; each piece of a long link has a copy
constexpr std::string_view kTitleOfFold = "Details";  // without a summary

struct TextMeasure {
  uint32_t characters = 0, longest_word = 0;  // CJK may break anywhere
};

TextMeasure measure_text(std::string_view text) {
  TextMeasure measure;
  uint32_t run = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool begins = !continues_character(c);
    measure.characters += begins;
    run = c == ' ' || c == '\n' || byte >= 0xE0 ? 0 : run + begins;
    measure.longest_word = std::max(measure.longest_word, run);
  }
  return measure;
}

// Appends md4c's text to a block, with its style.
class BlockText {
 public:
  explicit BlockText(MarkdownBlock& block) : block_(block) {}

  void append(std::string_view text, const InlineSpan& look) {
    if (text.empty()) return;
    const size_t begin = block_.text.size();
    block_.text += text;
    InlineSpan span = look;
    span.begin = begin, span.end = block_.text.size();
    if (!block_.spans.empty()) {
      InlineSpan& last = block_.spans.back();
      InlineSpan as_last = span;
      as_last.begin = last.begin, as_last.end = last.end;
      if (as_last == last && last.end == begin) {
        last.end = span.end;
        return;
      }
    }
    block_.spans.push_back(span);
  }
  void mark_source(size_t source) {
    const size_t at = block_.text.size();
    if (!block_.sources.empty()) {
      SourceMark& last = block_.sources.back();
      if (last.source + (at - last.text) == source) return;
      if (last.text == at) {
        last.source = source;
        return;
      }
    }
    block_.sources.push_back({at, source});
  }

 private:
  MarkdownBlock& block_;
};

class Parser {
 public:
  Parser(const ParseInput& input, std::vector<MarkdownBlock>& blocks)
      : input_(input),
        guarded_(guarded_markdown(input.text, input.unfinished, input.footnotes)),
        blocks_(blocks),
        state_(input.before),
        folds_(state_.folds) {
    may_grow_ = ParseInput::kGrowth * input.text.size() + input.max_grown - std::min(state_.grown, input.max_grown);
    const size_t n = input.definitions.size();
    if (n <= may_grow_ && input.text.find('[') != std::string_view::npos) n_definitions_ = n;
    text_ = std::string(input.definitions.substr(0, n_definitions_)) + guarded_.text;
    state_.given += n_definitions_;
    grow(n_definitions_);
  }

  // False: the blocks would have become too long.
  bool run() {
    MD_PARSER parser = {};
    parser.flags = kFlags;
    parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
      return static_cast<Parser*>(self)->enter(type, detail);
    };
    parser.leave_block = [](MD_BLOCKTYPE type, void*, void* self) { return static_cast<Parser*>(self)->leave(type); };
    parser.enter_span = [](MD_SPANTYPE type, void* detail, void* self) {
      return static_cast<Parser*>(self)->change_look(type, detail, 1);
    };
    parser.leave_span = [](MD_SPANTYPE type, void* detail, void* self) {
      return static_cast<Parser*>(self)->change_look(type, detail, -1);
    };
    parser.text = [](MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* self) {
      return static_cast<Parser*>(self)->add_text(type, {text, size});
    };
    if (md_parse(text_.data(), static_cast<MD_SIZE>(text_.size()), &parser, this) != 0) return false;
    const size_t free = ParseInput::kGrowth * input_.text.size();
    state_.grown += grown_ - std::min(grown_, free);
    return true;
  }
  const ParseState& state() const { return state_; }

 private:
  // Less than 0 ends md4c's work.
  int grow(size_t bytes) {
    grown_ += bytes;
    return grown_ > may_grow_ ? -1 : 0;
  }

  struct List {
    bool ordered, tight;
    unsigned number;
    char delimiter;
  };

  int enter(MD_BLOCKTYPE type, void* detail) {
    switch (type) {
      case MD_BLOCK_QUOTE:
        close(), begin_outermost(), nesting_.push_back(Nesting::kQuote);
        quote_begins_ = true;
        break;
      case MD_BLOCK_UL:
        close(), begin_outermost(),
            lists_.push_back({false, static_cast<MD_BLOCK_UL_DETAIL*>(detail)->is_tight != 0, 0, '-'});
        break;
      case MD_BLOCK_OL:
        close(), begin_outermost(), enter_ordered_list(*static_cast<MD_BLOCK_OL_DETAIL*>(detail));
        break;
      case MD_BLOCK_LI:
        enter_item(*static_cast<MD_BLOCK_LI_DETAIL*>(detail));
        break;
      case MD_BLOCK_HR:
        open(BlockKind::kRule), close();
        break;
      case MD_BLOCK_H:
        open(BlockKind::kHeading);
        block_->level = static_cast<int>(static_cast<MD_BLOCK_H_DETAIL*>(detail)->level);
        break;
      case MD_BLOCK_CODE:
        open(BlockKind::kCode);
        block_->language = attribute_text(static_cast<MD_BLOCK_CODE_DETAIL*>(detail)->lang);
        break;
      case MD_BLOCK_P:
        open(BlockKind::kParagraph);
        break;
      case MD_BLOCK_TABLE:
        open(BlockKind::kTable);
        break;
      case MD_BLOCK_TH:
      case MD_BLOCK_TD:
        enter_cell(*static_cast<MD_BLOCK_TD_DETAIL*>(detail), type == MD_BLOCK_TH);
        return grow(kCellGrowth);
      default:
        break;
    }
    return 0;
  }

  int leave(MD_BLOCKTYPE type) {
    switch (type) {
      case MD_BLOCK_QUOTE:
        close(), leave_nesting(), end_outermost();
        break;
      case MD_BLOCK_UL:
      case MD_BLOCK_OL:
        close(), lists_.pop_back(), end_outermost();
        break;
      case MD_BLOCK_LI:
        leave_item();
        break;
      case MD_BLOCK_TH:
      case MD_BLOCK_TD:
        block_->cells.back().end = block_->text.size();
        break;
      case MD_BLOCK_H:
      case MD_BLOCK_CODE:
      case MD_BLOCK_P:
      case MD_BLOCK_TABLE:
        close();
        break;
      default:
        break;
    }
    return 0;
  }

  void enter_ordered_list(const MD_BLOCK_OL_DETAIL& list) {
    lists_.push_back({true, list.is_tight != 0, list.start, list.mark_delimiter});
  }

  void enter_item(const MD_BLOCK_LI_DETAIL& item) {
    close();
    nesting_.push_back(Nesting::kItem);
    List& list = lists_.back();
    marker_ = list.ordered ? std::to_string(list.number++) + list.delimiter : "-";
    if (item.is_task) task_ = item.task_mark != ' ';
    item_begins_ = true;
  }

  void leave_item() {
    if (!block_ && !marker_.empty()) open(BlockKind::kParagraph);  // an item without text
    close();
    leave_nesting();
  }

  // A fold that began in an item or a quote ends with it.
  void leave_nesting() {
    while (nesting_.back() == Nesting::kDetails) close_fold();
    nesting_.pop_back();
  }

  void begin_outermost() {
    if (nesting_.empty() && lists_.empty()) first_nested_ = blocks_.size();
  }

  // The direction of the first letter holds for all of an outermost list or quote.
  void end_outermost() {
    if (!nesting_.empty() || !lists_.empty()) return;
    const auto first = blocks_.begin() + static_cast<long>(first_nested_);
    const auto says = std::find_if(first, blocks_.end(), [](const MarkdownBlock& block) {
      return block.kind != BlockKind::kCode && direction_of(block.text) != TextDirection::kAuto;
    });
    const bool is_rtl = says != blocks_.end() && direction_of(says->text) == TextDirection::kRightToLeft;
    for (auto block = first; block != blocks_.end(); ++block) block->is_rtl = is_rtl;
  }

  void enter_cell(const MD_BLOCK_TD_DETAIL& cell, bool is_head) {
    MarkdownBlock& table = *block_;
    if (is_head) {
      table.columns.push_back(cell.align == MD_ALIGN_CENTER  ? ColumnAlignment::kCentre
                              : cell.align == MD_ALIGN_RIGHT ? ColumnAlignment::kRight
                                                             : ColumnAlignment::kLeft);
    }
    if (!table.cells.empty()) {
      const bool row_begins = !is_head && table.cells.size() % table.columns.size() == 0;
      BlockText(table).append(row_begins ? "\n" : "\t", {});
    }
    table.cells.push_back({table.text.size(), table.text.size()});
    tags_ = {};
  }

  // Tight lists have no paragraphs: their text comes directly in the item.
  void open(BlockKind kind) {
    close();
    block_.emplace();
    block_->kind = kind;
    place(*block_);
    tags_ = {};
    skips_break_ = false;
    block_->marker = std::exchange(marker_, "");
    block_->task = std::exchange(task_, std::nullopt);
    // Neighbours in a tight list stand close together, its first item's distance to the text above is a paragraph's.
    const bool in_tight_list = !lists_.empty() && lists_.back().tight;
    const bool list_opens = item_begins_ && lists_.size() == 1 && !last_was_in_list_;
    const bool is_below_title = !blocks_.empty() && blocks_.back().is_title && !last_was_in_list_;
    block_->tight = (in_tight_list && !list_opens) || (is_below_title && blocks_.back().nesting == block_->nesting);
    item_begins_ = false;
  }

  void place(MarkdownBlock& block) const {
    const auto n_inner = static_cast<size_t>(std::ranges::count(nesting_, Nesting::kDetails));  // in lists and quotes
    block.nesting.assign(folds_.numbers.size() - n_inner, Nesting::kDetails);
    block.nesting.insert(block.nesting.end(), nesting_.begin(), nesting_.end());
    block.folds = folds_.numbers;
  }

  void close() {
    if (!block_) return;
    if (block_->kind == BlockKind::kParagraph && block_->marker.empty() && block_->text.empty()) return block_.reset();
    if (folds_.lacks_title && !block_->is_summary) append_title_of_fold();
    if (block_->is_summary) end_summary();
    last_was_in_list_ = !lists_.empty();
    if (block_->kind == BlockKind::kCode && block_->text.ends_with('\n')) trim_last_newline();
    if (block_->kind == BlockKind::kTable) measure_columns();
    append_in_pieces(std::move(*block_), blocks_);
    block_.reset();
  }

  void trim_last_newline() {
    block_->text.pop_back();
    if (!block_->spans.empty() && --block_->spans.back().end == block_->spans.back().begin) block_->spans.pop_back();
  }

  void measure_columns() {
    MarkdownBlock& table = *block_;
    const size_t n = table.columns.size();
    table.widths.assign(n, 0);
    table.words.assign(n, 0);
    for (size_t i = 0; i < table.cells.size() && n > 0; ++i) {
      const TableCell& cell = table.cells[i];
      const TextMeasure measure = measure_text(std::string_view(table.text).substr(cell.begin, cell.end - cell.begin));
      table.widths[i % n] = std::max(table.widths[i % n], measure.characters);
      table.words[i % n] = std::max(table.words[i % n], measure.longest_word);
    }
  }

  int change_look(MD_SPANTYPE type, void* detail, int step) {
    switch (type) {
      case MD_SPAN_EM:
        italic_ += step;
        break;
      case MD_SPAN_STRONG:
        bold_ += step;
        break;
      case MD_SPAN_CODE:
        code_ += step;
        break;
      case MD_SPAN_DEL:
        strike_ += step;
        break;
      case MD_SPAN_A:
        set_link(static_cast<MD_SPAN_A_DETAIL*>(detail)->href, step);
        return step < 0 ? 0 : grow(bytes_of(*static_cast<MD_SPAN_A_DETAIL*>(detail)));
      case MD_SPAN_IMG:
        set_link(static_cast<MD_SPAN_IMG_DETAIL*>(detail)->src, step);
        return step < 0 ? 0 : grow(bytes_of(*static_cast<MD_SPAN_IMG_DETAIL*>(detail)));
      default:
        break;
    }
    return 0;
  }

  static size_t bytes_of(const MD_SPAN_A_DETAIL& link) { return link.href.size + link.title.size; }
  static size_t bytes_of(const MD_SPAN_IMG_DETAIL& image) { return image.src.size + image.title.size; }

  void set_link(const MD_ATTRIBUTE& target, int step) {
    if (!block_) open(BlockKind::kParagraph);
    if (step < 0) return links_.pop_back();
    if (target.size > kLongestTarget) return links_.push_back(-1);
    links_.push_back(static_cast<int32_t>(block_->links.size()));
    block_->links.push_back(attribute_text(target));
  }

  InlineSpan look() const {
    InlineSpan look;
    look.bold = bold_ + tags_.bold > 0, look.italic = italic_ + tags_.italic > 0;
    look.code = code_ + tags_.code > 0, look.strike = strike_ + tags_.strike > 0;
    look.underline = tags_.underline > 0, look.key = tags_.key > 0;
    look.shift = tags_.above > 0 ? 1 : tags_.below > 0 ? -1 : 0;
    if (!links_.empty()) look.link = links_.back();
    return look;
  }

  int add_text(MD_TEXTTYPE type, std::string_view text) {
    const bool is_break = type == MD_TEXT_BR || type == MD_TEXT_SOFTBR;
    if (std::exchange(skips_break_, false) && is_break) return 0;
    if (!block_) open(BlockKind::kParagraph);
    if (std::exchange(quote_begins_, false) && type == MD_TEXT_NORMAL && begin_alert(text)) return 0;
    BlockText out(*block_);
    switch (type) {
      case MD_TEXT_NULLCHAR:
        out.append("\uFFFD", look());
        break;
      case MD_TEXT_BR:
      case MD_TEXT_SOFTBR:
        out.append("\n", in_formula(look()));
        break;
      case MD_TEXT_ENTITY:
        mark_source(out, text.data());
        out.append(entity_text(text), look());
        break;
      case MD_TEXT_CODE:
        add_code(out, text, look());
        break;
      case MD_TEXT_HTML:
        if (!apply_tag(text)) add_code(out, text, look());
        break;
      default:
        add_source(text, look());
    }
    return 0;
  }

  // "[!NOTE]" as a quote's first line, with or without a title.
  bool begin_alert(std::string_view text) {
    struct Alert {
      std::string_view mark, title;
      Nesting nesting;
    };
    static constexpr Alert kAlerts[] = {{"[!note]", "Note", Nesting::kNote},
                                        {"[!tip]", "Tip", Nesting::kTip},
                                        {"[!important]", "Important", Nesting::kImportant},
                                        {"[!warning]", "Warning", Nesting::kWarning},
                                        {"[!caution]", "Caution", Nesting::kCaution}};
    if (block_->kind != BlockKind::kParagraph || nesting_.empty() || nesting_.back() != Nesting::kQuote) return false;
    const size_t close = text.find(']');
    const std::string mark = lower_case(text.substr(0, std::min<size_t>(close, 20) + 1));
    const auto* alert = std::ranges::find(kAlerts, mark, &Alert::mark);
    if (alert == std::end(kAlerts)) return false;
    nesting_.back() = block_->nesting.back() = alert->nesting;
    const std::string_view title = trimmed(text.substr(mark.size()));
    mark_source(text.data());
    end_title(title.empty() ? alert->title : title);
    return true;
  }

  void end_title(std::string_view title) {
    append_bold(*block_, title);
    block_->is_title = true;
    end_part();
  }

  // Closes the block; a line's end that follows belongs to neither.
  void end_part() {
    if (block_ && block_->text.ends_with('\n')) trim_last_newline();
    close();
    skips_break_ = true;
  }

  // Whether this is a tag that has a meaning here; others are shown.
  bool apply_tag(std::string_view tag) {
    if (!tag.ends_with('>')) return false;
    const bool closes = tag.starts_with("</");
    const size_t begin = closes ? 2 : 1;
    const std::string name = lower_case(tag.substr(begin, tag.find_first_of(" \t\n/>", begin) - begin));
    if (name == "br") return add_line_break(), true;
    if (name == "details" || name == "summary") return apply_details(name == "summary", closes), true;
    int Tags::*const count = look_of_tag(name);
    if (!count || (closes && tags_.*count == 0)) return false;
    if (!tag.ends_with("/>")) tags_.*count += closes ? -1 : 1;
    return true;
  }

  struct Tags {  // that are open in the block
    int bold = 0, italic = 0, code = 0, strike = 0, underline = 0, key = 0, above = 0, below = 0;
  };

  static int Tags::*look_of_tag(std::string_view name) {
    static const std::map<std::string_view, int Tags::*> kLooks = {
        {"b", &Tags::bold},       {"strong", &Tags::bold}, {"i", &Tags::italic},   {"em", &Tags::italic},
        {"cite", &Tags::italic},  {"var", &Tags::italic},  {"code", &Tags::code},  {"tt", &Tags::code},
        {"samp", &Tags::code},    {"s", &Tags::strike},    {"del", &Tags::strike}, {"strike", &Tags::strike},
        {"u", &Tags::underline},  {"kbd", &Tags::key},     {"sup", &Tags::above},  {"sub", &Tags::below},
        {"ins", &Tags::underline}};
    const auto known = kLooks.find(name);
    return known == kLooks.end() ? nullptr : known->second;
  }

  void add_line_break() {
    const bool in_cell = block_->kind == BlockKind::kTable;
    BlockText(*block_).append(in_cell ? kCellBreak : "\n", look());
    skips_break_ = true;
  }

  void apply_details(bool is_summary, bool closes) {
    if (block_->kind != BlockKind::kParagraph) return;
    if (is_summary && closes) return end_part();
    const bool is_new_item = block_->text.empty() && !block_->marker.empty();
    if (!is_new_item) end_part();
    if (is_summary) return begin_summary();
    closes ? close_fold() : open_fold();
    if (block_) place(*block_);
  }

  void begin_summary() {
    if (!block_) open(BlockKind::kParagraph);
    block_->is_title = true;
    block_->is_summary = folds_.lacks_title;
    tags_.bold = 1;
    skips_break_ = true;
  }

  void end_summary() {
    folds_.lacks_title = false;
    if (block_->text.empty()) append_bold(*block_, kTitleOfFold);
  }

  static void append_bold(MarkdownBlock& block, std::string_view text) {
    InlineSpan look;
    look.bold = true;
    BlockText(block).append(text, look);
  }

  void open_fold() {
    if (folds_.lacks_title) append_title_of_fold();
    if (folds_.numbers.size() >= kDeepestFold) return void(folds_.deeper += nesting_.empty() ? 1 : 0);
    folds_.numbers.push_back(++folds_.n);
    folds_.lacks_title = true;
    if (!nesting_.empty()) nesting_.push_back(Nesting::kDetails);
  }

  // In an item or a quote only one that began there.
  void close_fold() {
    if (!nesting_.empty() && nesting_.back() != Nesting::kDetails) return;
    if (nesting_.empty() && folds_.deeper > 0) return void(--folds_.deeper);
    if (folds_.numbers.empty()) return;
    folds_.numbers.pop_back();
    folds_.lacks_title = false;
    if (!nesting_.empty()) nesting_.pop_back();
  }

  // Above the block that is open, whose marker it gets if that is the fold's.
  void append_title_of_fold() {
    MarkdownBlock title;
    place(title);
    while (title.nesting.back() != Nesting::kDetails) title.nesting.pop_back();
    title.is_title = title.is_summary = true;
    append_bold(title, kTitleOfFold);
    if (block_ && block_->nesting == title.nesting) {
      title.marker = std::exchange(block_->marker, "");
      title.task = std::exchange(block_->task, std::nullopt);
      title.tight = std::exchange(block_->tight, true);
    }
    folds_.lacks_title = false;
    blocks_.push_back(std::move(title));
  }

  // A line's end within a formula belongs to it.
  InlineSpan in_formula(InlineSpan look) const {
    if (formula_ == 0 || source_end_ >= guarded_.formulas[formula_ - 1].end) return look;
    look.formula = formula_;
    look.display = guarded_.formulas[formula_ - 1].display;
    return look;
  }

  // Parted where formulas and marks of footnotes begin and end.
  void add_source(std::string_view text, InlineSpan look) {
    mark_source(text.data());
    const std::optional<size_t> source = source_of_text(text.data());
    if (!source) return BlockText(*block_).append(text, look);
    for (size_t at = *source; !text.empty();) {
      const FootnotePlace* note = place_from(guarded_.footnotes, at);
      const FormulaPlace* formula = place_from(guarded_.formulas, at);
      size_t end = at + text.size();
      if (note) end = std::min(end, note->begin <= at ? note->end : note->begin);
      const bool in_note = note && note->begin <= at, in_formula = formula && formula->begin <= at;
      if (formula) end = std::min(end, in_formula ? formula->end : formula->begin);
      const std::string_view part = text.substr(0, end - at);
      look.formula = formula_ = in_formula ? static_cast<uint32_t>(formula - guarded_.formulas.data()) + 1 : 0;
      look.display = in_formula && formula->display;
      if (in_note) {
        if (at == note->begin) add_footnote(*note, look);
      } else {
        mark_source(text.data());
        BlockText(*block_).append(part, look);
      }
      at += part.size();
      text.remove_prefix(part.size());
      source_end_ = at;
    }
  }

  // The place around or after `at`; nullptr: there is none.
  template <class Place>
  static const Place* place_from(const std::vector<Place>& places, size_t at) {
    const auto next = std::upper_bound(places.begin(), places.end(), at,
                                       [](size_t value, const Place& place) { return value < place.end; });
    return next == places.end() ? nullptr : &*next;
  }

  // A small number in the text, or the marker of the footnote itself.
  void add_footnote(const FootnotePlace& note, InlineSpan look) {
    const bool begins = note.is_definition && block_->kind == BlockKind::kParagraph && block_->marker.empty();
    if (!begins && !(note.is_definition && block_->is_footnote)) {
      look.shift = 1;
      return BlockText(*block_).append(note.number, look);
    }
    const bool follows = block_->is_footnote;
    if (!block_->text.empty() || follows) {
      if (block_->text.ends_with('\n')) trim_last_newline();
      open(BlockKind::kParagraph);
    }
    block_->nesting.push_back(Nesting::kItem);
    block_->marker = note.number;
    block_->is_footnote = true;
    block_->tight = follows;
  }

  // Removes the guard characters, since code contains no formulas.
  void add_code(BlockText& out, std::string_view text, const InlineSpan& look) {
    const bool is_source = text.data() >= text_.data() && text.data() < text_.data() + text_.size();
    if (!is_source || guarded_.inserted.empty()) {
      mark_source(out, text.data());
      return out.append(text, look);
    }
    for (size_t i = 0; i < text.size(); ++i) {
      const size_t at = static_cast<size_t>(text.data() + i - text_.data());
      if (at >= n_definitions_ && guarded_.was_inserted(at - n_definitions_)) continue;
      mark_source(out, text.data() + i);
      out.append(text.substr(i, 1), look);
    }
  }

  // Where in the input this was written; nullopt: it is md4c's own.
  std::optional<size_t> source_of_text(const char* at) const {
    if (at < text_.data() + n_definitions_ || at >= text_.data() + text_.size()) return std::nullopt;
    return guarded_.original(static_cast<size_t>(at - text_.data()) - n_definitions_);
  }

  void mark_source(const char* at) {
    BlockText out(*block_);
    mark_source(out, at);
  }
  void mark_source(BlockText& out, const char* at) const {
    if (const auto source = source_of_text(at)) out.mark_source(input_.source + *source);
  }

  const ParseInput& input_;
  GuardedText guarded_;
  std::string text_;  // what md4c parses
  size_t n_definitions_ = 0;
  std::vector<MarkdownBlock>& blocks_;

  std::optional<MarkdownBlock> block_;  // that is open
  std::vector<Nesting> nesting_;
  std::vector<List> lists_;
  std::string marker_;  // of an item that has no block yet
  std::optional<bool> task_;
  bool item_begins_ = false, last_was_in_list_ = false;
  int bold_ = 0, italic_ = 0, code_ = 0, strike_ = 0;
  std::vector<int32_t> links_;
  Tags tags_;
  ParseState state_;
  OpenFolds& folds_;  // of it
  size_t grown_ = 0, may_grow_ = 0;
  size_t first_nested_ = 0;  // block of the outermost list or quote
  bool quote_begins_ = false;
  bool skips_break_ = false;  // a line's end that comes next
  uint32_t formula_ = 0;      // of the text added last
  size_t source_end_ = 0;     // of it, in the input
};

}  // namespace

ParseState parse_markdown(const ParseInput& input, std::vector<MarkdownBlock>& blocks) {
  const size_t n_before = blocks.size();
  Parser parser(input, blocks);
  if (parser.run()) return parser.state();
  blocks.resize(n_before);
  parse_plain_text(input.text, input.source, blocks);
  ParseState after = input.before;
  after.grown = std::max(after.grown, input.max_grown);
  return after;
}

}  // namespace warpchat::gui
