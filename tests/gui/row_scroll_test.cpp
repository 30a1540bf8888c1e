// Scrolling over rows with estimated heights, measured only when visible.
#include "app/gui/transcript/row_scroll.h"

#include <cmath>
#include <set>

#include "gtest/gtest.h"

namespace warpchat::gui {
namespace {

// Rows of 10 to 59 pixels, three per message, estimated at 100.
class FakeRows : public RowSource {
 public:
  explicit FakeRows(size_t n) : n_(n) {}
  size_t n_messages() const override { return n_; }
  float message_height(size_t message) const override {
    float height = 0;
    for (size_t row = 0; row < 3; ++row) height += known_.contains({message, row}) ? exact(message, row) : 100;
    return height;
  }
  size_t n_rows(size_t) override { return 3; }
  float row_height(size_t message, size_t row) override {
    known_.insert({message, row});
    return exact(message, row);
  }
  float guessed_height(size_t message, size_t row) override {
    return known_.contains({message, row}) ? exact(message, row) : 100;
  }
  float exact(size_t message, size_t row) const {
    return static_cast<float>(10 + (message * 31 + row * 17) % 50) + (message == grown_ ? extra_ : 0);
  }
  void grow(size_t message, float by) { grown_ = message, extra_ = by; }
  void add(size_t n) { n_ += n; }
  size_t n_known() const { return known_.size(); }

 private:
  size_t n_, grown_ = SIZE_MAX;
  float extra_ = 0;
  std::set<std::pair<size_t, size_t>> known_;
};

constexpr float kWindow = 300;

float top_of(const RowScroll& scroll, RowPlace place) {
  for (const VisibleRow& row : scroll.visible()) {
    if (row.place == place) return row.top;
  }
  return NAN;
}

float bottom_of(const RowScroll& scroll) { return scroll.visible().back().top + scroll.visible().back().height; }

TEST(RowScroll, BeginsAtTheEnd) {
  FakeRows rows(2000);
  RowScroll scroll;
  scroll.settle(rows, kWindow);
  EXPECT_EQ(scroll.visible().back().place, (RowPlace{1999, 2}));
  EXPECT_FLOAT_EQ(bottom_of(scroll), kWindow);
  EXPECT_TRUE(scroll.at_end());
  EXPECT_LT(rows.n_known(), 40u) << "rows out of sight were laid out";
}

TEST(RowScroll, ShortTextStandsAtTheTop) {
  FakeRows rows(1);
  RowScroll scroll;
  scroll.settle(rows, kWindow);
  EXPECT_FLOAT_EQ(top_of(scroll, {0, 0}), 0);
  EXPECT_TRUE(scroll.at_end());
}

TEST(RowScroll, MovesByExactlyWhatIsAsked) {
  FakeRows rows(100);
  RowScroll scroll;
  scroll.settle(rows, kWindow);
  scroll.move(-500);
  scroll.settle(rows, kWindow);
  for (const float step : {-37.0f, 12.0f, -220.0f, 5.0f, 41.0f, -1.0f}) {
    const std::vector<VisibleRow> before = scroll.visible();
    scroll.move(step);
    scroll.settle(rows, kWindow);
    int seen_again = 0;
    for (const VisibleRow& row : before) {
      const float now = top_of(scroll, row.place);
      if (std::isnan(now)) continue;
      EXPECT_NEAR(now, row.top - step, 0.01f);
      ++seen_again;
    }
    EXPECT_GT(seen_again, 0) << step;
  }
}

TEST(RowScroll, FollowsTheEndUntilScrolledAway) {
  FakeRows rows(10);
  RowScroll scroll;
  scroll.settle(rows, kWindow);
  rows.grow(9, 20);
  scroll.settle(rows, kWindow);
  EXPECT_FLOAT_EQ(bottom_of(scroll), kWindow);
  scroll.move(-50);
  scroll.settle(rows, kWindow);
  const VisibleRow read = scroll.visible()[1];
  EXPECT_FALSE(scroll.at_end());
  rows.grow(9, 500);
  rows.add(3);
  scroll.settle(rows, kWindow);
  EXPECT_FLOAT_EQ(top_of(scroll, read.place), read.top) << "what is read has moved";
  scroll.move(5000);
  scroll.settle(rows, kWindow);
  EXPECT_TRUE(scroll.at_end());
  EXPECT_TRUE(scroll.follows_end());
}

TEST(RowScroll, MovesFromAnEndThatIsNew) {
  FakeRows rows(100);
  RowScroll scroll;
  scroll.to_end();
  scroll.move(-100);
  scroll.settle(rows, kWindow);
  EXPECT_GT(scroll.top().message, 90u);
  EXPECT_FALSE(scroll.at_end());
}

TEST(RowScroll, HeightsAboveDoNotMoveWhatIsRead) {
  FakeRows rows(50);
  RowScroll scroll;
  scroll.to_row({25, 1}, 3);
  scroll.settle(rows, kWindow);
  rows.grow(20, 1000);
  scroll.settle(rows, kWindow);
  EXPECT_FLOAT_EQ(top_of(scroll, {25, 1}), -3);
}

TEST(RowScroll, StopsAtBothEnds) {
  FakeRows rows(50);
  RowScroll scroll;
  scroll.move(-1e6f);
  scroll.settle(rows, kWindow);
  EXPECT_FLOAT_EQ(top_of(scroll, {0, 0}), 0);
  EXPECT_FALSE(scroll.at_end());
  scroll.move(1e6f);
  scroll.settle(rows, kWindow);
  EXPECT_FLOAT_EQ(bottom_of(scroll), kWindow);
}

// A row that ends exactly at the window's bottom is not the conversation's end.
TEST(RowScroll, TheTopIsNeverTheEndOfALongText) {
  for (float window = 200; window < 300; ++window) {
    FakeRows rows(50);
    RowScroll scroll;
    scroll.move(-1e6f);
    scroll.settle(rows, window);
    EXPECT_FLOAT_EQ(top_of(scroll, {0, 0}), 0) << window;
    EXPECT_FALSE(scroll.at_end()) << window;
    scroll.move(1);
    scroll.settle(rows, window);
    EXPECT_FALSE(scroll.follows_end()) << window;
    EXPECT_FLOAT_EQ(top_of(scroll, {0, 0}), -1) << window;
  }
}

TEST(RowScroll, GoesToAPosition) {
  FakeRows rows(1000);
  RowScroll scroll;
  scroll.settle(rows, kWindow);
  const float half = RowScroll::content_height(rows) / 2;
  scroll.to_position(rows, half);
  scroll.settle(rows, kWindow);
  EXPECT_NEAR(scroll.position(rows), half, 1000);
  EXPECT_NEAR(static_cast<double>(scroll.top().message), 500, 10);
  EXPECT_LT(rows.n_known(), 80u);
}

TEST(RowScroll, RowsMayGo) {
  FakeRows many(50), few(2);
  RowScroll scroll;
  scroll.to_row({40, 2});
  scroll.settle(many, kWindow);
  scroll.settle(few, kWindow);
  EXPECT_EQ(scroll.visible().front().place, (RowPlace{0, 0}));
  FakeRows none(0);
  EXPECT_TRUE(scroll.settle(none, kWindow).empty());
}

}  // namespace
}  // namespace warpchat::gui
