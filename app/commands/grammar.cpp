// chat grammar: checks texts against a schema or a grammar, and measures masks and decoding with it.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <numeric>
#include <random>

#include "app/commands/commands.h"
#include "app/model_choice/model_loading.h"
#include "app/platform/output.h"
#include "app/platform/text_input.h"
#include "app/settings/form_flags.h"
#include "engine/grammar/answer_constraint.h"
#include "engine/grammar/token_masks.h"
#include "engine/sequences/scheduler.h"
#include "engine/session/held_answer.h"
#include "models/gguf_reader.h"
#include "models/tokenizer/tokenizer.h"

namespace warpchat {

namespace {

using grammar::Constraint;

constexpr size_t kMinMasks = 400, kMaxWalkTokens = 60;
constexpr uint32_t kDecodedContext = 256;
constexpr uint64_t kMinAnswers = 4, kMaxAnswers = 60, kMinDecoded = 240;  // to measure the speed of decoding

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

void bench_masks(Constraint& constraint, const GgufFile& file) {
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
}

struct Decoded {
  uint64_t tokens = 0;
  double seconds = 0;
  double per_second() const { return seconds > 0 ? static_cast<double>(tokens) / seconds : 0; }
};

// One answer, added to the sums. The number of its tokens.
uint32_t decode(Scheduler& scheduler, AnswerRequest request, Decoded& sums) {
  const std::shared_ptr<ScheduledAnswer> answer = scheduler.start(std::move(request));
  for (;;) {
    const std::optional<AnswerStep> step = answer->next(std::chrono::hours(1));
    const auto* end = step ? std::get_if<GenerationEnd>(&*step) : nullptr;
    if (end == nullptr) continue;
    if (end->reason == EndReason::kFailed) throw Error(end->error);
    sums.tokens += end->timings.generated_tokens;
    sums.seconds += end->timings.generate_seconds;
    return end->timings.generated_tokens;
  }
}

// Answers in the form and free ones of the same number of tokens, in turns. Without drafts, since small models that
// repeat themselves gain more by those than a mask costs.
void bench_decoding(const AnswerForm& form, const GrammarOptions& o) {
  ModelFlags flags;
  static_cast<CommonOptions&>(flags) = o;
  flags.model = o.model;
  const std::unique_ptr<Model> model = load_model(flags, kDecodedContext);
  const Tokenizer& tokenizer = *model->tokenizer;
  const auto ends = [&](Token token) { return tokenizer.ends_generation(token); };
  AnswerVocabulary vocabulary(tokenizer);
  Scheduler scheduler(*model->decoder, ends, tokenizer.end_of_generation());
  AnswerRequest request;
  // Each answer's own prompt is computed first, as a user's is; else the form's compilation leaves cold caches.
  const auto numbered_prompt = [&](uint64_t n) {
    const std::string text = std::to_string(n) + ". An example, written as JSON:\n";
    return tokenizer.encode(text, /*parse_special=*/false, /*add_bos=*/true);
  };
  request.sampling = model->file_sampling;
  request.max_tokens = kMaxWalkTokens;
  request.drafts = false;
  Decoded held, free;
  for (uint64_t n = 0; n < kMaxAnswers && (n < kMinAnswers || held.tokens < kMinDecoded); ++n) {
    request.sampling.seed = n;
    AnswerRequest in_form = request, without = request;
    in_form.prompt = numbered_prompt(2 * n + 1), without.prompt = numbered_prompt(2 * n + 2);
    in_form.constraint = std::make_shared<HeldAnswer>(grammar::compile(form), nullptr, vocabulary, HeldAnswer::Begin{});
    without.max_tokens = static_cast<int32_t>(decode(scheduler, std::move(in_form), held));
    without.ignore_end = true;
    decode(scheduler, std::move(without), free);
  }
  char line[160];
  std::snprintf(line, sizeof line, "decoding %" PRIu64 " tokens held %.1f t/s free %.1f t/s ratio %.2f\n", held.tokens,
                held.per_second(), free.per_second(), held.per_second() / free.per_second());
  write_text(line);
}

}  // namespace

int run_command(const GrammarOptions& options) {
  check_usage(options);
  const AnswerForm form = form_from(options);
  const std::unique_ptr<Constraint> constraint = compiled(form);
  if (!options.bench) return check(*constraint, options);
  bool has_weights = false;
  {
    const GgufFile file = GgufFile::open(find_model_file(options.model));
    has_weights = !file.tensors().empty();
    bench_masks(*constraint, file);
  }
  if (has_weights) bench_decoding(form, options);
  return 0;
}

}  // namespace warpchat
