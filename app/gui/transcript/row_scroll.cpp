#include "app/gui/transcript/row_scroll.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace warpchat::gui {

void RowScroll::to_row(RowPlace place, float offset) {
  top_ = place;
  offset_ = offset;
  delta_ = 0;
  follows_ = false;
}

void RowScroll::to_position(RowSource& rows, float position) {
  top_ = {};
  follows_ = false;
  delta_ = 0;
  const size_t n = rows.n_messages();
  while (top_.message + 1 < n && position >= rows.message_height(top_.message)) {
    position -= rows.message_height(top_.message++);
  }
  for (const size_t n_rows = n > 0 ? rows.n_rows(top_.message) : 0; top_.row + 1 < n_rows; ++top_.row) {
    const float height = rows.guessed_height(top_.message, top_.row);
    if (position < height) break;
    position -= height;
  }
  offset_ = std::max(0.0f, position);
}

bool RowScroll::step_up(RowSource& rows) {
  if (top_.row > 0) {
    --top_.row;
  } else if (top_.message > 0) {
    --top_.message;
    top_.row = rows.n_rows(top_.message) - 1;
  } else {
    return false;
  }
  offset_ += rows.row_height(top_.message, top_.row);
  return true;
}

bool RowScroll::step_down(RowSource& rows) {
  const float height = rows.row_height(top_.message, top_.row);
  if (top_.row + 1 < rows.n_rows(top_.message)) {
    ++top_.row;
  } else if (top_.message + 1 < rows.n_messages()) {
    top_ = {top_.message + 1, 0};
  } else {
    return false;
  }
  offset_ -= height;
  return true;
}

// Moves the offset into the top row, changing which row that is.
void RowScroll::normalise(RowSource& rows) {
  while (offset_ < 0 && step_up(rows)) {
  }
  offset_ = std::max(0.0f, offset_);
  while (offset_ >= rows.row_height(top_.message, top_.row) && step_down(rows)) {
  }
}

void RowScroll::take_end(RowSource& rows, float window) {
  top_.message = rows.n_messages() - 1;
  top_.row = rows.n_rows(top_.message) - 1;
  offset_ = rows.row_height(top_.message, top_.row) - window;
  normalise(rows);
}

float RowScroll::fill(RowSource& rows, float window) {
  visible_.clear();
  float y = -offset_;
  for (RowPlace place = top_; place.message < rows.n_messages() && y < window;) {
    const float height = rows.row_height(place.message, place.row);
    visible_.push_back({place, y, height});
    y += height;
    place = place.row + 1 < rows.n_rows(place.message) ? RowPlace{place.message, place.row + 1}
                                                       : RowPlace{place.message + 1, 0};
  }
  return y;
}

// Whether the last row is visible. Rows above it may end at the window's bottom, too.
bool RowScroll::ends_here(RowSource& rows) const {
  if (visible_.empty()) return true;
  const RowPlace last = visible_.back().place;
  return last.message + 1 == rows.n_messages() && last.row + 1 == rows.n_rows(last.message);
}

const std::vector<VisibleRow>& RowScroll::settle(RowSource& rows, float window) {
  visible_.clear();
  const float delta = std::exchange(delta_, 0.0f);
  at_end_ = true;
  if (rows.n_messages() == 0) {
    top_ = {};
    offset_ = 0;
    return visible_;
  }
  top_.message = std::min(top_.message, rows.n_messages() - 1);
  top_.row = std::min(top_.row, rows.n_rows(top_.message) - 1);
  if (follows_) take_end(rows, window);
  if (delta < 0) follows_ = false;
  if (std::abs(delta) > 4 * window) {
    const bool follows = follows_;
    to_position(rows, std::max(0.0f, position(rows) + delta));
    follows_ = follows;
  } else {
    offset_ += delta;
  }
  normalise(rows);
  float bottom = fill(rows, window);
  if (ends_here(rows) && bottom < window + 1) {  // no space below it, unless everything fits
    offset_ -= window - bottom;
    normalise(rows);
    bottom = fill(rows, window);
    if (delta > 0 || bottom < window) follows_ = true;
  }
  at_end_ = ends_here(rows) && bottom < window + 2;
  return visible_;
}

float RowScroll::position(RowSource& rows) const {
  float position = offset_;
  for (size_t i = 0; i < std::min(top_.message, rows.n_messages()); ++i) position += rows.message_height(i);
  if (top_.message >= rows.n_messages()) return position;
  const size_t n_rows = std::min(top_.row, rows.n_rows(top_.message));
  for (size_t row = 0; row < n_rows; ++row) position += rows.guessed_height(top_.message, row);
  return position;
}

float RowScroll::content_height(const RowSource& rows) {
  float height = 0;
  for (size_t i = 0; i < rows.n_messages(); ++i) height += rows.message_height(i);
  return height;
}

}  // namespace warpchat::gui
