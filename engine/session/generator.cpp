// Prefill of what the cache lacks, then one token after the other until the answer ends.
#include "engine/session/generator.h"

#include <algorithm>
#include <cassert>
#include <exception>
#include <utility>

#include "engine/session/thinking.h"

namespace warpchat {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

size_t common_prefix(const std::vector<Token>& a, const std::vector<Token>& b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

}  // namespace

Generator::Generator(Model& model) : model_(model) {}

Generator::~Generator() {
  stop();
  wait();
}

void Generator::stop() { stop_ = true; }

void Generator::wait() {
  if (worker_.joinable()) worker_.join();
}

void Generator::start(GenerationRequest request) {
  assert(!busy_ && !request.prompt.empty() && request.prompt.size() < model_.context);
  wait();
  stop_ = false;
  busy_ = true;
  worker_ = std::thread([this, owned = std::move(request)] { run(owned); });
}

void Generator::run(const GenerationRequest& request) {
  GenerationEnd end{EndReason::kFailed, {}, ""};
  end.timings.prompt_tokens = static_cast<uint32_t>(request.prompt.size());
  try {
    end.reason = prefill(request, end.timings) ? generate(request, end.timings) : EndReason::kStopped;
  } catch (const std::exception& error) {
    end.error = error.what();
    cached_.clear();  // what the failed pass left in the cache is unknown
  }
  busy_ = false;
  events_.push(std::move(end));
}

// False if stopped. The last prompt token is always computed: its logits give the first token of the answer.
bool Generator::prefill(const GenerationRequest& request, Timings& timings) {
  const auto start = Clock::now();
  const size_t n_prompt = request.prompt.size();
  cached_.resize(std::min(common_prefix(cached_, request.prompt), n_prompt - 1));
  timings.reused_tokens = static_cast<uint32_t>(cached_.size());
  const uint32_t total = timings.prompt_tokens - timings.reused_tokens;
  while (cached_.size() < n_prompt) {
    const uint32_t position = static_cast<uint32_t>(cached_.size());
    const size_t n = std::min<size_t>(model_.decoder->max_columns(), n_prompt - position);
    const std::span<const Token> tokens(request.prompt.data() + position, n);
    const Logits wanted = position + n == n_prompt ? Logits::kLast : Logits::kNone;
    if (!model_.decoder->forward(tokens, position, wanted, &stop_)) return false;
    cached_.insert(cached_.end(), tokens.begin(), tokens.end());
    last_column_ = static_cast<uint32_t>(n) - 1;
    events_.push(PromptProgress{static_cast<uint32_t>(cached_.size()) - timings.reused_tokens, total});
  }
  model_.decoder->logits(last_column_);  // a GPU may still be computing them
  timings.prompt_seconds = seconds_since(start);
  return true;
}

EndReason Generator::generate(const GenerationRequest& request, Timings& timings) {
  Sampler sampler(request.sampling);
  for (Token token : request.prompt) sampler.accept(token);
  StreamDetokenizer detokenizer(*model_.tokenizer);
  ThinkingTracker thinking(request.starts_thinking);
  const auto start = Clock::now();
  auto last = start;
  EndReason reason = EndReason::kTokenLimit;
  for (int64_t n = 0; request.max_tokens < 0 || n < request.max_tokens; ++n) {
    if (stop_) {
      reason = EndReason::kStopped;
      break;
    }
    const Token token = sampler.sample(model_.decoder->logits(last_column_));
    sampler.accept(token);
    if (n == 0) timings.first_token_seconds = timings.prompt_seconds + seconds_since(start);
    ++timings.generated_tokens;
    if (!request.ignore_end && model_.tokenizer->ends_generation(token)) {
      reason = EndReason::kEndOfText;
      break;
    }
    auto [text, inside] = thinking.add(detokenizer.add(token));
    events_.push(TextDelta{std::move(text), token, seconds_since(last), inside});
    last = Clock::now();
    if (cached_.size() + 1 >= model_.context) {
      reason = EndReason::kContextFull;
      break;
    }
    if (n + 1 == request.max_tokens) break;
    if (!model_.decoder->forward({&token, 1}, static_cast<uint32_t>(cached_.size()), Logits::kLast, &stop_)) {
      reason = EndReason::kStopped;
      break;
    }
    cached_.push_back(token);
    last_column_ = 0;
  }
  timings.generate_seconds = seconds_since(start);
  for (auto [text, inside] : {thinking.add(detokenizer.flush()), thinking.finish()})
    if (!text.empty()) events_.push(TextDelta{text, -1, 0, inside});
  return reason;
}

}  // namespace warpchat
