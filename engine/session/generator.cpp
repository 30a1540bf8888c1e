// Prefill of what the cache lacks, then one token after the other until the answer ends.
#include "engine/session/generator.h"

#include <algorithm>
#include <cassert>
#include <exception>
#include <new>
#include <utility>

#include "engine/profile.h"
#include "engine/token_source.h"
#include "models/threads.h"

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
  try {
    worker_ = start_thread("to answer", [this, owned = std::move(request)] { run(owned); });
  } catch (...) {
    busy_ = false;
    throw;
  }
}

void Generator::run(const GenerationRequest& request) {
  GenerationEnd end{EndReason::kFailed, {}, ""};
  end.timings.prompt_tokens = static_cast<uint32_t>(request.prompt.size());
  try {
    end.reason = prefill(request, end.timings) ? generate(request, end.timings) : EndReason::kStopped;
  } catch (const std::bad_alloc&) {
    end.error = "out of memory; close other programs, or use a smaller model or a smaller context";
  } catch (const std::exception& error) {
    end.error = error.what();
  }
  if (end.reason == EndReason::kFailed) cached_.clear();  // what the failed pass left in the cache is unknown
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
  const auto count = [&](std::span<const Token> of_pass) {
    cached_.insert(cached_.end(), of_pass.begin(), of_pass.end());
    events_.push(PromptProgress{static_cast<uint32_t>(cached_.size()) - timings.reused_tokens, total});
  };
  const std::span<const Token> missing = std::span(request.prompt).subspan(cached_.size());
  const std::optional<uint32_t> column =
      model_.decoder->prefill(missing, timings.reused_tokens, /*sequence=*/0, {&stop_, count});
  if (!column) return false;
  last_column_ = *column;
  model_.decoder->wait();
  timings.prompt_seconds = seconds_since(start);
  return true;
}

EndReason Generator::generate(const GenerationRequest& request, Timings& timings) {
  StreamDetokenizer detokenizer(*model_.tokenizer);
  const auto start = Clock::now();
  auto last = start;
  const uint64_t room = model_.context - cached_.size();  // the last token of a full context is never decoded
  const uint64_t most = request.max_tokens < 0 ? room : std::min<uint64_t>(request.max_tokens, room);
  EndReason reason = most == room ? EndReason::kContextFull : EndReason::kTokenLimit;
  std::unique_ptr<TokenSource> source;
  if (most > 0)
    source = make_token_source(
        *model_.decoder, {request.sampling, request.prompt, static_cast<uint32_t>(cached_.size()), last_column_, most});
  Profile& profile = model_.decoder->steps().profile();
  profile.begin_tokens();
  std::optional<Token> before;
  for (uint64_t n = 0; n < most; ++n) {
    const std::optional<Token> token = source->next(stop_);
    if (!token) {
      reason = EndReason::kStopped;
      break;
    }
    if (before) cached_.push_back(*before);
    before = token;
    if (n == 0) timings.first_token_seconds = timings.prompt_seconds + seconds_since(start);
    ++timings.generated_tokens;
    if (!request.ignore_end && model_.tokenizer->ends_generation(*token)) {
      reason = EndReason::kEndOfText;
      break;
    }
    std::string text = detokenizer.add(*token);
    const double seconds = seconds_since(last);
    last = Clock::now();
    profile.end_token(seconds);
    events_.push(TextDelta{std::move(text), *token, seconds, /*thinking=*/false});
  }
  timings.generate_seconds = seconds_since(start);
  if (std::string text = detokenizer.flush(); !text.empty()) events_.push(TextDelta{std::move(text), -1, 0, false});
  return reason;
}

}  // namespace warpchat
