// Rows of two profiles are matched by name, and grouped into kinds of work that all devices have.
#include "app/chat/profile/compare_answers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "app/platform/text/numbers.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr double kWorthSaying = 0.02;  // of a speed; less is noise
constexpr double kInTimes = 1.5;       // less is said in percent

// Maps a part of an operation's name to a kind of work: for the CPU's steps, the persistent decoder's phases, kernels.
constexpr std::pair<std::string_view, std::string_view> kParts[] = {
    {"persistent_decoder", "the persistent kernel"},
    {"attention", "attention"},
    {"scatter", "keys and values"},
    {"embed", "embedding"},
    {"sample", "choice"},
    {"mask_logits", "choice"},
    {"emit", "choice"},
    {"gemv", "weights"},
    {"gemm", "weights"},
    {"qkv", "weights"},
    {"output", "weights"},
    {"gate_up", "weights"},
    {"down", "weights"},
    {"logits", "weights"},
    {"router", "weights"},
    {"experts", "weights"},
    {"conv", "delta nets"},
    {"delta", "delta nets"},
};
constexpr std::string_view kWaiting = "waiting at barriers", kBetween = "between operations";

std::string_view part_of(std::string_view operation) {
  for (const auto& [word, part] : kParts)
    if (operation.find(word) != std::string_view::npos) return part;
  return "other operations";
}

using Values = std::array<std::optional<double>, 2>;  // of a and of b

struct Entry {
  std::string name;
  Values values = {};
  void add(size_t side, double value) { values[side] = values[side].value_or(0) + value; }
  double change() const { return values[1].value_or(0) - values[0].value_or(0); }
};

struct PartEntry : Entry {
  std::vector<Entry> operations = {};
};

template <class T>
T& entry(std::vector<T>& entries, std::string_view name) {
  const auto found = std::ranges::find(entries, name, &Entry::name);
  if (found != entries.end()) return *found;
  entries.push_back({});
  entries.back().name = name;
  return entries.back();
}

std::optional<double> rate(double n, double seconds) {
  return n > 0 && seconds > 0 ? std::optional(n / seconds) : std::nullopt;
}

bool is_counted(const AnswerProfile& answer) {
  return std::ranges::any_of(answer.rows, [](const OperationProfile& row) { return row.counters.instructions > 0; });
}

// Time from token to token, without the first one, which comes from prefill.
std::optional<double> seconds_per_token(const AnswerProfile& answer) {
  const Timings& t = answer.timings;
  if (t.generated_tokens < 2 || t.generate_seconds <= 0) return std::nullopt;
  return t.generate_seconds / (t.generated_tokens - 1);
}

struct TokenCosts {
  Quantity quantity;
  Values whole;
  std::vector<PartEntry> parts;
};

double amount(const OperationProfile& row, Quantity quantity) {
  return quantity == Quantity::kInstructions ? static_cast<double>(row.counters.instructions)
                                             : row.seconds - row.wait_seconds;
}

void add_rows(TokenCosts& token, size_t side, const AnswerProfile& answer) {
  if (answer.n_passes == 0) return;
  const double by = static_cast<double>(answer.n_passes);
  double sum = 0;
  const auto add = [&](std::string_view part, const std::string& operation, double value) {
    if (value <= 0) return;
    PartEntry& of = entry(token.parts, part);
    of.add(side, value / by);
    if (!operation.empty()) entry(of.operations, operation).add(side, value / by);
    sum += value / by;
  };
  for (const OperationProfile& row : answer.rows) {
    add(part_of(row.name), row.name, amount(row, token.quantity));
    if (token.quantity == Quantity::kSeconds) add(kWaiting, "", row.wait_seconds);
  }
  if (token.quantity == Quantity::kInstructions)
    token.whole[side] = sum;
  else if (const auto whole = token.whole[side]; whole && *whole > sum)
    entry(token.parts, kBetween).add(side, *whole - sum);
}

template <class T>
void sort_by_change(std::vector<T>& entries) {
  std::ranges::stable_sort(entries, std::greater(), [](const Entry& e) { return std::abs(e.change()); });
}

