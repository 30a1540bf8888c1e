// A thread around Model::load.
#include "app/gui/worker/model_loader.h"

#include <utility>

#include "app/log.h"
#include "app/model_loading.h"
#include "engine/memory_budget.h"
#include "models/threads.h"

namespace warpchat::gui {

namespace {
constexpr double kSmallestStep = 0.01;  // of progress that is worth telling
}

ModelLoader::~ModelLoader() {
  cancel();
  if (thread_.joinable()) thread_.join();
}

void ModelLoader::start(const ChatOptions& flags, bool beside_another, std::function<void(double)> progress,
                        std::function<void(LoadOutcome)> done) {
  if (thread_.joinable()) thread_.join();  // its outcome has been told
  cancelled_ = false;
  try {
    thread_ = start_thread("to load the model", [this, flags, beside_another, progress = std::move(progress), done] {
      done(load(flags, beside_another, progress));
    });
  } catch (const Error& error) {
    done({.fault = error.what()});
  }
}

LoadOutcome ModelLoader::load(const ChatOptions& flags, bool beside_another,
                              const std::function<void(double)>& progress) {
  LoadOutcome outcome;
  try {
    ModelOptions options = model_options(flags);
    options.beside_another = beside_another;
    double told = 0;
    options.progress = [&](double fraction) {
      if (cancelled_) throw Error("loading " + options.path + " was cancelled");
      if (fraction - told < kSmallestStep) return;
      told = fraction;
      progress(fraction);
    };
    outcome.model = Model::load(options);
    outcome.settings = settings_from(flags, outcome.model->file_sampling);
    outcome.session = std::make_unique<ChatSession>(*outcome.model, outcome.settings.session);
    log_line("loaded " + describe(*outcome.model) + " in " + std::to_string(outcome.model->load_seconds) + " s");
  } catch (const MemoryShortage& shortage) {
    outcome.fault = shortage.what();
    outcome.lacks_memory = true;
  } catch (const std::exception& error) {
    outcome.fault = error.what();
  }
  outcome.was_cancelled = cancelled_;
  if (!outcome.session) outcome.model.reset();
  return outcome;
}

}  // namespace warpchat::gui
