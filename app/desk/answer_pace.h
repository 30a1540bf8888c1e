// How evenly an answer's tokens came: what can be told of another machine's speed from here.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "app/desk/desk_state.h"

namespace warpchat {

struct AnswerPace {
  size_t n_gaps = 0;                                  // between tokens that came one after the other
  double mean = 0, median = 0, p95 = 0, longest = 0;  // seconds
};

// Of all tokens but the first, whose time is since the request.
AnswerPace pace_of(std::span<const TokenMark> tokens);

// The longest gap of each of so many equal parts of the answer, in seconds; fewer where there are fewer gaps.
std::vector<float> longest_gaps(std::span<const TokenMark> tokens, size_t most_parts);

// "median 19.8 ms, 95% within 35 ms, longest 210 ms"; where a message came in fewer pieces than it has tokens, with
// that. Empty without a gap.
std::string gaps_text(const ChatMessage& message);

// A line for each thing that is known of an answer's prompt and speed, for people, so far or in the end.
std::vector<std::string> pace_lines(const ChatMessage& message);

}  // namespace warpchat
