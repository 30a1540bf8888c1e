// Gaps are measured on arrival, so they include network, server and batching.
#include "app/chat/state/answer_pace.h"

#include <algorithm>
#include <cstdio>

#include "models/text_format.h"

namespace warpchat {

namespace {

std::string time_text(double seconds) {
  char text[32];
  const bool is_long = seconds >= 0.9995;
  std::snprintf(text, sizeof text, "%.3g%s", is_long ? seconds : seconds * 1e3, is_long ? " s" : " ms");
  return text;
}

std::string speed_text(double tokens_per_second) {
  char text[32];
  std::snprintf(text, sizeof text, tokens_per_second < 99.95 ? "%.3g tokens/s" : "%.0f tokens/s", tokens_per_second);
  return text;
}

// Tokens per second of the whole answer; 0: not known yet.
double speed_of(const ChatMessage& message, const AnswerPace& pace) {
  if (message.timings && message.timings->generate_seconds > 0)
    return message.timings->generated_tokens / message.timings->generate_seconds;
  return pace.mean > 0 ? 1 / pace.mean : 0;
}

}  // namespace

AnswerPace pace_of(std::span<const TokenMark> tokens) {
  if (tokens.size() < 2) return {};
  std::vector<float> gaps;
  double sum = 0;
  for (const TokenMark& token : tokens.subspan(1)) {
    gaps.push_back(token.seconds);
    sum += static_cast<double>(token.seconds);
  }
  std::ranges::sort(gaps);
  const size_t n = gaps.size(), p95 = (n * 95 + 99) / 100 - 1;  // index of the 95th percentile
  return {n, sum / static_cast<double>(n), gaps[(n - 1) / 2], gaps[p95], gaps.back()};
}

std::vector<float> longest_gaps(std::span<const TokenMark> tokens, size_t max_parts) {
  const size_t n_gaps = tokens.empty() ? 0 : tokens.size() - 1, n = std::min(n_gaps, max_parts);
  std::vector<float> longest;
  for (size_t i = 0; i < n; ++i) {
    const size_t first = i * n_gaps / n, end = (i + 1) * n_gaps / n;
    longest.push_back(std::ranges::max(tokens.subspan(1 + first, end - first), {}, &TokenMark::seconds).seconds);
  }
  return longest;
}

std::string gaps_text(const ChatMessage& message) {
  const AnswerPace pace = pace_of(message.tokens);
  if (pace.n_gaps == 0) return "";
  const size_t n_pieces = message.tokens.size();
  const uint32_t n_tokens = message.timings ? message.timings->generated_tokens : 0;
  return "median " + time_text(pace.median) + ", 95% within " + time_text(pace.p95) + ", longest " +
         time_text(pace.longest) +
         (n_tokens > n_pieces ? " (" + grouped(n_tokens) + " tokens in " + grouped(n_pieces) + " pieces)" : "");
}

std::vector<std::string> pace_lines(const ChatMessage& message) {
  if (message.tokens.empty()) return {};
  const double speed = speed_of(message, pace_of(message.tokens));
  const double first = message.timings && message.timings->first_token_seconds > 0
                           ? message.timings->first_token_seconds
                           : static_cast<double>(message.tokens.front().seconds);
  std::vector<std::string> lines{"first token after " + time_text(first) +
                                 (speed > 0 ? ", then " + speed_text(speed) : "")};
  if (const std::string gaps = gaps_text(message); !gaps.empty()) lines.push_back("gaps: " + gaps);
  if (const auto& t = message.timings; t && t->prompt_tokens > 0)
    lines.push_back("prompt: " + counted(t->prompt_tokens, "token") +
                    (t->reused_tokens > 0 ? ", " + grouped(t->reused_tokens) + " of them from a cache" : ""));
  if (const auto& t = message.timings; t && t->drafted_tokens > 0)
    lines.push_back("drafts: " + grouped(t->accepted_tokens) + " of " + counted(t->drafted_tokens, "token") +
                    " looked up in the conversation were accepted");
  return lines;
}

}  // namespace warpchat
