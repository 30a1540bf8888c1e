// The progress line of a download.
#include "app/model_choice/transfer_line.h"

#include <gtest/gtest.h>

namespace warpchat {
namespace {

constexpr uint64_t kMegabyte = 1000000;

TEST(TransferLine, ShareRateAndTimeLeft) {
  const DownloadProgress progress{DownloadPhase::kFetching, 855 * kMegabyte, 1900 * kMegabyte};
  EXPECT_EQ(transfer_line(progress, 12.0 * kMegabyte), " 45%  855 MB of 1.9 GB  12 MB/s  1 min 27 s left");
  EXPECT_EQ(transfer_line(progress, 0), " 45%  855 MB of 1.9 GB");
  EXPECT_EQ(transfer_line(progress, 2), " 45%  855 MB of 1.9 GB  2 B/s");  // years are no useful estimate
}

TEST(TransferLine, ItIsNeverFullTooEarly) {
  EXPECT_EQ(transfer_line({DownloadPhase::kFetching, 999999, 1000000}, 0), " 99%  1.0 MB of 1.0 MB");
  EXPECT_EQ(transfer_line({DownloadPhase::kFetching, 1000000, 1000000}, 0), "100%  1.0 MB of 1.0 MB");
  EXPECT_EQ(transfer_line({DownloadPhase::kFetching, 0, 0}, 0), "100%  0 B of 0 B");
}

TEST(TransferLine, OtherPhasesSayWhatTheyAre) {
  EXPECT_EQ(transfer_line({DownloadPhase::kChecking, kMegabyte, 2 * kMegabyte}, 0),
            "verifying the downloaded part, 1.0 MB of 2.0 MB");
  EXPECT_EQ(transfer_line({DownloadPhase::kWaiting, kMegabyte, 2 * kMegabyte}, 0),
            "another program is downloading this; waiting, 1.0 MB of 2.0 MB done");
}

TEST(TransferLine, Durations) {
  EXPECT_EQ(duration_text(0), "0 s");
  EXPECT_EQ(duration_text(60), "1 min");
  EXPECT_EQ(duration_text(3599), "59 min 59 s");
  EXPECT_EQ(duration_text(3 * 3600 + 299), "3 h 4 min");
}

TEST(TransferRate, LooksBackAFewSecondsOnly) {
  const TransferRate::Time start{};
  TransferRate rate;
  EXPECT_EQ(rate.bytes_per_second(), 0);
  rate.add(start, 0);
  rate.add(start + std::chrono::milliseconds(100), 1000);
  EXPECT_EQ(rate.bytes_per_second(), 0);  // too short to measure
  for (int second = 1; second <= 20; ++second)
    rate.add(start + std::chrono::seconds(second), second <= 10 ? 1000 : 1000 + 500 * (second - 10));
  EXPECT_EQ(rate.bytes_per_second(), 500);
  rate.add(start + std::chrono::seconds(21), 10);  // fewer bytes: a file restarted
  EXPECT_EQ(rate.bytes_per_second(), 0);
}

}  // namespace
}  // namespace warpchat
