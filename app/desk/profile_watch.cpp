// Without somebody watching, the engine measures nothing.
#include "app/desk/profile_watch.h"

#include "app/desk/collect_profile.h"
#include "app/model_loading.h"
#include "engine/profile.h"

namespace warpchat {

namespace {

constexpr std::chrono::milliseconds kBetweenShows{250};

Profile& profile_of(Model& model) { return model.decoder->steps().profile(); }

}  // namespace

void ProfileWatch::set_on(bool on, Model* model) {
  if (on == on_) return;
  on_ = on;
  if (model == nullptr) return;
  begin_model(*model);
  if (on) show(*model);
}

void ProfileWatch::begin_model(Model& model) {
  watch_profile(model, on_);
  if (on_) show(model);
}

void ProfileWatch::begin_answer(Model& model) { profile_of(model).reset(); }

void ProfileWatch::look(Model& model) {
  if (on_ && Clock::now() - shown_at_ >= kBetweenShows) show(model);
}

void ProfileWatch::show(Model& model) {
  if (!on_) return;
  board_.change(updates::SetProfile{collect_profile(model, board_.now().model ? board_.now().model->status : "")});
  shown_at_ = Clock::now();
}

void ProfileWatch::save(Model* model, const std::string& path) const {
  if (model == nullptr) throw Error("there is no profile: no model is loaded");
  ModelFlags flags;
  flags.profile = path;
  save_profile(*model, flags);
}

}  // namespace warpchat