TokenCosts token_of(const AnswerProfile& a, const AnswerProfile& b) {
  const bool counts = is_counted(a) && is_counted(b);
  TokenCosts token{counts ? Quantity::kInstructions : Quantity::kSeconds, {}, {}};
  if (!counts) token.whole = {seconds_per_token(a), seconds_per_token(b)};
  add_rows(token, 0, a);
  add_rows(token, 1, b);
  sort_by_change(token.parts);
  for (PartEntry& part : token.parts) sort_by_change(part.operations);
  return token;
}

std::vector<ComparedRow> rows_of(const TokenCosts& token) {
  const auto row = [&](const Entry& e, bool is_operation) {
    return ComparedRow{e.name, token.quantity, e.values[0], e.values[1], is_operation};
  };
  std::vector<ComparedRow> rows{row(
      {token.quantity == Quantity::kInstructions ? "instructions of a token" : "time of a token", token.whole}, false)};
  for (const PartEntry& part : token.parts) {
    rows.push_back(row(part, false));
    if (part.operations.size() < 2) continue;
    for (const Entry& operation : part.operations) rows.push_back(row(operation, true));
  }
  return rows;
}

std::vector<ComparedRow> totals_of(const AnswerProfile& a, const AnswerProfile& b) {
  const auto of_both = [&](const char* name, Quantity quantity, auto&& value) {
    return ComparedRow{name, quantity, value(a), value(b)};
  };
  const auto bytes = [](const AnswerProfile& answer) {
    double sum = 0;
    for (const OperationProfile& row : answer.rows) sum += static_cast<double>(row.bytes);
    return sum;
  };
  return {of_both("tokens/s", Quantity::kRate,
                  [](const AnswerProfile& p) { return rate(p.timings.generated_tokens, p.timings.generate_seconds); }),
          of_both("prompt, tokens/s", Quantity::kRate,
                  [](const AnswerProfile& p) {
                    return rate(p.timings.prompt_tokens - p.timings.reused_tokens, p.timings.prompt_seconds);
                  }),
          of_both("bytes a token", Quantity::kBytes,
                  [&](const AnswerProfile& p) { return rate(bytes(p), static_cast<double>(p.n_passes)); }),
          of_both("bandwidth", Quantity::kBandwidth, [&](const AnswerProfile& p) {
            double seconds = 0;
            for (const OperationProfile& row : p.rows) seconds += row.seconds;
            return rate(bytes(p), seconds);
          })};
}

std::string where(const AnswerProfile& answer) {
  return answer.device + (answer.launch.empty() ? "" : " (" + answer.launch + ")");
}

// "graph instead of stream".
std::string what_changed(const AnswerProfile& a, const AnswerProfile& b) {
  std::string text;
  const auto add = [&](const std::string& from, const std::string& to) {
    if (from != to) text += (text.empty() ? "" : ", ") + to + " instead of " + from;
  };
  add(a.model, b.model);
  a.device != b.device ? add(where(a), where(b)) : add(a.launch, b.launch);
  return text.empty() ? "the same model, device and launch mode" : text;
}

std::string times(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, ratio < 9.95 ? "%.1f times" : "%.0f times", ratio);
  return text;
}

// "1.8 times faster", "12% slower"; ratio: of b's speed to a's.
std::string speed_words(double ratio) {
  if (std::abs(ratio - 1) < kWorthSaying) return "equally fast";
  if (ratio > 1) return (ratio < kInTimes ? percent_text(ratio - 1) : times(ratio)) + " faster";
  return (1 / ratio < kInTimes ? percent_text(1 - ratio) : times(1 / ratio)) + " slower";
}

std::string instruction_words(double ratio) {
  if (std::abs(ratio - 1) < kWorthSaying) return "as many instructions a token";
  if (ratio >= kInTimes) return times(ratio) + " the instructions a token";
  return percent_text(std::abs(ratio - 1)) + (ratio > 1 ? " more" : " fewer") + " instructions a token";
}

// The kind of work that explains at least half of the change, if both answers were profiled.
std::string mostly(const TokenCosts& token) {
  if (!token.whole[0] || !token.whole[1] || token.parts.empty()) return "";
  const double change = *token.whole[1] - *token.whole[0];
  if (std::abs(change) < kWorthSaying * *token.whole[0]) return "";
  const PartEntry& part = token.parts.front();
  return part.change() * change > 0 && std::abs(part.change()) >= std::abs(change) / 2 ? ", mostly " + part.name : "";
}

