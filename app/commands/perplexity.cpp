// chat perplexity: the text in windows of c tokens that do not overlap; each token of a window's second half is scored
// given the window's tokens before it. The same procedure as llama-perplexity, so that values can be compared: where
// the model wants a bos, it stands before the text and takes the place of each window's first token.
#include <cmath>
#include <cstdio>
#include <span>

#include "app/commands/commands.h"
#include "app/model_choice/model_loading.h"
#include "app/platform/log.h"
#include "app/platform/output.h"
#include "app/platform/text_input.h"
#include "engine/sampler.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

// -log softmax(logits)[token]
double negative_log_likelihood(std::span<const float> logits, Token token) {
  double largest = logits[0];
  for (float logit : logits) largest = std::max(largest, double{logit});
  double sum = 0;
  for (float logit : logits) sum += std::exp(logit - largest);
  return largest + std::log(sum) - logits[static_cast<size_t>(token)];
}

// The sum over the scored tokens of one window: those after position c / 2. No pass crosses it, so that only scored
// positions cost logits.
double score_window(Decoder& decoder, std::span<const Token> window) {
  const size_t first_scored = window.size() / 2;
  double sum = 0;
  for (size_t position = 0, n; position + 1 < window.size(); position += n) {
    const bool scored = position >= first_scored;
    const uint32_t max = scored ? decoder.max_logits_columns() : decoder.max_columns();
    n = std::min<size_t>(max, (scored ? window.size() : first_scored) - position);
    decoder.forward(window.subspan(position, n), static_cast<uint32_t>(position),
                    scored ? Logits::kAll : Logits::kNone);
    for (size_t i = position; scored && i < position + n && i + 1 < window.size(); ++i) {
      const std::span<const float> logits = decoder.logits(static_cast<uint32_t>(i - position));
      require_finite(logits);
      sum += negative_log_likelihood(logits, window[i + 1]);
    }
  }
  return sum;
}

}  // namespace

int run_command(const PerplexityOptions& options) {
  if (options.context < 4) throw UsageError("perplexity needs windows of at least 4 tokens; raise -c");
  const std::string text = without_last_newline(read_file(options.file));
  require_text(text, options.file);
  const size_t window = static_cast<size_t>(options.context);
  const std::unique_ptr<Model> model = load_model(options, static_cast<uint32_t>(window));
  const Tokenizer& tokenizer = *model->tokenizer;
  std::vector<Token> tokens = tokenizer.encode(text, /*parse_special=*/false, /*add_bos=*/true);
  const size_t n_windows = tokens.size() / window;
  if (n_windows == 0)
    throw Error(options.file + " has " + counted(tokens.size(), "token") + ", a window needs " + grouped(window) +
                "; use a longer text or a smaller -c");
  double sum = 0;
  size_t n_scored = 0;
  for (size_t i = 0; i < n_windows; ++i) {
    const auto tokens_of_window = std::span(tokens).subspan(i * window, window);
    if (tokenizer.adds_bos() && tokenizer.bos() >= 0) tokens_of_window[0] = tokenizer.bos();
    sum += score_window(*model->decoder, tokens_of_window);
    n_scored += window - 1 - window / 2;
    char line[96];
    std::snprintf(line, sizeof line, "window %zu of %zu: perplexity so far %.4f\n", i + 1, n_windows,
                  std::exp(sum / static_cast<double>(n_scored)));
    write_error(line);
  }
  save_profile(*model, options);
  char line[64];
  std::snprintf(line, sizeof line, "perplexity %.6f\n", std::exp(sum / static_cast<double>(n_scored)));
  write_output(line);
  return 0;
}

}  // namespace warpchat
