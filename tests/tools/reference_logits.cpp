// The reference decoder from the command line. TOKENS is 1,2,3 or @FILE.
//   reference_logits -m MODEL --tokens TOKENS -o OUT.f32        float32 [n_tokens, n_vocab], row-major
//   reference_logits -m MODEL --tokens TOKENS --compare GOT.f32 relative error and mean KL of GOT
//   reference_logits -m MODEL --tokens TOKENS --perplexity C    as `chat perplexity -c C`: windows of C tokens, the
//                                                               second half of each scored
//   reference_logits --compare GOT.f32 --to REF.f32 --vocabulary N
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "models/error.h"
#include "tests/reference/closeness.h"
#include "tests/reference/reference_decoder.h"
#include "tests/support/arguments.h"

namespace warpchat {
namespace {

std::vector<float> read_floats(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error("cannot read " + path);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  if (bytes.empty() || bytes.size() % sizeof(float) != 0) {
    throw Error(path + " has " + std::to_string(bytes.size()) + " bytes, expected a number of float32 values");
  }
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

void write_floats(const std::string& path, const std::vector<double>& logits) {
  const std::vector<float> values(logits.begin(), logits.end());
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
  if (!out.flush()) throw Error("cannot write " + path);
}

void print_closeness(const std::vector<float>& got, const std::vector<double>& ref, size_t n_vocab) {
  if (got.size() != ref.size()) {
    throw Error("cannot compare " + std::to_string(got.size()) + " logits with " + std::to_string(ref.size()));
  }
  const Closeness closeness = compare_logits(got, ref, n_vocab);
  std::printf("relative_error %.4g mean_kl %.4g\n", closeness.relative_error, closeness.mean_kl);
}

double perplexity(const GgufFile& file, std::span<const int32_t> tokens, size_t window) {
  if (window < 4 || tokens.size() < window) {
    throw Error("perplexity needs a window of 4 or more tokens and that many tokens, found " +
                std::to_string(tokens.size()) + " for " + std::to_string(window));
  }
  double sum = 0;
  size_t scored = 0;
  for (size_t at = 0; at + window <= tokens.size(); at += window) {
    const std::span part = tokens.subspan(at, window);
    sum += negative_log_likelihood(reference_logits(file, part), part, window / 2);
    scored += window - 1 - window / 2;
    std::fprintf(stderr, "%zu tokens: perplexity %.4f\n", at + window, std::exp(sum / static_cast<double>(scored)));
  }
  return std::exp(sum / static_cast<double>(scored));
}

int reference_logits_main(int argc, char** argv) {
  const Arguments arguments(argc, argv, {"-m", "--tokens", "-o", "--compare", "--to", "--vocabulary", "--perplexity"});
  if (arguments.has("--to")) {
    const std::vector<float> got = read_floats(arguments.get("--compare")), ref = read_floats(arguments.get("--to"));
    const size_t n_vocab = arguments.get_count("--vocabulary", 0);
    if (n_vocab == 0 || ref.size() % n_vocab != 0) throw Error("--vocabulary must divide the number of logits");
    print_closeness(got, {ref.begin(), ref.end()}, n_vocab);
    return 0;
  }
  const GgufFile file = GgufFile::open(arguments.get("-m"));
  const std::vector<int32_t> tokens = parse_tokens(arguments.get("--tokens"));
  if (tokens.empty()) throw Error("--tokens is empty");
  if (arguments.has("--perplexity")) {
    std::printf("perplexity %.6f\n", perplexity(file, tokens, arguments.get_count("--perplexity", 512)));
    return 0;
  }
  if (!arguments.has("-o") && !arguments.has("--compare")) throw Error("give -o, --compare or --perplexity");
  const std::vector<double> logits = reference_logits(file, tokens);
  if (arguments.has("-o")) write_floats(arguments.get("-o"), logits);
  if (arguments.has("--compare")) {
    print_closeness(read_floats(arguments.get("--compare")), logits, logits.size() / tokens.size());
  }
  return 0;
}

}  // namespace
}  // namespace warpchat

int main(int argc, char** argv) {
  return warpchat::run_tool("reference_logits", warpchat::reference_logits_main, argc, argv);
}
