// The examples of engine/README.md: what the first puts into a cache in f32, the second attends to.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "engine/gpu/attention_launch.h"
#include "tests/support/random_floats.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace readme {
// clang-format off
#include "tests/gpu_decoder/readme_scatter.h"
#include "tests/gpu_decoder/readme_attention.h"
// clang-format on
}  // namespace readme

namespace {

std::string contents(const char* path) {
  std::stringstream text;
  text << std::ifstream(std::filesystem::path(WARPCHAT_SOURCE_DIR) / path).rdbuf();
  return text.str();
}

TEST(EngineReadme, ExamplesAreThese) {
  const std::string page = contents("engine/README.md");
  size_t at = 0;
  for (const char* path : {"tests/gpu_decoder/readme_scatter.h", "tests/gpu_decoder/readme_attention.h"}) {
    at = page.find("```cpp\n", at) + 7;
    const std::string code = contents(path), shown = page.substr(at, page.find("```", at) - at);
    EXPECT_EQ(shown, code.substr(code.find("#include"))) << path;
    at += shown.size() + 3;
  }
}

// A head of 64 dimensions, rotated as the example's spec says.
std::vector<double> rotated(std::span<const float> head, uint32_t position) {
  std::vector<double> x(head.begin(), head.end());
  for (uint32_t i = 0; i < 32; ++i) {
    const double angle = position * std::pow(1e4, -(i / 32.0));
    const double a = x[i], b = x[i + 32];
    x[i] = a * std::cos(angle) - b * std::sin(angle);
    x[i + 32] = a * std::sin(angle) + b * std::cos(angle);
  }
  return x;
}

TEST(EngineReadme, ExamplesAttend) {
  const ContextPointer context = Context::open(*test_device().table, test_device().gpu);
  const Stream stream(context);
  const auto put = [&](const DeviceMemory& to, const auto& from) {
    stream.upload(to.address(), std::as_bytes(std::span(from)));
    stream.wait();
  };
  const readme::Cache cache{context};
  const uint32_t pages[] = {1, 0}, positions[] = {0, 1, 2};
  const uint64_t table[] = {cache.table.address()};
  put(cache.table, pages), put(cache.tables, table);
  const std::vector<float> q = normal_floats(3 * 128, 1), k = normal_floats(3 * 64, 2), v = normal_floats(3 * 64, 3);
  const readme::Tokens tokens{{context, q.size() * 4, "q"},
                              {context, k.size() * 4, "k"},
                              {context, v.size() * 4, "v"},
                              {context, sizeof positions, "positions"}};
  put(tokens.q, q), put(tokens.k, k), put(tokens.v, v), put(tokens.positions, positions);
  const DeviceMemory out(context, q.size() * 4, "out");
  readme::scatter(stream, tokens, cache);
  readme::attend(stream, tokens, cache, out);
  std::vector<float> got(q.size());
  stream.download(std::as_writable_bytes(std::span(got)), out.address());
  stream.wait();
  for (uint32_t token = 0; token < 3; ++token)
    for (uint32_t head = 0; head < 2; ++head) {
      const size_t first = token * 128 + head * 64;
      const std::vector<double> query = rotated(std::span(q).subspan(first, 64), token);
      std::vector<double> sums(64);
      double total = 0;
      for (uint32_t p = 0; p <= token; ++p) {
        const std::vector<double> key = rotated(std::span(k).subspan(p * 64, 64), p);
        double score = 0;
        for (uint32_t d = 0; d < 64; ++d) score += query[d] * key[d] / 8;
        total += std::exp(score);
        for (uint32_t d = 0; d < 64; ++d) sums[d] += std::exp(score) * v[p * 64 + d];
      }
      for (uint32_t d = 0; d < 64; ++d) EXPECT_NEAR(got[first + d], sums[d] / total, 3e-6) << token << " " << head;
    }
}

}  // namespace
}  // namespace warpchat
