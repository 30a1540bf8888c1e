// Profiling is off unless the profiler is open or a trace was requested.
#include "app/chat/profile_watch.h"

#include "app/chat/profile/collect_profile.h"
#include "app/model_choice/model_loading.h"
#include "engine/http/http_url.h"
#include "engine/profile.h"

namespace warpchat {

namespace {

constexpr std::chrono::milliseconds kBetweenShows{250};

Profile& profile_of(Model& model) { return model.decoder->steps().profile(); }
std::string status_on(const StateStore& state) { return state.now().model ? state.now().model->status : ""; }

}  // namespace

void ProfileWatch::set_on(bool on, Model* model, const Endpoint* endpoint) {
  if (on && load_) return load_->begin(status_on(state_));  // asks again
  if (on == on_) return;
  on_ = on;
  begin(model, endpoint);
}

void ProfileWatch::begin(Model* model, const Endpoint* endpoint) {
  load_.reset();
  if (model != nullptr) {
    measure(*model);
    show(*model);
  } else if (on_ && endpoint != nullptr) {
    load_ = std::make_shared<LoadWatch>(state_, post_, *endpoint);
    load_->begin(status_on(state_));
  }
}

void ProfileWatch::measure(Model& model) const {
  if (!keeps_trace_) return watch_profile(model, on_);
  profile_of(model).keep_trace();
  model.decoder->steps().set_measuring(true);
  if (on_) profile_of(model).begin_watching();
}

void ProfileWatch::look_at_endpoint() {
  if (load_) load_->turn();
}

void ProfileWatch::begin_answer(Model& model) {
  profile_of(model).reset();
  had_settled_ = model.decoder->steps().is_launch_mode_final();
}

void ProfileWatch::look(Model& model) {
  if (on_ && Clock::now() - shown_at_ >= kBetweenShows) show(model);
}

void ProfileWatch::show(Model& model) {
  if (!on_) return;
  state_.change(updates::SetProfile{collect_profile(model, status_on(state_))});
  shown_at_ = Clock::now();
}

void ProfileWatch::keep(Model* model, const Answering& answering, const ChatMessage& answer, bool is_held) {
  AnswerProfile kept{.ended = std::time(nullptr), .model = answer.model, .timings = answering.timings()};
  if (answer.role != "assistant" || kept.timings.generated_tokens == 0) return;
  kept.number = ++n_answers_;
  if (!answer.endpoint.empty()) kept.device = host_of(answer.endpoint);
  if (model != nullptr && state_.now().model) {
    Steps& steps = model->decoder->steps();
    kept.model = state_.now().model->name;
    kept.device = state_.now().model->device;
    kept.launch = had_settled_ ? steps.launch_of(1, is_held) : "several modes";
    kept.is_emulated = steps.is_emulated();
    for (OperationProfile& row : profile_of(*model).snapshot(0, 0).token_rows)
      if (row.calls > 0 || row.counters.instructions > 0) kept.rows.push_back(std::move(row));
    kept.n_passes = n_passes_of(kept.rows);
  }
  state_.change(updates::KeepAnswer{std::make_shared<const AnswerProfile>(std::move(kept))});
}

void ProfileWatch::save(Model* model, const std::string& path) const {
  if (model == nullptr) throw Error("nothing to profile: no model is loaded on this machine");
  ModelFlags flags;
  flags.profile = path;
  save_profile(*model, flags);
}

}  // namespace warpchat
