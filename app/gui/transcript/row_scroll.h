// Scrolls over messages with mostly estimated heights. It keeps the row at the window's top and its offset, so that
// better heights elsewhere never move the visible text. Independent of text.
#pragma once
#include <compare>
#include <cstddef>
#include <vector>

namespace warpchat::gui {

// Messages are rows, from top to bottom. Heights in pixels, at least 1.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual size_t n_messages() const = 0;
  virtual float message_height(size_t message) const = 0;    // as far as known, else a guess
  virtual size_t n_rows(size_t message) = 0;                 // at least 1; may have to read the message
  virtual float row_height(size_t message, size_t row) = 0;  // exact; may have to lay it out
  virtual float guessed_height(size_t message, size_t row) = 0;
};

struct RowPlace {
  size_t message = 0, row = 0;
  bool operator==(const RowPlace&) const = default;
  auto operator<=>(const RowPlace&) const = default;
};

struct VisibleRow {
  RowPlace place;
  float top, height;  // pixels below the window's top
};

class RowScroll {
 public:
  void move(float pixels) { delta_ += pixels; }  // down; at the next settle
  void to_end() { follows_ = true, delta_ = 0; }
  void to_row(RowPlace place, float offset = 0);  // offset: of the window's top below the row's
  void to_position(RowSource& rows, float position);
  void hold() { follows_ = false; }

  // Call after rows have changed or a move was requested: computes the visible rows of a window of this height.
  const std::vector<VisibleRow>& settle(RowSource& rows, float window);
  const std::vector<VisibleRow>& visible() const { return visible_; }

  // The top message may change after messages were inserted or removed.
  RowPlace top() const { return top_; }
  void rename_top(size_t message) { top_.message = message; }

  bool follows_end() const { return follows_; }
  bool at_end() const { return at_end_; }
  float position(RowSource& rows) const;  // pixels above the window's top, as far as known
  static float content_height(const RowSource& rows);

 private:
  bool step_up(RowSource& rows);
  bool step_down(RowSource& rows);
  void take_end(RowSource& rows, float window);
  void normalise(RowSource& rows);
  bool ends_here(RowSource& rows) const;
  float fill(RowSource& rows,
             float window);  // visible_ from top_ on; the height of what there is, at most the window's

  RowPlace top_;
  float offset_ = 0;  // pixels of the top row above the window's top
  float delta_ = 0;
  bool follows_ = true, at_end_ = true;
  std::vector<VisibleRow> visible_;
};

}  // namespace warpchat::gui
