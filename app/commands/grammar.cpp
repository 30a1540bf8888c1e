// chat grammar: checks texts against a schema or a grammar, and measures masks over a vocabulary.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <random>

#include "app/commands/commands.h"
#include "app/model_choice/model_loading.h"
#include "app/platform/output.h"
#include "app/platform/text_input.h"
#include "app/settings/form_flags.h"
#include "engine/grammar/token_masks.h"
#include "models/gguf_reader.h"
#include "models/tokenizer/tokenizer.h"

namespace warpchat {

namespace {

using grammar::Constraint;

constexpr size_t kMinMasks = 400, kMaxWalkTokens = 60;

void check_usage(const GrammarOptions& o) {
  if (n_given(o) != 1) throw UsageError("give one of --json-schema, --json-schema-file, --grammar and --grammar-file");
  if (o.check.has_value() == o.bench) throw UsageError("say what to do: --check, or --bench with -m MODEL");
  if (o.lines && !o.check) throw UsageError("--lines goes with --check");
}

// false: it was rejected.
bool report_check(Constraint& constraint, std::string_view text) {
  const Constraint::Verdict verdict = constraint.check(text);
  write_text(verdict.is_accepted
                 ? "accepted\n"
                 : "rejected at byte " + std::to_string(verdict.at) + ": expected " + verdict.expected + "\n");
  return verdict.is_accepted;
}

int check(Constraint& constraint, const GrammarOptions& o) {
  const std::string text = o.check->empty() || *o.check == "-" ? read_standard_input() : read_file(*o.check);
  if (!o.lines) return report_check(constraint, text) ? 0 : 1;
  bool are_accepted = true;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    are_accepted &= report_check(constraint, rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return are_accepted ? 0 : 1;
}

// One of the tokens that a mask allows, all alike; -1: none.
Token random_token(std::span<const uint32_t> mask, std::mt19937& random) {
  size_t n = 0;
  for (uint32_t word : mask) n += static_cast<size_t>(std::popcount(word));
  if (n == 0) return -1;
  size_t wanted = std::uniform_int_distribution<size_t>(0, n - 1)(random);
  for (size_t i = 0;; ++i) {
    const auto n_here = static_cast<size_t>(std::popcount(mask[i]));
    if (wanted >= n_here) {
      wanted -= n_here;
      continue;
    }
    uint32_t word = mask[i];
    for (; wanted > 0; --wanted) word &= word - 1;
    return static_cast<Token>(i * 32 + static_cast<size_t>(std::countr_zero(word)));
  }
}

int bench(Constraint& constraint, const GrammarOptions& o) {
  const GgufFile file = GgufFile::open(find_model_file(o.model));
  const std::unique_ptr<Tokenizer> tokenizer = Tokenizer::from(file);
  const grammar::TokenTrie trie = grammar::TokenTrie::of(*tokenizer);
  grammar::TokenMasks masks(constraint, trie);
  std::mt19937 random(1);
  std::vector<double> times;  // microseconds
  while (times.size() < kMinMasks) {
    grammar::State state = constraint.start();
    for (size_t i = 0; i < kMaxWalkTokens && state != grammar::kRejected; ++i) {
      const auto start = std::chrono::steady_clock::now();
      const std::span<const uint32_t> mask = masks.mask(state);
      times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
      const Token token = random_token(mask, random);
      if (token < 0) break;  // the text is whole
      state = constraint.advance(state, tokenizer->piece(token));
    }
  }
  std::ranges::sort(times);
  const double mean = std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
  char line[128];
  std::snprintf(line, sizeof line, "masks %zu mean %.1f us p99 %.1f us max %.1f us\n", times.size(), mean,
                times[times.size() * 99 / 100], times.back());
  write_text(line);
  return 0;
}

}  // namespace

int run_command(const GrammarOptions& options) {
  check_usage(options);
  const std::unique_ptr<Constraint> constraint = compiled(form_from(options));
  return options.bench ? bench(*constraint, options) : check(*constraint, options);
}

}  // namespace warpchat
