// A new model is loaded while the old one still answers. Only if memory is short is the old one unloaded first, and
// loaded again if the new one does not fit even then.
#include "app/chat/model_controller.h"

#include <algorithm>
#include <filesystem>
#include <random>
#include <utility>

#include "app/model_choice/endpoint_choice.h"
#include "app/model_choice/model_book.h"
#include "app/model_choice/model_loading.h"
#include "app/platform/directories.h"

namespace warpchat {

namespace {

// How answers in a form are launched, if that is another way than that of free ones.
std::string launch_of_held(const Steps& steps, const AnswerForm& form) {
  const std::string_view held = steps.launch_of(1, /*is_constrained=*/true);
  const bool is_the_same = form.is_free() || held == steps.launch_of(1, /*is_constrained=*/false);
  return is_the_same ? "" : ", answers in their form by " + std::string(held);
}

constexpr SamplingParams kSampledByServers{.top_k = 0, .min_p = 0};  // without fields that only some servers know
constexpr const char* kModel = "model";                              // what errors of loading are about

// The template's variables can choose it, too.
std::optional<bool> think_in(const ChatSettings& settings) {
  const auto& variables = settings.session.template_variables;
  const auto think = variables.find(kEnableThinking);
  return think != variables.end() && think->is_boolean() ? std::optional(think->get<bool>()) : std::nullopt;
}

std::string shown_name_of(const ChatOptions& flags) {
  return flags.endpoint.empty() ? shown_name(flags.model) : flags.endpoint;
}

}  // namespace

ModelController::ModelController(StateStore& state, const ChatOptions& options, Surroundings surroundings)
    : state_(state), surroundings_(std::move(surroundings)), wanted_(options), loaded_(options) {
  try {
    updates::SetRunChoices run{options, options.kept_choices, options.draws_seed};
    if (!run.flags.think && !run.defaults.think) run.flags.think = think_in(settings_from(options, {}));
    state_.change(run);
    const bool is_flag = options.is_flag(kSystemPromptSetting, options.system_prompt);
    state_.change(updates::SetDefaultSystemPrompt{is_flag ? options.system_prompt : options.kept_system_prompt});
    state_.change(updates::SetDefaultAssistant{
        {options.assistant, is_flag ? std::nullopt : options.assistant_prompt, options.assistant_choices}});
    state_.change(updates::SetTitles{options.titles.value_or(false)});
  } catch (const std::exception& error) {
    state_.tell_error(error.what());
  }
}

ModelController::~ModelController() = default;

void ModelController::load_first() {
  const bool is_named = !wanted_.model.empty() || !wanted_.endpoint.empty();
  if (const auto last = is_named || wanted_.offline ? std::nullopt : last_known_server())
    wanted_.endpoint = last->endpoint, wanted_.model = last->model;
  try {
    if (wanted_.endpoint.empty()) wanted_.model = loaded_.model = find_model_file(wanted_.model);
  } catch (const NotCached& missing) {
    if (!wanted_.yes) return state_.tell_error(missing.what());
  } catch (const UsageError& error) {
    if (!wanted_.model.empty()) state_.tell_error(error.what());
    return;  // none, or several: the user chooses
  } catch (const std::exception& error) {
    state_.tell_error(error.what());
    return;
  }
  start({wanted_, std::nullopt, ""});
}

void ModelController::load(const LoadModel& wish) {
  if (switch_launch(wish)) return;
  if (!wish.path.empty() || !wish.endpoint.empty()) {
    const bool is_used = endpoint_ && endpoint_->url == wish.endpoint;
    if (!is_used && wish.endpoint != wanted_.endpoint)
      wanted_.api_key_env.clear();  // must not be sent to another endpoint
    wanted_.model = wish.path;
    wanted_.endpoint = wish.endpoint;
    wanted_.yes = wish.fetch;
  }
  if (wanted_.model.empty() && wanted_.endpoint.empty()) return state_.tell_error("no model is loaded; choose one");
  wanted_.device = wish.device.value_or(wanted_.device);
  wanted_.launch = wish.launch.value_or(wanted_.launch);
  wanted_.context = wish.context.value_or(wanted_.context);
  Attempt attempt{wanted_, attempt_ ? attempt_->fallback : std::nullopt, ""};
  if (!attempt_ || !is_launched_) return start(std::move(attempt));
  next_ = std::move(attempt);
  loader_.cancel();
}

// A change of launch mode needs no reload, unless the fastest mode is to be measured.
bool ModelController::switch_launch(const LoadModel& wish) {
  if (!local_ || attempt_ || !wish.path.empty() || wish.device || wish.context || !wish.launch) return false;
  const std::optional<LaunchMode> mode = launch_mode_named(*wish.launch);
  if (!mode || !model()->decoder->steps().can_launch(*mode)) return false;
  surroundings_.at_rest([this, mode = *mode] {
    if (!local_ || attempt_) return;
    try {
      model()->decoder->steps().set_launch_mode(mode);
    } catch (const Error& error) {
      return state_.tell_error(error.what(), remedy_of(error));
    }
    wanted_.launch = loaded_.launch = name_of(mode);
    state_.change(updates::SetModel{shown()});
  });
  return true;
}

bool ModelController::is_loaded(const std::string& path) const {
  std::error_code error;
  return local_ && (path == model()->file.path() || std::filesystem::equivalent(path, model()->file.path(), error));
}

// The same model is never loaded twice: it is unloaded first, if its file is still readable.
void ModelController::start(Attempt attempt) {
  attempt_ = std::move(attempt);
  is_launched_ = false;
  const uint64_t n = ++n_attempts_;
  state_.change(updates::SetLoading{
      LoadingModel{.name = shown_name_of(attempt_->flags), .is_server = !attempt_->flags.endpoint.empty()}});
  if (attempt_->fallback || !attempt_->flags.endpoint.empty() || !is_loaded(attempt_->flags.model))
    return launch(/*in_place=*/false);
  surroundings_.at_rest([this, n] {
    if (n != n_attempts_) return;
    try {
      GgufFile::open(model_options(attempt_->flags).path);
    } catch (const std::exception& error) {
      return fail({.fault = error.what()});
    }
    launch(/*in_place=*/true);
  });
}

// in_place: the loaded model is unloaded, but only after the loading thread has started.
void ModelController::launch(bool in_place) {
  const std::string name = shown_name_of(attempt_->flags);
  const auto given_up = std::make_shared<std::shared_ptr<LocalModel>>();
  if (in_place) *given_up = std::exchange(local_, nullptr);
  const auto progress = [this, name](double fraction, const std::string& transfer) {
    surroundings_.post([this, shown = LoadingModel{name, fraction, transfer}] {
      if (is_loading()) state_.change(updates::SetLoading{shown});
    });
  };
  const auto done = [this](LoadOutcome outcome) {
    auto shared = std::make_shared<LoadOutcome>(std::move(outcome));  // a Task can be copied
    surroundings_.post([this, shared] {
      if (LoadingModel shown = state_.now().loading.value_or(LoadingModel{}); shared->local || shared->other)
        shown.waits = true, state_.change(updates::SetLoading{shown});
      surroundings_.at_rest([this, shared] { end(std::move(*shared)); });
    });
  };
  try {
    loader_.start(attempt_->flags, /*another_model_loaded=*/local_ != nullptr,
                  {[given_up] { given_up->reset(); }, progress, done});
  } catch (const std::exception& error) {
    if (in_place) local_ = std::move(*given_up);
    return fail({.fault = error.what()});
  }
  is_launched_ = true;
  if (!in_place) return;
  attempt_->fallback = loaded_;
  state_.change(updates::SetModel{std::nullopt});
}

void ModelController::end(LoadOutcome outcome) {
  if (next_) {
    outcome = {};  // superseded by a newer load
    return start(*std::exchange(next_, std::nullopt));
  }
  outcome.local || outcome.other ? install(std::move(outcome)) : fail(outcome);
}

void ModelController::fail(const LoadOutcome& outcome) {
  Attempt failed = *std::exchange(attempt_, std::nullopt);
  if (outcome.lacks_memory && local_ && failed.fault.empty()) {
    failed.fallback = loaded_;
    local_.reset();
    state_.change(updates::SetModel{std::nullopt});
    return start(std::move(failed));
  }
  if (!outcome.was_cancelled)
    state_.tell_error_about(kModel, (failed.fault.empty() ? "" : failed.fault + "; then: ") + outcome.fault,
                            outcome.remedy, failed.flags.endpoint.empty() ? failed.flags.model : "");
  if (!outcome.served.empty()) surroundings_.has_several(failed.flags.endpoint, outcome.served);
  if (failed.fallback && failed.fault.empty()) return start({*failed.fallback, std::nullopt, outcome.fault});
  wanted_ = loaded_;
  settle();
}

void ModelController::install(LoadOutcome outcome) {
  local_ = std::move(outcome.local);
  other_ = std::move(outcome.other);
  endpoint_ = std::move(outcome.endpoint);
  const bool failed_before = !attempt_->fault.empty();  // the previous model is back
  wanted_ = loaded_ = std::exchange(attempt_, std::nullopt)->flags;
  base_options_ = outcome.settings.session;
  state_.change(updates::SetModel{shown()});
  if (!failed_before) state_.forget_errors_about(kModel);
  remember();
  settle();
}

// What the next start opens with. A key that only a flag names would be missing then.
void ModelController::remember() const {
  if (local_) {
    remember_model(model()->file.path(), state_directory());
    note_opened_model(model()->file.path());
    return remember_server(std::nullopt, state_directory());
  }
  if (loaded_.api_key_env.empty())
    remember_server(LastServer{loaded_.endpoint, responder()->facts().model}, state_directory());
}

void ModelController::follow_rename(const RenameEndpoint& renamed) {
  for (ChatOptions* flags : {&wanted_, &loaded_})
    if (flags->endpoint == renamed.from) flags->endpoint = renamed.to;
  if (auto last = last_server(state_directory()); last && last->endpoint == renamed.from)
    remember_server(LastServer{renamed.to, last->model}, state_directory());
}

std::string ModelController::key_in_flags(const std::string& endpoint) const {
  const bool is_named = wanted_.endpoint == endpoint || (endpoint_ && endpoint_->url == endpoint);
  if (!is_named || wanted_.api_key_env.empty()) return "";
  try {
    return find_endpoint(wanted_).key;
  } catch (const Error&) {  // asking the server gives the reason
    return "";
  }
}

void ModelController::follow_stored(const std::vector<ModelChoice>& stored) {
  if (!endpoint_ || attempt_) return;
  const auto own = std::ranges::find(stored, endpoint_->url, &ModelChoice::about);
  if (own == stored.end()) return;
  for (ChatOptions* flags : {&wanted_, &loaded_}) flags->endpoint = own->path, flags->api_key_env.clear();
  remember();
}

void ModelController::use(std::shared_ptr<Responder> responder) {
  cancel();
  local_.reset();
  other_ = std::move(responder);
  endpoint_.reset();
  state_.change(updates::SetModel{shown()});
  if (!attempt_) settle();
}

std::shared_ptr<Responder> ModelController::responder() const {
  return other_ || !local_ ? other_ : std::shared_ptr<Responder>(local_, &local_->responder);
}

void ModelController::show_status() {
  const std::optional<LoadedModel>& known = state_.now().model;
  if (local_ && known && known->status != shown().status) state_.change(updates::SetModel{shown()});
}

void ModelController::settle() {
  state_.change(updates::SetLoading{std::nullopt});
  surroundings_.settled();
}

void ModelController::cancel() {
  next_.reset();
  if (attempt_ && is_launched_) return loader_.cancel();
  if (!attempt_) return;
  attempt_.reset();
  ++n_attempts_;
  wanted_ = loaded_;
  settle();
}

void ModelController::unload() {
  cancel();
  local_.reset();
  other_.reset();
  endpoint_.reset();
  state_.change(updates::SetModel{std::nullopt});
  if (!attempt_) settle();
}

AnswerOptions ModelController::options_for(const OpenConversation& conversation, const AnswerSettings& settings) const {
  AnswerOptions options = base_options_;
  options.is_stopped = is_stopped_;
  options.system_prompt = conversation.system_prompt;
  options.drop_oldest = conversation.drops_oldest;
  options.sampling = settings.sampling;
  if (settings.random_seed) options.sampling.seed = std::random_device()();
  options.max_tokens = settings.max_tokens;
  options.template_variables.erase(kEnableThinking);
  if (settings.think) options.template_variables[kEnableThinking] = *settings.think;
  return options;
}

size_t ModelController::count(const std::string& text) const {
  return local_ ? model()->tokenizer->encode(text, /*parse_special=*/false, /*add_bos=*/false).size() : 0;
}

void ModelController::count(const CountTokens& wish) {
  state_.change(updates::SetCounted{wish.revision, static_cast<uint32_t>(count(wish.text))});
}

uint32_t ModelController::max_context() const {
  return std::min(model()->config.context_length, model()->decoder->steps().context_that_fits());
}

uint32_t ModelController::context_for(uint32_t tokens) const {
  if (!local_) return 0;
  return larger_context(model()->context, max_context(), tokens);
}

LoadedModel ModelController::shown() const {
  const ResponderFacts facts = responder()->facts();
  const std::string there = where_text_goes(facts.endpoint);
  if (!local_)
    return {.path = facts.model,
            .name = facts.model,
            .endpoint = facts.endpoint,
            .status = there.empty() ? facts.endpoint : "answers come from " + there,
            .context = facts.context,
            .file_sampling = kSampledByServers,
            .can_think = facts.can_think,
            .can_continue = facts.can_continue};
  const Steps& steps = model()->decoder->steps();
  const std::string& source =
      base_options_.chat_template.empty() ? model()->chat_template : base_options_.chat_template;
  return {.path = model()->file.path(),
          .name = model_name(*model()),
          .device = model()->device,
          .launch = steps.is_gpu() ? loaded_.launch : "",
          .status = steps.description() + launch_of_held(steps, base_options_.form) +
                    (model()->device_reason.empty() ? "" : " (" + model()->device_reason + ")"),
          .bytes = model()->file.file_bytes(),
          .context = model()->context,
          .larger_context = context_for(model()->context),
          .max_context = max_context(),
          .load_seconds = model()->load_seconds,
          .file_sampling = model()->file_sampling,
          .can_think = source.find(kEnableThinking) != std::string::npos};
}

}  // namespace warpchat
