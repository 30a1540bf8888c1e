// A generation is a series of requests: the prompt, retries after a wait or with fewer fields, and the list of models
// after "no such model". All but start(), stop() and the queue's end runs on the loop's thread. The end of the answer
// is reported when the stream has it; its connection may close later.
#include "engine/remote/remote_responder.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "engine/http/http_url.h"
#include "engine/queue.h"
#include "engine/remote/chat_stream.h"
#include "engine/remote/form_check.h"
#include "engine/remote/prompt_length.h"
#include "engine/remote/refusal.h"
#include "models/out_of_memory.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr uint32_t kMaxAtOnce = 64;
constexpr uint64_t kMaxAnswerBytes = uint64_t{1} << 30;  // per answer, with JSON overhead
constexpr milliseconds kUsageLimit{2000};                // silence after a finish reason: usage may follow
constexpr milliseconds kCloseLimit{1000};                // silence after the answer; the connection may be used again

std::string sentence_of(const std::exception_ptr& fault) {
  try {
    std::rethrow_exception(fault);
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  } catch (const std::exception& error) {
    return error.what();
  }
}

bool is_stop(const std::exception_ptr& fault) {
  try {
    std::rethrow_exception(fault);
  } catch (const HttpStopped&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

struct RemoteResponder::Shared {
  Endpoint endpoint;
  RemoteModel model;
  std::mutex mutex = {};
  std::set<std::string> left_out = {};       // fields without which the server answers
  PromptLengths lengths = {};                // counts reported by the server
  std::atomic<bool> opens_thoughts = false;  // the last thought that ended was not marked where it began
  std::atomic<uint32_t> n_running = 0;
  HttpLoop loop{http_options(endpoint)};

  std::string host() const { return host_of(endpoint.url); }
};

class RemoteResponder::Answering : public std::enable_shared_from_this<Answering> {
 public:
  Answering(Shared& shared, const Prompt& prompt, const AnswerOptions& options)
      : shared_(shared), prompt_(prompt), options_(options) {
    ++shared_.n_running;
  }
  ~Answering() { --shared_.n_running; }

  void require_room() const;  // throws PromptTooLong
  void begin(milliseconds delay = milliseconds(0));
  void stop();
  void on_bytes(std::span<const std::byte> bytes);
  void end(const HttpAnswer& answer, const std::exception_ptr& fault);

  Queue<Event> events;

 private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - asked_).count(); }
  RemoteRequest make_request();
  bool presumes_thought() const;
  ChatStream make_stream();
  void start(HttpRequest http, HttpLoop::OnEnd on_end, milliseconds delay);
  void end_stream();
  std::string form_fault(EndReason reason) const;
  void finish(GenerationEnd end);
  void push_end(GenerationEnd end) noexcept;
  void fail(const std::string& sentence, Remedy remedy = {}) {
    GenerationEnd end = stream_.cut(EndReason::kFailed, sentence);
    end.remedy = remedy;
    finish(std::move(end));
  }
  void refuse(const HttpAnswer& answer);
  bool retry_without_fields(const HttpAnswer& answer);
  void keep_left_out();
  bool tries_later(const HttpAnswer& answer);
  void ask_for_models(const std::string& sentence);

  Shared& shared_;
  const Prompt prompt_;
  const AnswerOptions options_;
  std::set<std::string> left_out_ = {};  // by this answer, before it is known that this helps
  std::vector<std::string> notices_ = {};
  RemoteRequest request_ = make_request();
  FormCheck form_{prompt_, options_.form};
  ChatStream stream_ = make_stream();
  Clock::time_point asked_ = Clock::now();
  Queue<Event>::Place end_place_ = Queue<Event>::reserve();
  uint64_t n_bytes_ = 0;
  int n_tries_ = 1;

  std::mutex mutex_;  // guards the id of the running request
  uint64_t running_ = 0;
  bool is_stopped_ = false;
  bool has_ended_ = false;  // written by the loop's thread, which reads it without the mutex
};

class RemoteResponder::RemoteGeneration : public Generation {
 public:
  RemoteGeneration(Shared& shared, const Prompt& prompt, const AnswerOptions& options, const OnReady& ready)
      : answering_(std::make_shared<Answering>(shared, prompt, options)) {
    answering_->require_room();
    if (ready) ready();
    answering_->begin();
  }
  ~RemoteGeneration() override {
    stop();
    while (next_event(milliseconds(1000)) || !has_ended_) {
    }
  }

  std::optional<Event> next_event(milliseconds timeout) override {
    if (has_ended_) return std::nullopt;
    std::optional<Event> event = answering_->events.pop(timeout);
    has_ended_ = event && std::holds_alternative<GenerationEnd>(*event);
    return event;
  }

  void stop() override { answering_->stop(); }

 private:
  std::shared_ptr<Answering> answering_;
  bool has_ended_ = false;
};

