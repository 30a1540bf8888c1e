// The text of a field while it is edited: caret, selection, undo. Offsets are bytes between grapheme clusters.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpchat::gui {

class EditBuffer {
 public:
  const std::string& text() const { return text_; }
  size_t caret() const { return caret_; }
  std::pair<size_t, size_t> selection() const;  // begin and end; equal: none
  bool has_selection() const { return caret_ != anchor_; }
  std::string_view selected() const;
  uint64_t revision() const { return revision_; }  // grows with every change of text

  void set(std::string text);          // as if typed anew: no undo beyond it, caret at the end
  void insert(std::string_view text);  // in place of the selection; carriage returns become line feeds
  void erase_selection();
  void erase_left(bool word);
  void erase_right(bool word);

  void move_to(size_t offset, bool select);  // to the boundary of clusters there
  void move_left(bool word, bool select);
  void move_right(bool word, bool select);
  void select(size_t begin, size_t end);
  void select_all() { select(0, text_.size()); }
  size_t line_begin(size_t offset) const;
  size_t line_end(size_t offset) const;  // before its line feed

  bool can_undo() const { return !done_.empty(); }
  void undo();
  void redo();

 private:
  struct Change {
    size_t at;
    std::string removed, inserted;
  };
  size_t word_left(size_t offset) const;
  size_t word_right(size_t offset) const;
  void replace(size_t begin, size_t end, std::string_view with);
  void apply(const Change& change, bool forward);

  std::string text_;
  size_t caret_ = 0, anchor_ = 0;
  uint64_t revision_ = 0;
  std::vector<Change> done_, undone_;
  bool typing_ = false;  // the next letter joins the last change
};

}  // namespace warpchat::gui
