// A thread around Download::run, Model::load and open_endpoint.
#include "app/chat/model_loader.h"

#include <chrono>
#include <utility>

#include "app/model_choice/endpoint_choice.h"
#include "app/model_choice/model_download.h"
#include "app/model_choice/model_loading.h"
#include "app/model_choice/transfer_line.h"
#include "app/platform/log.h"
#include "engine/memory_budget.h"
#include "models/threads.h"

namespace warpchat {

namespace {
constexpr double kSmallestStep = 0.01;  // of progress that is worth reporting
constexpr std::chrono::milliseconds kBetweenFrames{100};
}  // namespace

ModelLoader::~ModelLoader() {
  cancel();
  if (thread_.joinable()) thread_.join();
}

void ModelLoader::start(const ChatOptions& flags, bool another_model_loaded, Steps steps) {
  if (thread_.joinable()) thread_.join();  // its outcome has been reported
  cancelled_ = false;
  const auto failed = [done = steps.done](const char* sentence) {
    LoadOutcome outcome;
    outcome.fault = sentence;
    done(std::move(outcome));
  };
  const auto body = [this, flags, another_model_loaded, steps = std::move(steps)] {
    steps.first();
    steps.done(outcome_of([&](LoadOutcome& outcome) {
      flags.endpoint.empty() ? load(flags, another_model_loaded, steps, outcome) : open(flags, outcome);
    }));
  };
  thread_ = start_thread("to load the model", body, failed);
}

LoadOutcome ModelLoader::outcome_of(const std::function<void(LoadOutcome&)>& attempt) {
  LoadOutcome outcome;
  try {
    attempt(outcome);
  } catch (const SeveralServedModels& several) {
    outcome.fault = "the server has several models";
    outcome.remedy = {Remedy::Kind::kChooseServed};
    outcome.served = several.models;
  } catch (const std::exception& error) {
    outcome.fault = error.what();
    outcome.remedy = remedy_of(error);
    outcome.lacks_memory = dynamic_cast<const MemoryShortage*>(&error) != nullptr;
  }
  outcome.was_cancelled = cancelled_;
  return outcome;
}

// The shown sampling values are the ones sent: without fields that only some servers know.
void ModelLoader::open(const ChatOptions& flags, LoadOutcome& outcome) {
  const Waiting waiting{.note = [](const std::string& sentence) { log_line(sentence); },
                        .cancelled = [this] { return cancelled_.load(); }};
  outcome.settings = settings_from(flags, SamplingParams{.top_k = 0, .min_p = 0});
  std::shared_ptr<RemoteResponder> remote = open_endpoint(flags, waiting);
  outcome.endpoint = remote->endpoint();
  outcome.other = std::move(remote);
}

void ModelLoader::cancel() {
  cancelled_ = true;
  std::lock_guard lock(mutex_);
  if (download_ != nullptr) download_->pause();
}

std::string ModelLoader::fetch(const HubModelName& name, bool offline, const Steps& steps) {
  TransferRate rate;
  TransferRate::Time told{};
  const auto tell = [&](const DownloadProgress& now) {
    const TransferRate::Time time = std::chrono::steady_clock::now();
    rate.add(time, now.bytes);
    if (time - told < kBetweenFrames && now.bytes < now.total) return;
    told = time;
    const double fraction = now.total > 0 ? static_cast<double>(now.bytes) / static_cast<double>(now.total) : 0;
    steps.progress(fraction, transfer_line(now, rate.bytes_per_second()));
  };
  Download download(hub_settings_of_user(offline), name,
                    {tell, [&](const std::string& sentence) { log_line(sentence), steps.progress(0, sentence); }});
  const auto announce = [this](Download* running) {
    std::lock_guard lock(mutex_);
    download_ = running;
  };
  announce(&download);
  const std::shared_ptr<void> at_end(nullptr, [&](void*) { announce(nullptr); });
  if (cancelled_) download.pause();
  std::string path = download.run();
  log_line("downloaded " + path);
  return path;
}

void ModelLoader::load(const ChatOptions& flags, bool another_model_loaded, const Steps& steps, LoadOutcome& outcome) {
  ModelOptions options;
  try {
    options = model_options(flags);
  } catch (const NotCached& missing) {
    if (!flags.yes) throw;
    ChatOptions fetched = flags;
    fetched.model = fetch(missing.name, flags.offline, steps);
    options = model_options(fetched);
  }
  options.another_model_loaded = another_model_loaded;
  double told = 0;
  options.progress = [&](double fraction) {
    if (cancelled_) throw Error("loading " + options.path + " was cancelled");
    if (fraction - told < kSmallestStep) return;
    told = fraction;
    steps.progress(fraction, "");
  };
  auto local = std::make_shared<LocalModel>(Model::load(options));
  const Model& model = *local->model;
  outcome.settings = settings_from(flags, model.file_sampling);
  local->responder.check(outcome.settings.session);
  log_line("loaded " + describe(model) + " in " + std::to_string(model.load_seconds) + " s");
  outcome.local = std::move(local);
}

}  // namespace warpchat
