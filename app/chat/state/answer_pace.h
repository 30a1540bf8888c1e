// How evenly an answer's tokens arrived: what is measurable of a remote server's speed.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "app/chat/state/chat_state.h"

namespace warpchat {

struct AnswerPace {
  size_t n_gaps = 0;                                  // between consecutive tokens
  double mean = 0, median = 0, p95 = 0, longest = 0;  // seconds
};

// Statistics over all tokens except the first, whose time includes the prompt.
AnswerPace pace_of(std::span<const TokenMark> tokens);

// The longest gap, in seconds, of each of n equal parts of the answer; fewer parts if there are fewer gaps.
std::vector<float> longest_gaps(std::span<const TokenMark> tokens, size_t max_parts);

// "median 19.8 ms, 95% within 35 ms, longest 210 ms"; where a message came in fewer pieces than it has tokens, with
// that. Empty without a gap.
std::string gaps_text(const ChatMessage& message);

// Lines for people about an answer's prompt and speed, also while it streams.
std::vector<std::string> pace_lines(const ChatMessage& message);

}  // namespace warpchat
