// A thread around Model::load and open_endpoint.
#include "app/desk/model_loader.h"

#include <utility>

#include "app/endpoint_choice.h"
#include "app/log.h"
#include "app/model_loading.h"
#include "engine/memory_budget.h"
#include "models/threads.h"

namespace warpchat {

namespace {
constexpr double kSmallestStep = 0.01;  // of progress that is worth telling
}

ModelLoader::~ModelLoader() {
  cancel();
  if (thread_.joinable()) thread_.join();
}

void ModelLoader::start(const ChatOptions& flags, bool beside_another, Steps steps) {
  if (thread_.joinable()) thread_.join();  // its outcome has been told
  cancelled_ = false;
  thread_ = start_thread("to load the model", [this, flags, beside_another, steps = std::move(steps)] {
    steps.first();
    steps.done(outcome_of([&](LoadOutcome& outcome) {
      flags.endpoint.empty() ? load(flags, beside_another, steps.progress, outcome) : open(flags, outcome);
    }));
  });
}

LoadOutcome ModelLoader::outcome_of(const std::function<void(LoadOutcome&)>& attempt) {
  LoadOutcome outcome;
  try {
    attempt(outcome);
  } catch (const MemoryShortage& shortage) {
    outcome.fault = shortage.what();
    outcome.lacks_memory = true;
  } catch (const std::exception& error) {
    outcome.fault = error.what();
  }
  outcome.was_cancelled = cancelled_;
  return outcome;
}

// What is shown as its sampling is what is sent: no fields that only some servers know.
void ModelLoader::open(const ChatOptions& flags, LoadOutcome& outcome) {
  const Waiting waiting{.note = [](const std::string& sentence) { log_line(sentence); },
                        .cancelled = [this] { return cancelled_.load(); }};
  outcome.settings = settings_from(flags, SamplingParams{.top_k = 0, .min_p = 0});
  outcome.other = open_endpoint(flags, waiting);
}

void ModelLoader::load(const ChatOptions& flags, bool beside_another, const std::function<void(double)>& progress,
                       LoadOutcome& outcome) {
  ModelOptions options = model_options(flags);
  options.beside_another = beside_another;
  double told = 0;
  options.progress = [&](double fraction) {
    if (cancelled_) throw Error("loading " + options.path + " was cancelled");
    if (fraction - told < kSmallestStep) return;
    told = fraction;
    progress(fraction);
  };
  auto local = std::make_shared<LocalModel>(Model::load(options));
  const Model& model = *local->model;
  outcome.settings = settings_from(flags, model.file_sampling);
  local->responder.check(outcome.settings.session);
  log_line("loaded " + describe(model) + " in " + std::to_string(model.load_seconds) + " s");
  outcome.local = std::move(local);
}

}  // namespace warpchat
