// chat logits: float32 [n_tokens, n_vocab], row-major, of a given token sequence from position 0.
#include <span>

#include "app/commands/commands.h"
#include "app/model_choice/model_loading.h"
#include "app/platform/output.h"
#include "engine/sampler.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

std::vector<Token> checked_tokens(const std::vector<int64_t>& ids, const Model& model) {
  std::vector<Token> tokens;
  for (int64_t id : ids) {
    if (id < 0 || id >= model.config.n_vocab)
      throw Error("--tokens: " + std::to_string(id) + " is not a token of " + model.file.path() +
                  "; its ids are 0 to " + grouped(model.config.n_vocab - 1));
    tokens.push_back(static_cast<Token>(id));
  }
  return tokens;
}

}  // namespace

int run_command(const LogitsOptions& options) {
  const std::unique_ptr<Model> model = load_model(options, static_cast<uint32_t>(options.tokens.size()));
  const std::vector<Token> tokens = checked_tokens(options.tokens, *model);
  OutputFile file(options.output);
  Decoder& decoder = *model->decoder;
  const auto write = [&](std::span<const float> logits) {
    require_finite(logits);
    file.write(logits.data(), logits.size_bytes());
  };
  const bool done = options.token_by_token && decoder.steps().teacher_force(tokens, 0, write);
  const size_t columns = options.token_by_token ? 1 : decoder.max_logits_columns();
  for (size_t position = 0; !done && position < tokens.size(); position += columns) {
    const auto pass = std::span(tokens).subspan(position, std::min(columns, tokens.size() - position));
    decoder.forward(pass, static_cast<uint32_t>(position), Logits::kAll);
    for (uint32_t column = 0; column < pass.size(); ++column) write(decoder.logits(column));
  }
  file.finish();
  save_profile(*model, options);
  return 0;
}

}  // namespace warpchat
