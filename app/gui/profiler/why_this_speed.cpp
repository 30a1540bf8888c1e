#include "app/gui/profiler/why_this_speed.h"

#include <algorithm>
#include <span>

#include "app/platform/text/numbers.h"

namespace warpchat::gui {

namespace {

constexpr size_t kTokensOfMean = 32;  // of the mean
constexpr double kBusy = 0.75;        // share of the time; below it, kernels are not the bottleneck
constexpr double kWorthSaying = 0.1;  // a share of attention, or of waiting

bool is_attention(const OperationProfile& row) { return row.name.find("attention") != std::string::npos; }

double seconds_of_rows(const ProfilerData& data) {
  double sum = 0;
  for (const OperationProfile& row : data.token_rows) sum += row.seconds;
  return sum;
}

// The last tokens, without the answer's first one, which comes from prefill.
std::span<const ProfiledToken> tokens_of_mean(const ProfilerData& data) {
  std::span<const ProfiledToken> tokens = data.tokens;
  if (data.first_token == 0 && !tokens.empty()) tokens = tokens.subspan(1);
  return tokens.last(std::min(tokens.size(), kTokensOfMean));
}

std::string weights_part(const ProfilerData& data, double seconds) {
  if (data.weight_bytes_per_token == 0) return "";
  const std::span<const ProfiledToken> tokens = tokens_of_mean(data);
  const auto n_tokens = static_cast<double>(tokens.size());
  const auto n_drafted = static_cast<double>(std::ranges::count(tokens, true, &ProfiledToken::was_drafted));
  const double a_pass = n_drafted < n_tokens ? n_tokens / (n_tokens - n_drafted) : n_tokens;
  const double bytes = static_cast<double>(data.weight_bytes_per_token), rate = bytes / (seconds * a_pass);
  const std::string text =
      (n_drafted > 0 ? ", " + three_digits(a_pass) + " a pass: weights of " + bytes_text(bytes) + " a pass at "
                     : ": weights of " + bytes_text(bytes) + " a token at ") +
      bandwidth_text(rate);
  if (data.peak_bandwidth <= 0) return text;
  const std::string peak =
      std::string("this ") + (data.is_gpu ? "GPU" : "machine") + "'s " + bandwidth_text(data.peak_bandwidth);
  if (rate > data.peak_bandwidth) return text + ", above " + peak + " of memory: a cache holds them";
  return text + " are " + percent_text(rate / data.peak_bandwidth) + " of " + peak;
}

// The time without a running kernel, on a GPU.
std::string idle_part(const ProfilerData& data, double seconds, double of_rows) {
  if (!data.is_gpu || of_rows <= 0) return "";
  const double busy = of_rows / static_cast<double>(data.n_passes) / seconds;
  if (busy >= kBusy) return "";
  return "; kernels run " + percent_text(busy) + " of the time, the rest is between kernels";
}

// Attention's share of the time, if it matters, else the largest operation's.
std::string largest_part(const ProfilerData& data, double of_rows) {
  if (of_rows <= 0) return "";
  double attention = 0;
  for (const OperationProfile& row : data.token_rows)
    if (is_attention(row)) attention += row.seconds;
  if (attention >= kWorthSaying * of_rows) return "; attention takes " + percent_text(attention / of_rows);
  const auto largest = std::ranges::max_element(data.token_rows, {}, &OperationProfile::seconds);
  return "; most of it in " + largest->name + ", " + percent_text(largest->seconds / of_rows);
}

// The persistent decoder's waits at grid barriers.
std::string waiting_part(const ProfilerData& data, double of_rows) {
  double waited = 0;
  for (const OperationProfile& row : data.token_rows) waited += row.wait_seconds;
  if (waited < kWorthSaying * of_rows || waited == 0) return "";
  return "; " + percent_text(waited / of_rows) + " is waiting at barriers";
}

std::string why_emulated(const ProfilerData& data) {
  KernelCounters sum;
  for (const OperationProfile& row : data.token_rows) {
    sum.instructions += row.counters.instructions;
    sum.lane_instructions += row.counters.lane_instructions;
    sum.sectors += row.counters.sectors;
  }
  if (sum.instructions == 0) return " in the emulator, whose times do not predict a GPU's";
  const auto per_token = [&](uint64_t n) { return static_cast<double>(n) / static_cast<double>(data.n_passes); };
  constexpr double kLanes = 32, kSectorBytes = 32;
  return " in the emulator: " + compact_number(per_token(sum.instructions)) + " instructions a token on " +
         percent_text(static_cast<double>(sum.lane_instructions) / static_cast<double>(sum.instructions) / kLanes) +
         " of their lanes move " + bytes_text(per_token(sum.sectors) * kSectorBytes) +
         "; its times do not predict a GPU's";
}

}  // namespace

std::optional<double> seconds_per_token(const ProfilerData& data) {
  const std::span<const ProfiledToken> tokens = tokens_of_mean(data);
  double sum = 0;
  for (const ProfiledToken& token : tokens) sum += token.seconds;
  if (sum <= 0) return std::nullopt;
  return sum / static_cast<double>(tokens.size());
}

std::string why_this_speed(const ProfilerData& data) {
  const std::optional<double> seconds = seconds_per_token(data);
  if (!seconds || data.n_passes == 0) return "";
  const std::string rate = three_digits(1 / *seconds) + " tokens/s";
  if (data.is_emulated) return rate + why_emulated(data);
  const double of_rows = seconds_of_rows(data);
  return rate + weights_part(data, *seconds) + idle_part(data, *seconds, of_rows) + largest_part(data, of_rows) +
         waiting_part(data, of_rows);
}

}  // namespace warpchat::gui
