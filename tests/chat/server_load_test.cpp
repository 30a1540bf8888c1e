// Rows of a server's load from one sample and from two; the regularity of an answer's tokens.
#include "app/chat/profile/server_load.h"

#include <gtest/gtest.h>

#include "app/chat/state/answer_pace.h"

namespace warpchat {
namespace {

using std::chrono::seconds;
using Rows = std::vector<std::pair<std::string, std::string>>;

LoadSample sample(const char* text, int at) {
  return {parse_metrics(text), std::chrono::steady_clock::time_point(seconds(at))};
}

Rows rows(const LoadSample& now, const std::optional<LoadSample>& before = {}) {
  Rows all;
  for (const LoadRow& row : load_rows(now, before)) all.emplace_back(row.name, row.value);
  return all;
}

constexpr char kVllm[] =
    "vllm:num_requests_running 3\nvllm:num_requests_waiting 0\nvllm:kv_cache_usage_perc 0.256\n"
    "vllm:prompt_tokens_total 10000\nvllm:generation_tokens_total 2000\n"
    "vllm:time_to_first_token_seconds_sum 5\nvllm:time_to_first_token_seconds_count 20\n"
    "vllm:prefix_cache_queries_total 1000\nvllm:prefix_cache_hits_total 500\n";
constexpr char kVllmLater[] =
    "vllm:num_requests_running 4\nvllm:prompt_tokens_total 12000\nvllm:generation_tokens_total 2100\n"
    "vllm:time_to_first_token_seconds_sum 7\nvllm:time_to_first_token_seconds_count 21\n"
    "vllm:prefix_cache_queries_total 2000\nvllm:prefix_cache_hits_total 1400\n";

TEST(ServerLoad, OfOneSample) {
  EXPECT_EQ(rows(sample(kVllm, 0)), (Rows{{"requests running", "3"},
                                          {"requests waiting", "0"},
                                          {"KV cache in use", "26%"},
                                          {"first token, mean", "250 ms"},
                                          {"prefix cache hits", "50%"},
                                          {"prompt tokens so far", "10,000"},
                                          {"answer tokens so far", "2,000"}}));
}

TEST(ServerLoad, BetweenTwoSamples) {
  EXPECT_EQ(rows(sample(kVllmLater, 2), sample(kVllm, 0)), (Rows{{"requests running", "4"},
                                                                 {"prompt speed, all", "1000 tokens/s"},
                                                                 {"answer speed, all", "50 tokens/s"},
                                                                 {"first token, mean", "2 s"},
                                                                 {"prefix cache hits", "90%"},
                                                                 {"prompt tokens so far", "12,000"},
                                                                 {"answer tokens so far", "2,100"}}));
}

TEST(ServerLoad, OfAServerThatWasStartedAnew) {
  const Rows anew = rows(sample(kVllm, 9), sample(kVllmLater, 8));
  EXPECT_EQ(anew, rows(sample(kVllm, 9)));
}

TEST(ServerLoad, OfLlamaCpp) {
  EXPECT_EQ(rows(sample("llamacpp:requests_processing 1\nllamacpp:requests_deferred 0\n"
                        "llamacpp:prompt_tokens_total 300\nllamacpp:prompt_tokens_cached_total 100\n"
                        "llamacpp:prompt_seconds_total 0.5\nllamacpp:tokens_predicted_total 90\n"
                        "llamacpp:tokens_predicted_seconds_total 2\n",
                        0)),
            (Rows{{"requests running", "1"},
                  {"requests waiting", "0"},
                  {"prompt speed, each", "600 tokens/s"},
                  {"answer speed, each", "45 tokens/s"},
                  {"prefix cache hits", "25%"},
                  {"prompt tokens so far", "300"},
                  {"answer tokens so far", "90"}}));
  EXPECT_EQ(rows(sample("sglang:cache_hit_rate 0.75\n", 0)), (Rows{{"prefix cache hits", "75%"}}));
}

ChatMessage answer(const std::vector<float>& times) {
  ChatMessage message;
  for (const float time : times) message.tokens.push_back({0, time});
  return message;
}

TEST(AnswerPace, OfAnAnswer) {
  std::vector<float> times{0.5f};
  for (int i = 1; i <= 100; ++i) times.push_back(0.001f * static_cast<float>(101 - i));  // 100 ms to 1 ms
  ChatMessage message = answer(times);
  EXPECT_EQ(gaps_text(message), "median 50 ms, 95% within 95 ms, longest 100 ms");
  EXPECT_EQ(longest_gaps(message.tokens, 4), (std::vector<float>{0.1f, 0.001f * 75, 0.05f, 0.001f * 25}));
  EXPECT_EQ(longest_gaps(message.tokens, 1000).size(), 100u);
  EXPECT_EQ(pace_lines(message), (std::vector<std::string>{"first token after 500 ms, then 19.8 tokens/s",
                                                           "gaps: median 50 ms, 95% within 95 ms, longest 100 ms"}));
  message.timings = Timings{.prompt_tokens = 1024,
                            .reused_tokens = 512,
                            .generated_tokens = 404,
                            .generate_seconds = 4,
                            .first_token_seconds = 0.5};
  EXPECT_EQ(pace_lines(message),
            (std::vector<std::string>{"first token after 500 ms, then 101 tokens/s",
                                      "gaps: median 50 ms, 95% within 95 ms, longest 100 ms (404 tokens in 101 pieces)",
                                      "prompt: 1,024 tokens, 512 of them from a cache"}));
}

TEST(AnswerPace, OfHardlyAnAnswer) {
  EXPECT_TRUE(pace_lines(answer({})).empty());
  EXPECT_EQ(pace_lines(answer({2})), std::vector<std::string>{"first token after 2 s"});
  EXPECT_EQ(gaps_text(answer({2})), "");
  EXPECT_EQ(gaps_text(answer({2, 1})), "median 1 s, 95% within 1 s, longest 1 s");
  EXPECT_TRUE(longest_gaps({}, 5).empty());
}

}  // namespace
}  // namespace warpchat