RemoteRequest RemoteResponder::Answering::make_request() {
  std::lock_guard lock(shared_.mutex);
  std::set<std::string> left_out = shared_.left_out;
  left_out.insert(left_out_.begin(), left_out_.end());
  return remote_request(prompt_, options_, shared_.model, left_out);
}

// A template opens the thought in the prompt of each answer, unless it is asked not to.
bool RemoteResponder::Answering::presumes_thought() const {
  const auto& variables = options_.template_variables;
  const auto* messages = std::get_if<std::vector<Message>>(&prompt_);
  const bool is_off = variables.contains(kEnableThinking) && variables[kEnableThinking] == false;
  return shared_.opens_thoughts && !is_off && messages != nullptr &&
         request_.begin.state == ReasoningSplitter::State::kUndecided;
}

ChatStream RemoteResponder::Answering::make_stream() {
  return ChatStream({.host = shared_.host(),
                     .splits_reasoning = std::holds_alternative<std::vector<Message>>(prompt_),
                     .begin = request_.begin,
                     .presumes_thought = presumes_thought(),
                     .limits_tokens = options_.max_tokens >= 0,
                     .context = shared_.model.context,
                     .key = shared_.endpoint.key},
                    [this](Event event) {
                      if (std::holds_alternative<TextDelta>(event)) keep_left_out();
                      if (const auto* found = std::get_if<Reclassified>(&event))
                        shared_.opens_thoughts = found->thinking;
                      form_.observe(event);
                      events.push(std::move(event));
                    });
}

// Rejects a prompt that is certainly too long. The server decides about the rest.
void RemoteResponder::Answering::require_room() const {
  const uint32_t context = shared_.model.context;
  if (context == 0) return;
  std::lock_guard lock(shared_.mutex);
  const auto messages = request_.body.find("messages");
  const uint32_t n = messages != request_.body.end() ? shared_.lengths.at_least(*messages)
                                                     : min_tokens(std::get<std::string>(prompt_));
  if (n > context)
    throw PromptTooLong("the prompt needs " + grouped(n) + " tokens or more, the context of " + shared_.host() +
                            " holds " + grouped(context),
                        n, context);
}

void RemoteResponder::Answering::finish(GenerationEnd end) {
  const auto messages = request_.body.find("messages");
  if (end.timings.prompt_tokens > 0 && messages != request_.body.end()) {
    std::lock_guard lock(shared_.mutex);
    shared_.lengths.remember(*messages, end.timings.prompt_tokens);
  }
  push_end(std::move(end));
}

