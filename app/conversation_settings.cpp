// The commands for the model, the settings, and what there is to know about both.
#include <utility>

#include "app/conversation.h"
#include "app/directories.h"
#include "app/model_loading.h"
#include "app/output.h"
#include "models/message.h"

namespace warpchat {

void Conversation::change_model(const std::string& name) {
  ModelFlags flags = options_;
  flags.model = name;
  std::unique_ptr<Model> next = load_model(flags, /*context=*/0, /*sequences=*/1, /*beside_another=*/true);
  ChatSettings settings = settings_;
  settings.session.sampling = settings_from(options_, next->file_sampling).session.sampling;
  auto session = std::make_unique<ChatSession>(*next, settings.session);
  session->restore(session_->messages());
  session_ = std::move(session);
  model_ = std::move(next);
  settings_ = std::move(settings);
  last_timings_.reset();
  remember_model(model_->file.path(), state_directory());
  say(status_ = describe(*model_));
}

void Conversation::show_models() const {
  std::string text = "now: " + model_->file.path();
  for (const FoundModel& model : find_models(model_folders())) text += "\n     " + model.name;
  say(text);
}

void Conversation::set(const std::string& argument) {
  if (argument.empty()) return write_output(list_settings(settings_));
  const size_t blank = std::min(argument.find_first_of(" \t"), argument.size());
  const size_t value = std::min(argument.find_first_not_of(" \t", blank), argument.size());
  change_setting(settings_, argument.substr(0, blank), argument.substr(value));
  say(argument.substr(0, blank) + (value < argument.size() ? ": " + argument.substr(value) : " is empty now"));
}

void Conversation::show() const {
  write_output("model     " + model_->file.path() + "\n          " + describe(*model_) + "\ntokens    " +
               std::string(model_->tokenizer->method()) + "\ncontext   " + grouped(session_->context_used()) + " of " +
               counted(session_->context_size(), "token") + " used by " +
               counted(session_->messages().size(), "message") + "\n\nsettings\n" + list_settings(settings_));
}

// Measuring takes time, so it begins when somebody asks: with the next answer.
void Conversation::perf(const std::string& onoff) {
  if (!onoff.empty() && onoff != "on" && onoff != "off")
    throw Error("/perf takes on or off, found '" + onoff + "'; alone it shows the last answer's timings");
  const bool always = settings_.verbose || !options_.profile.empty();
  const bool measured = std::exchange(measures_, onoff != "off") || always;
  if (onoff == "off")
    return say(always ? "kernels are measured all the same, for verbose or --profile"
                      : "the next answers are timed as a whole only");
  if (onoff == "on") return say("what every kernel takes is measured from the next answer on");
  if (!last_timings_) throw Error("there is no answer yet; what every kernel takes is measured from the next one on");
  write_output(timing_report(*last_timings_, settings_.session.sampling.seed, model_->decoder->steps().profile()));
  if (!measured) say("(what every kernel takes is measured from the next answer on; /perf off ends that)");
}

}  // namespace warpchat
