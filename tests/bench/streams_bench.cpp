// Many answers by the scheduler on the CPU: streams_bench MODEL.gguf [PROMPT]. Prints tokens per second of 1 to 8, 12,
// 16 and 32 answers side by side. Also the gap between one answer's tokens while a prompt of PROMPT tokens (4,000) is
// read. Wall-clock times: needs an idle machine.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>

#include "engine/cpu/cpu_steps.h"
#include "engine/sequences/scheduler.h"
#include "models/error.h"
#include "models/gguf_reader.h"
#include "tests/bench/median.h"

namespace warpchat {
namespace {

using Clock = std::chrono::steady_clock;
constexpr uint32_t kMaxStreams = 32, kRounds = 3;
constexpr int32_t kTokens = 64;

std::vector<Token> random_tokens(uint32_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Token> tokens(n);
  for (Token& token : tokens) token = static_cast<Token>(1000 + random() % 20000);
  return tokens;
}

// Seconds before each of the answer's tokens.
std::vector<double> gaps_of(ScheduledAnswer& answer) {
  std::vector<double> gaps;
  for (;;) {
    const std::optional<AnswerStep> step = answer.next(std::chrono::hours(1));
    if (const auto* next = std::get_if<NextToken>(&*step)) gaps.push_back(next->seconds);
    const auto* end = std::get_if<GenerationEnd>(&*step);
    if (end != nullptr && end->reason == EndReason::kFailed) throw Error(end->error);
    if (end != nullptr) return gaps;
  }
}

// Median gap before the next 100 tokens of a running answer.
double usual_gap(ScheduledAnswer& answer) {
  std::vector<double> gaps;
  while (gaps.size() < 100)
    if (const auto step = answer.next(std::chrono::hours(1)); const auto* next = std::get_if<NextToken>(&*step))
      gaps.push_back(next->seconds);
  return median(gaps);
}

// Total rate of n answers of kTokens each. Their prompts have two tokens, whose time counts.
double tokens_per_second(Scheduler& scheduler, uint32_t n) {
  std::vector<std::shared_ptr<ScheduledAnswer>> answers;
  const auto start = Clock::now();
  for (uint32_t i = 0; i < n; ++i)
    answers.push_back(scheduler.start(
        {.prompt = {1, static_cast<Token>(1000 + i)}, .max_tokens = kTokens, .ignore_end = true, .drafts = false}));
  for (const auto& answer : answers) gaps_of(*answer);
  return n * kTokens / std::chrono::duration<double>(Clock::now() - start).count();
}

int run(int n_arguments, char** arguments) {
  if (n_arguments < 2) throw Error("usage: streams_bench MODEL.gguf [PROMPT]");
  const uint32_t n_prompt = n_arguments > 2 ? static_cast<uint32_t>(std::atoi(arguments[2])) : 4000;
  const GgufFile file = GgufFile::open(arguments[1]);
  const ModelConfig config = read_model_config(file);
  const ModelTensors tensors = find_model_tensors(file, config);
  CpuOptions options;
  options.context = 2 * n_prompt + 1024;
  options.sequences = kMaxStreams;
  options.pages = kMaxStreams * 4 + 2 * pages_of(options.context);
  Decoder decoder(config, make_cpu_steps(config, tensors, options));
  Scheduler scheduler(decoder, [](Token) { return false; });
  std::vector<double> alone;
  for (const uint32_t n : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 12u, 16u, kMaxStreams}) {
    std::vector<double> rates;
    for (uint32_t i = 0; i < kRounds; ++i) rates.push_back(tokens_per_second(scheduler, n));
    alone.push_back(median(rates));
    std::printf("%2u at once: %7.1f tokens/s, %.2f times one\n", n, alone.back(), alone.back() / alone.front());
  }
  for (uint32_t round = 0; round < kRounds; ++round) {
    const auto stream = scheduler.start(
        {.prompt = {1, 2, 3}, .max_tokens = static_cast<int32_t>(2 * n_prompt), .ignore_end = true, .drafts = false});
    const double usual = usual_gap(*stream);
    std::vector<double> beside;
    const auto prompt = scheduler.start({.prompt = random_tokens(n_prompt, round), .max_tokens = 0});
    std::optional<GenerationEnd> read;
    while (!read) {
      const auto step = stream->next(std::chrono::hours(1));
      if (const auto* end = std::get_if<GenerationEnd>(&*step))
        throw Error("the prompt was not read to its end: " +
                    (end->error.empty() ? "the answer beside it ended first" : end->error));
      if (const auto* next = std::get_if<NextToken>(&*step)) beside.push_back(next->seconds);
      while (const auto of_prompt = prompt->next({}))
        if (const auto* end = std::get_if<GenerationEnd>(&*of_prompt)) read = *end;
    }
    const double later = usual_gap(*stream);  // if that is longer
    for (size_t i = 0; i < beside.size(); ++i)
      beside[i] /= usual + (later - usual) * static_cast<double>(i) / static_cast<double>(beside.size());
    std::ranges::sort(beside);
    std::printf(
        "a prompt of %u tokens beside it, in %.1f s and %zu tokens of %.2f to %.2f ms: those take %.2f times as long, "
        "95%% "
        "below %.2f, 99%% below %.2f, most %.2f\n",
        n_prompt, read->timings.prompt_seconds, beside.size(), 1e3 * usual, 1e3 * later, median(beside),
        beside[beside.size() * 95 / 100], beside[beside.size() * 99 / 100], beside.back());
    stream->stop();
    gaps_of(*stream);
  }
  return 0;
}

}  // namespace
}  // namespace warpchat

int main(int n_arguments, char** arguments) {
  try {
    return warpchat::run(n_arguments, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "streams_bench: %s\n", error.what());
    return 1;
  }
}
