// Without somebody watching, the engine measures nothing.
#include "app/desk/profile_watch.h"

#include "app/desk/collect_profile.h"
#include "app/model_loading.h"
#include "engine/profile.h"

namespace warpchat {

namespace {

constexpr std::chrono::milliseconds kBetweenShows{250};

Profile& profile_of(Model& model) { return model.decoder->steps().profile(); }
std::string status_on(const Board& board) { return board.now().model ? board.now().model->status : ""; }

}  // namespace

void ProfileWatch::set_on(bool on, Model* model, const Endpoint* endpoint) {
  if (on && load_) return load_->begin(status_on(board_));  // asked for anew
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
    load_ = std::make_shared<LoadWatch>(board_, post_, *endpoint);
    load_->begin(status_on(board_));
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

void ProfileWatch::begin_answer(Model& model) { profile_of(model).reset(); }

void ProfileWatch::look(Model& model) {
  if (on_ && Clock::now() - shown_at_ >= kBetweenShows) show(model);
}

void ProfileWatch::show(Model& model) {
  if (!on_) return;
  board_.change(updates::SetProfile{collect_profile(model, status_on(board_))});
  shown_at_ = Clock::now();
}

void ProfileWatch::save(Model* model, const std::string& path) const {
  if (model == nullptr) throw Error("there is no profile: no model is loaded on this machine");
  ModelFlags flags;
  flags.profile = path;
  save_profile(*model, flags);
}

}  // namespace warpchat
