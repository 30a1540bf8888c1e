// Compares two answers: their cost by kind of work, and one sentence about the change.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/chat/profile/profiler_data.h"

namespace warpchat {

enum class Quantity { kRate, kBytes, kBandwidth, kSeconds, kInstructions };
std::string quantity_text(Quantity quantity, double value);  // "29.1", "398 MB", "12.3 µs"

struct ComparedRow {
  std::string name;
  Quantity quantity;
  std::optional<double> a, b;  // none: the answer does not have it, or it was not measured
  bool is_operation = false;   // of the kind of work above it

  double difference() const { return b.value_or(0) - a.value_or(0); }
  bool is_better() const;  // in b: a higher rate, or less of anything else
};
std::string difference_text(const ComparedRow& row);  // "+1.20 ms"
std::string ratio_text(const ComparedRow& row);       // of b to a: "0.55×"; empty where one is missing

struct AnswerComparison {
  std::string sentence;             // "graph instead of stream: 1.8 times faster, mostly attention"
  std::vector<ComparedRow> totals;  // of the whole answers
  // Cost of a token: time, or instructions if both ran in the emulator. Below it the kinds of work, which add up to it,
  // largest change first, each followed by its operations if it has several.
  std::vector<ComparedRow> parts;
  std::string absence;  // a sentence that says which answers were not profiled; empty: both were
};
AnswerComparison compare_answers(const AnswerProfile& a, const AnswerProfile& b);

// The comparison as lines with tabs between cells, for a terminal.
std::string comparison_text(const AnswerProfile& a, const AnswerProfile& b);

std::string title_of(const AnswerProfile& answer);  // "2: emulator:sm_90, graph, 24 tokens"

}  // namespace warpchat
