// One table: a row's name, its number format, and its formula.
#include "app/chat/profile/server_load.h"

#include <cstdio>

#include "models/text_format.h"

namespace warpchat {

namespace {

using Field = std::optional<double> ServerMetrics::*;
using Value = std::optional<double>;

struct Samples {
  const ServerMetrics& now;
  const ServerMetrics* before;
  double seconds;  // between them

  // A counter's growth; since the server's start without an earlier sample, or if the server was restarted.
  Value growth(Field field) const {
    const Value &end = now.*field, begin = before != nullptr ? before->*field : Value();
    return end && begin && *begin <= *end ? *end - *begin : end;
  }
  Value a_second(Field field) const {
    const bool is_known = before != nullptr && seconds > 0 && before->*field && now.*field;
    return is_known && *(before->*field) <= *(now.*field) ? Value(*growth(field) / seconds) : std::nullopt;
  }
  // The ratio of the growth, or of the totals if nothing grew.
  Value ratio(Field part, Field whole) const {
    const Value p = growth(part), w = growth(whole);
    if (p && w && *w > 0) return *p / *w;
    return now.*part && now.*whole && *(now.*whole) > 0 ? Value(*(now.*part) / *(now.*whole)) : std::nullopt;
  }
};

std::string text(const char* format, double value) {
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

std::string count(double value) { return grouped(static_cast<uint64_t>(value < 0 ? 0 : value + 0.5)); }
std::string share(double value) { return text("%.0f%%", value * 100); }
std::string speed(double value) { return text(value < 99.95 ? "%.3g tokens/s" : "%.0f tokens/s", value); }
std::string time(double value) { return value < 0.9995 ? text("%.3g ms", value * 1e3) : text("%.3g s", value); }

using M = ServerMetrics;

struct Row {
  const char* name;
  std::string (*text)(double);
  Value (*value)(const Samples&);
};
constexpr Row kRows[] = {
    {"requests running", count, [](const Samples& s) { return s.now.running; }},
    {"requests waiting", count, [](const Samples& s) { return s.now.waiting; }},
    {"KV cache in use", share, [](const Samples& s) { return s.now.kv_usage; }},
    {"prompt speed, all", speed, [](const Samples& s) { return s.a_second(&M::prompt_tokens); }},
    {"answer speed, all", speed, [](const Samples& s) { return s.a_second(&M::generated_tokens); }},
    {"prompt speed, each", speed, [](const Samples& s) { return s.ratio(&M::prompt_tokens, &M::prompt_seconds); }},
    {"answer speed, each", speed, [](const Samples& s) { return s.ratio(&M::generated_tokens, &M::generate_seconds); }},
    {"first token, mean", time, [](const Samples& s) { return s.ratio(&M::first_token_seconds, &M::first_tokens); }},
    {"prefix cache hits", share,
     [](const Samples& s) {
       const Value counted = s.ratio(&M::found_tokens, &M::looked_up_tokens);
       return counted ? counted : s.now.found_share;
     }},
    {"prompt tokens so far", count, [](const Samples& s) { return s.now.prompt_tokens; }},
    {"answer tokens so far", count, [](const Samples& s) { return s.now.generated_tokens; }},
};

}  // namespace

std::vector<LoadRow> load_rows(const LoadSample& now, const std::optional<LoadSample>& before) {
  const Samples samples{now.metrics, before ? &before->metrics : nullptr,
                        before ? std::chrono::duration<double>(now.at - before->at).count() : 0};
  std::vector<LoadRow> rows;
  for (const Row& row : kRows)
    if (const Value value = row.value(samples)) rows.push_back({row.name, row.text(*value)});
  return rows;
}

}  // namespace warpchat
