// One request at a time; the HTTP thread only posts the answer.
#include "app/chat/load_watch.h"

#include <utility>

#include "engine/http/http_url.h"

namespace warpchat {

namespace {
constexpr std::chrono::seconds kBetweenSamples{1}, kBetweenVainTries{10};
constexpr std::chrono::milliseconds kMinBetween{900};  // shortest interval with meaningful speeds
}  // namespace

LoadWatch::LoadWatch(StateStore& state, std::function<void(Task)> post, const Endpoint& endpoint)
    : state_(state), post_(std::move(post)), endpoint_(endpoint), loop_(http_options(endpoint)) {}

void LoadWatch::begin(const std::string& status) {
  status_ = status;
  show({.host = host_of(endpoint_.url)});
  if (!asks_) ask();
}

void LoadWatch::turn() {
  if (!asks_ && Clock::now() >= next_) ask();
}

void LoadWatch::ask() {
  asks_ = true;
  loop_.start(metrics_request(endpoint_),
              [weak = weak_from_this(), post = post_](const HttpAnswer& answer, const std::exception_ptr& fault) {
                post([weak, answer, fault] {
                  if (const auto self = weak.lock()) self->on_answer(answer, fault);
                });
              });
}

void LoadWatch::on_answer(const HttpAnswer& answer, const std::exception_ptr& fault) {
  EndpointProfile profile{.host = host_of(endpoint_.url), .has_answered = true};
  try {
    if (fault) std::rethrow_exception(fault);
    LoadSample now{metrics_of(endpoint_, answer), Clock::now()};
    const bool is_later = !last_ || now.at - last_->at >= kMinBetween;
    if (is_later && last_) before_ = last_;
    profile.load = load_rows(now, before_ ? before_ : last_);
    if (is_later) last_ = std::move(now);
  } catch (const std::exception& error) {
    profile.absence = error.what();
  }
  asks_ = false;
  next_ = Clock::now() + (profile.absence.empty() ? kBetweenSamples : kBetweenVainTries);
  show(std::move(profile));
}

void LoadWatch::show(EndpointProfile profile) {
  if (state_.now().profile->endpoint == profile) return;  // unchanged: no redraw
  ProfilerData data{.device = status_};
  data.endpoint = std::move(profile);
  state_.change(updates::SetProfile{std::make_shared<const ProfilerData>(std::move(data))});
}

}  // namespace warpchat
