// The profiler's timeline: lanes, visible range, bars.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/gui/profiler/timeline.h"

namespace warpchat::gui {
namespace {

using ::testing::ElementsAre;

constexpr TimeView kWhole{0, 100};

TEST(Timeline, HasALaneForCallsAndOneForEachMultiprocessor) {
  ProfilerData data;
  data.spans = {{0, 5, 1, 0}, {0, 3, 1, 0}};
  data.shares = {{0, 3, 1, 0, 7}, {0, 5, 1, 0, 2}, {0, 2, 1, 0, 7}};
  const std::vector<TimelineLane> lanes = lanes_of(data);
  ASSERT_EQ(lanes.size(), 3u);
  EXPECT_EQ(lanes[0].label, "calls");
  EXPECT_EQ(lanes[0].spans[0].start, 3) << "by their start";
  EXPECT_EQ(lanes[1].label, "SM 2");
  EXPECT_EQ(lanes[2].label, "SM 7");
  EXPECT_EQ(lanes[2].spans[0].start, 2);
}

TEST(Timeline, SpansWhatIsKnown) {
  ProfilerData data;
  EXPECT_FALSE(whole_time(data));
  data.tokens = {{1, 1}, {2, 1}, {3, 1}, {4, 1}};
  EXPECT_FALSE(whole_time(data)) << "tokens without calls";
  data.spans = {{0, 1.5, 0.5, 0}, {0, 2.5, 1, 0}};
  ASSERT_EQ(*whole_time(data), (TimeView{1.5, 3.5}));
  EXPECT_EQ(last_tokens(data, 1, *whole_time(data)), (TimeView{3, 3.5})) << "the last tokens with known calls";
  EXPECT_EQ(last_tokens(data, 2, *whole_time(data)), (TimeView{2, 3.5}));
  EXPECT_EQ(last_tokens(data, 50, *whole_time(data)), (TimeView{1.5, 3.5}));
}

TEST(Timeline, ZoomsAroundThePointerAndStaysWithinTheWhole) {
  EXPECT_EQ(zoomed({20, 60}, 0.5, 30, kWhole), (TimeView{25, 45})) << "the content at 30 stays in place";
  EXPECT_EQ(zoomed({20, 60}, 10, 30, kWhole), kWhole);
  EXPECT_EQ(zoomed({80, 100}, 2, 80, kWhole), (TimeView{60, 100})) << "pushed back from the end";
  EXPECT_NEAR(zoomed({20, 60}, 1e-12, 30, kWhole).length(), 1e-6, 1e-12) << "a microsecond is the closest";
  EXPECT_EQ(panned({20, 60}, 10, kWhole), (TimeView{30, 70}));
  EXPECT_EQ(panned({20, 60}, 1000, kWhole), (TimeView{60, 100}));
  EXPECT_EQ(panned({20, 60}, -1000, kWhole), (TimeView{0, 40}));
  EXPECT_EQ(panned({-50, 500}, 0, kWhole), kWhole) << "data that has shrunk";
}

TEST(TimelineBars, AreSpansWhereTheyAreWideEnough) {
  const std::vector<TraceSpan> spans = {{0, 0, 10, 0}, {1, 20, 30, 0}, {2, 90, 20, 0}, {3, 200, 1, 0}};
  const std::vector<TimelineBar> bars = timeline_bars(spans, {5, 105}, 100);
  ASSERT_EQ(bars.size(), 3u) << "one begins beyond the view";
  EXPECT_EQ(bars[0].from, 0) << "cut at the edge";
  EXPECT_EQ(bars[0].to, 5);
  EXPECT_EQ(bars[1].from, 15);
  EXPECT_EQ(bars[1].to, 45);
  EXPECT_EQ(bars[1].span, 1u);
  EXPECT_EQ(bars[2].to, 100);
}

TEST(TimelineBars, MergeWhatIsNarrowerThanAPixelUnderTheLongest) {
  const std::vector<TraceSpan> spans = {{0, 10.0, 0.1, 0}, {1, 10.2, 0.3, 0}, {2, 10.6, 0.2, 0}, {3, 11.1, 0.1, 0}};
  const std::vector<TimelineBar> bars = timeline_bars(spans, kWhole, 100);
  ASSERT_EQ(bars.size(), 2u);
  EXPECT_EQ(bars[0].operation, 1u);
  EXPECT_EQ(bars[0].span, TimelineBar::kSeveral);
  EXPECT_EQ(bars[1].operation, 3u);
}

TEST(TimelineBars, AreAtMostTwoAPixelHoweverManySpans) {
  std::vector<TraceSpan> spans;
  for (uint32_t i = 0; i < 100'000; ++i) spans.push_back({i % 9, i * 1e-3, i % 400 == 0 ? 0.5 : 0.9e-3, 0});
  for (const float pixels : {1.0f, 100.0f, 777.0f}) {
    const std::vector<TimelineBar> bars = timeline_bars(spans, kWhole, pixels);
    EXPECT_LE(bars.size(), 2 * static_cast<size_t>(pixels) + 1);
    EXPECT_GE(bars.size(), static_cast<size_t>(pixels) / 2);
  }
}

TEST(SpanAt, FindsWhatIsPointedAtOrNarrowlyMissed) {
  const TimelineLane lane{"calls", {{0, 10, 5, 0}, {1, 20, 0.01, 0}, {2, 30, 5, 0}}};
  const auto found = [&](double time, double slack) {
    const TraceSpan* span = span_at(lane, time, slack);
    return span == nullptr ? -1 : static_cast<int>(span->operation);
  };
  EXPECT_EQ(found(12, 0), 0);
  EXPECT_EQ(found(17, 0), -1);
  EXPECT_EQ(found(19.5, 1), 1) << "within the slack";
  EXPECT_EQ(found(20.5, 1), 1);
  EXPECT_EQ(found(29.5, 1), 2);
  EXPECT_EQ(found(15.5, 6), 0) << "the nearest";
  EXPECT_EQ(found(5, 1), -1);
}

TEST(TickStep, IsOneTwoOrFiveTimesAPowerOfTen) {
  EXPECT_DOUBLE_EQ(tick_step(100, 10), 10);
  EXPECT_DOUBLE_EQ(tick_step(101, 10), 20);
  EXPECT_DOUBLE_EQ(tick_step(0.9, 2), 0.5);
  EXPECT_DOUBLE_EQ(tick_step(1.5e-3, 2), 1e-3);
}

}  // namespace
}  // namespace warpchat::gui