std::string sentence_of(const AnswerProfile& a, const AnswerProfile& b, const TokenCosts& token) {
  const std::string changed = what_changed(a, b) + ": ";
  const bool has_both = !a.rows.empty() && !b.rows.empty();
  if (token.quantity == Quantity::kInstructions && *token.whole[0] > 0)
    return changed + instruction_words(*token.whole[1] / *token.whole[0]) + mostly(token);
  const auto speed_a = seconds_per_token(a), speed_b = seconds_per_token(b);
  if (!speed_a || !speed_b)
    return changed + "an answer of " + counted((speed_a ? b : a).timings.generated_tokens, "token") +
           " has no speed to compare";
  return changed + speed_words(*speed_a / *speed_b) + (has_both ? mostly(token) : "") +
         (a.is_emulated || b.is_emulated ? "; the emulator's times do not predict a GPU's" : "");
}

std::string absence_of(const AnswerProfile& a, const AnswerProfile& b) {
  const auto number = [](const AnswerProfile& answer) { return std::to_string(answer.number); };
  if (!a.rows.empty() && !b.rows.empty()) return "";
  const std::string whose = !a.rows.empty()   ? "answer " + number(b) + " has"
                            : !b.rows.empty() ? "answer " + number(a) + " has"
                                              : "answers " + number(a) + " and " + number(b) + " have";
  return whose + " totals only: kernels were not timed yet";
}

}  // namespace

std::string quantity_text(Quantity quantity, double value) {
  switch (quantity) {
    case Quantity::kRate:
      return three_digits(value);
    case Quantity::kBytes:
      return bytes_text(value);
    case Quantity::kBandwidth:
      return bandwidth_text(value);
    case Quantity::kSeconds:
      return duration_text(value);
    case Quantity::kInstructions:
      return compact_number(value);
  }
  return "";
}

bool ComparedRow::is_better() const {
  const bool is_of_speed = quantity == Quantity::kRate || quantity == Quantity::kBandwidth;
  return is_of_speed ? difference() > 0 : difference() < 0;
}

std::string difference_text(const ComparedRow& row) {
  const double difference = row.difference();
  if (difference == 0) return quantity_text(row.quantity, 0);
  return (difference < 0 ? "-" : "+") + quantity_text(row.quantity, std::abs(difference));
}

std::string ratio_text(const ComparedRow& row) {
  return row.a && row.b && *row.a > 0 ? three_digits(*row.b / *row.a) + "\u00d7" : "";
}

AnswerComparison compare_answers(const AnswerProfile& a, const AnswerProfile& b) {
  const TokenCosts token = token_of(a, b);
  return {sentence_of(a, b, token), totals_of(a, b), rows_of(token), absence_of(a, b)};
}

std::string comparison_text(const AnswerProfile& a, const AnswerProfile& b) {
  const AnswerComparison comparison = compare_answers(a, b);
  std::string text = comparison.sentence + "\n\nA\t" + title_of(a) + "\nB\t" + title_of(b) + "\n";
  if (!comparison.absence.empty()) text += comparison.absence + "\n";
  text += "\nA\tB\tB - A\tB / A\t\n";
  const auto value = [](const ComparedRow& row, const std::optional<double>& v) {
    return v ? quantity_text(row.quantity, *v) : "-";
  };
  const auto add = [&](const ComparedRow& row) {
    text += value(row, row.a) + "\t" + value(row, row.b) + "\t" + (row.a || row.b ? difference_text(row) : "-") + "\t" +
            ratio_text(row) + "\t" + (row.is_operation ? "  " : "") + row.name + "\n";
  };
  for (const ComparedRow& row : comparison.totals) add(row);
  text += "\n";
  for (const ComparedRow& row : comparison.parts) add(row);
  return text;
}

std::string title_of(const AnswerProfile& answer) {
  return std::to_string(answer.number) + ": " + answer.device + (answer.launch.empty() ? "" : ", " + answer.launch) +
         ", " + counted(answer.timings.generated_tokens, "token");
}

}  // namespace warpchat
