// Takes one snapshot of the profile under its lock and evaluates it here.
#include "app/chat/profile/collect_profile.h"

#include <algorithm>
#include <utility>

namespace warpchat {

namespace {

// Number of tokens that the recorded calls cover: a GPU's times arrive later than its tokens.
size_t covered_tokens(const ProfilerData& data) {
  double end = 0;
  for (const TraceSpan& span : data.spans) end = std::max(end, span.start + span.seconds);
  return static_cast<size_t>(
      std::ranges::count_if(data.tokens, [&](const ProfiledToken& token) { return token.start < end; }));
}

// A call belongs to the token whose time span contains its middle.
std::vector<std::vector<float>> history_of(const ProfilerData& data) {
  std::vector<std::vector<float>> history(data.rows.size(), std::vector<float>(covered_tokens(data)));
  for (const TraceSpan& span : data.spans) {
    const double middle = span.start + span.seconds / 2;
    const auto behind = std::ranges::upper_bound(data.tokens, middle, {}, &ProfiledToken::start);
    const auto index = static_cast<size_t>(behind - data.tokens.begin()) - 1;  // wraps before the first
    if (index < history[span.operation].size())
      history[span.operation][index] += static_cast<float>(span.seconds * 1e6);
  }
  return history;
}

// Without tokens before the first recorded call: profiling was off, or they came from prefill.
std::vector<ProfiledToken> seen_tokens(const ProfileSnapshot& shot) {
  const double kept_from = shot.spans.empty() ? 0 : shot.spans.front().start;
  const auto first = std::ranges::find_if(
      shot.tokens, [&](const ProfiledToken& token) { return token.start + token.seconds > kept_from; });
  return {first, shot.tokens.end()};
}

}  // namespace

uint64_t n_passes_of(std::span<const OperationProfile> rows) {
  uint64_t n = 0;
  for (const OperationProfile& row : rows)
    if (row.name.starts_with("embed") || row.name == "persistent embed") n += row.calls;
  return n;
}

void watch_profile(Model& model, bool on) { watch_profile(model.decoder->steps(), on); }

void watch_profile(Steps& steps, bool on) {
  steps.profile().keep_trace(on ? kMaxShownSpans : 0);
  steps.set_measuring(on);
  if (on) steps.profile().begin_watching();
}

std::shared_ptr<const ProfilerData> collect_profile(Model& model, std::string status) {
  return collect_profile(model.decoder->steps(), std::move(status));
}

std::shared_ptr<const ProfilerData> collect_profile(Steps& steps, std::string status) {
  ProfileSnapshot shot = steps.profile().snapshot(kShownTokens, kMaxShownSpans);
  ProfilerData data{std::move(status), steps.is_gpu(), steps.is_emulated(), shot.peak_bandwidth};
  data.rows = std::move(shot.rows);
  data.token_rows = std::move(shot.token_rows);
  data.n_passes = n_passes_of(data.token_rows);
  data.tokens = seen_tokens(shot);
  data.first_token = shot.n_tokens - data.tokens.size();
  data.spans = std::move(shot.spans);
  data.shares = std::move(shot.shares);
  const double from = data.tokens.empty() ? steps.profile().now() : data.tokens.front().start;
  std::erase_if(data.shares, [&](const TraceSpan& share) { return share.start + share.seconds < from; });
  data.history = history_of(data);
  data.weight_bytes_per_token = steps.weight_bytes_per_token();
  data.memory = steps.memory();
  data.kernels = steps.kernels();
  return std::make_shared<const ProfilerData>(std::move(data));
}

}  // namespace warpchat