// Allocates no memory: whoever waits for the end must get it.
void RemoteResponder::Answering::push_end(GenerationEnd end) noexcept {
  {
    std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  end_place_.front() = std::move(end);
  events.push_reserved(std::move(end_place_));
}

void RemoteResponder::Answering::begin(milliseconds delay) {
  HttpRequest http;
  http.url = shared_.endpoint.url + request_.path;
  http.json = request_.body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  http.longest_silence = [this] {
    const Endpoint& endpoint = shared_.endpoint;
    const milliseconds stall = stream_.has_tokens() ? endpoint.stall : endpoint.first_token_limit;
    if (has_ended_) return kCloseLimit;
    return stream_.is_ending() ? std::min(stall, kUsageLimit) : stall;
  };
  http.payload_bytes = [this] { return stream_.payload_bytes(); };
  http.on_body = [this](std::span<const std::byte> bytes) { on_bytes(bytes); };
  start(
      std::move(http),
      [self = shared_from_this()](const HttpAnswer& answer, const std::exception_ptr& fault) {
        self->end(answer, fault);
      },
      delay);
}

void RemoteResponder::Answering::start(HttpRequest http, HttpLoop::OnEnd on_end, milliseconds delay) {
  auto guarded = [self = shared_from_this(), on_end = std::move(on_end)](HttpAnswer answer,
                                                                         const std::exception_ptr& fault) {
    try {
      on_end(std::move(answer), fault);
    } catch (const std::bad_alloc&) {
      if (!self->has_ended_) self->push_end({EndReason::kFailed, {}, "out of memory"});  // too short to need any
    }
  };
  std::lock_guard lock(mutex_);
  running_ = shared_.loop.start(std::move(http), std::move(guarded), delay);
  if (is_stopped_) shared_.loop.stop(running_);
}

void RemoteResponder::Answering::stop() {
  std::lock_guard lock(mutex_);
  if (has_ended_) return;
  is_stopped_ = true;
  shared_.loop.stop(running_);
}

void RemoteResponder::Answering::on_bytes(std::span<const std::byte> bytes) {
  n_bytes_ += bytes.size();
  if (n_bytes_ > kMaxAnswerBytes)
    throw Error(shared_.host() + " answers with more than " + grouped(kMaxAnswerBytes) + " bytes; left");
  if (has_ended_) return;
  stream_.add({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, seconds());
  if (stream_.is_done()) end_stream();
}

void RemoteResponder::Answering::end_stream() {
  try {
    GenerationEnd end = stream_.finish(seconds());
    end.form_fault = form_fault(end.reason);
    keep_left_out();
    finish(std::move(end));
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

std::string RemoteResponder::Answering::form_fault(EndReason reason) const {
  try {
    const std::string fault = form_.fault(reason);
    return fault.empty() ? "" : shared_.host() + " did not keep to " + fault;
  } catch (const Error& error) {
    return "the form of the answer could not be checked: " + std::string(error.what());
  }
}

void RemoteResponder::Answering::end(const HttpAnswer& answer, const std::exception_ptr& fault) {
  if (has_ended_) return;
  if (fault && is_stop(fault)) return finish(stream_.cut(EndReason::kStopped));
  if (fault && !stream_.is_complete()) return fail(sentence_of(fault));
  if (!fault && answer.status / 100 != 2) return refuse(answer);
  end_stream();
}

void RemoteResponder::Answering::refuse(const HttpAnswer& answer) {
  if (retry_without_fields(answer) || tries_later(answer)) return;
  const std::string sentence = refusal(shared_.endpoint, answer, n_tries_);
  if (answer.status == 404) return ask_for_models(sentence);
  fail(sentence, remedy_of_refusal(answer));
}

// Terminates, since each retry has fewer fields.
bool RemoteResponder::Answering::retry_without_fields(const HttpAnswer& answer) {
  if (answer.status != 400 && answer.status != 422) return false;
  const std::set<std::string> refused = refused_fields(request_.body, server_words(answer.body, shared_.endpoint.key));
  if (refused.empty()) return false;
  left_out_.insert(refused.begin(), refused.end());
  notices_.push_back(shared_.host() + " does not take " + word_list(refused) + ": asked again without");
  request_ = make_request();
  begin();
  return true;
}

// The server answers without the refused fields, so it is they that it refuses. A title's own fields are left out of
// titles alone.
void RemoteResponder::Answering::keep_left_out() {
  for (std::string& notice : std::exchange(notices_, {})) events.push(Notice{std::move(notice)});
  if (!options_.in_front || left_out_.empty()) return;
  std::lock_guard lock(shared_.mutex);
  shared_.left_out.merge(std::exchange(left_out_, {}));
}

bool RemoteResponder::Answering::tries_later(const HttpAnswer& answer) {
  const std::optional<NextTry> next = next_try(shared_.endpoint, answer, n_tries_);
  if (!next) return false;
  ++n_tries_;
  events.push(Notice{next->sentence});
  begin(next->wait);
  return true;
}

// The path or the model may be unknown: the list of models decides.
void RemoteResponder::Answering::ask_for_models(const std::string& sentence) {
  HttpRequest http;
  http.url = shared_.endpoint.url + "/models";
  http.timeout = std::chrono::seconds(30);
  const auto on_end = [self = shared_from_this(), sentence](const HttpAnswer& answer, const std::exception_ptr& fault) {
    if (fault && is_stop(fault)) return self->finish(self->stream_.cut(EndReason::kStopped));
    std::vector<RemoteModel> models;
    try {
      if (!fault && answer.status == 200) models = parse_models(answer.body);
    } catch (const Error&) {  // the original error is reported anyway
    }
    const std::string& id = self->shared_.model.id;
    const bool is_present =
        std::any_of(models.begin(), models.end(), [&](const auto& model) { return model.id == id; });
    self->fail(models.empty() || is_present
                   ? sentence
                   : self->shared_.host() + " has no model '" + printable(id) + "'; it has " + near_names(models, id));
  };
  start(std::move(http), on_end, milliseconds(0));
}

RemoteResponder::RemoteResponder(Endpoint endpoint, RemoteModel model)
    : shared_(new Shared{std::move(endpoint), std::move(model)}) {
  if (is_mistral(shared_->endpoint)) shared_->model.kind = ServerKind::kMistral;
}

RemoteResponder::~RemoteResponder() = default;

ResponderFacts RemoteResponder::facts() const {
  return {.model = shared_->model.id,
          .endpoint = shared_->endpoint.url,
          .context = shared_->model.context,
          .can_think = true,
          .opens_thoughts = shared_->opens_thoughts,
          .counts_tokens = false,
          .can_continue = continues_answers(shared_->model.kind),
          .at_once = kMaxAtOnce};
}

const Endpoint& RemoteResponder::endpoint() const { return shared_->endpoint; }

std::unique_ptr<Generation> RemoteResponder::start(const Prompt& prompt, const AnswerOptions& options,
                                                   const OnReady& ready) {
  if (shared_->n_running >= kMaxAtOnce)
    throw Error(std::to_string(kMaxAtOnce) + " answers are on their way; stop one first");
  AnswerOptions own = options;
  if (options.in_front)
    own.sampling.seed += n_generations_++;  // a regenerated answer should differ; a title draws none
  return std::make_unique<RemoteGeneration>(*shared_, prompt, own, ready);
}

}  // namespace warpchat
