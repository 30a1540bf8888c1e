// From flags to ModelOptions, then loading behind a spinner.
#include "app/model_choice/model_loading.h"

#include <filesystem>

#include "app/model_choice/model_lookup.h"
#include "app/model_choice/model_places.h"
#include "app/platform/directories.h"
#include "app/platform/log.h"
#include "app/platform/output.h"
#include "app/platform/signals.h"
#include "app/platform/spinner.h"
#include "app/settings/model_flags.h"
#include "engine/memory_budget.h"
#include "engine/profile_report.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr uint32_t kAnswersAtOnce =
    4;  // conversations of a window; decoding four sequences takes little longer than one

// Where the context follows from what is to be computed, no flag makes it smaller.
std::unique_ptr<Model> load(const ModelOptions& options, bool has_context_flag) {
  try {
    return Model::load(options);
  } catch (const MemoryShortage& shortage) {
    if (has_context_flag || shortage.remedy.kind != Remedy::Kind::kSmallerContext) throw;
    throw Error(shortage.what() + ("; at most " + counted(shortage.remedy.context, "token")) + " fit");
  }
}

}  // namespace

std::string find_model_file(const std::string& name) {
  std::error_code error;
  if (std::filesystem::is_regular_file(name, error)) return name;  // no other folder is looked at, which may be slow
  return resolve_model(name, model_places(), state_directory());
}

ModelOptions model_options(const ModelFlags& flags) {
  require_valid_flags(flags);
  const std::optional<LaunchMode> launch = launch_mode_named(flags.launch);
  ModelOptions options;
  options.device = flags.device;
  options.launch = launch;
  options.check_device = !flags.no_device_check;
  options.device_record = device_record_file();
  options.cache = cache_types(flags);
  options.sequences = kAnswersAtOnce;
  options.cache_bytes = uint64_t{flags.cache_ram} << 20;
  options.path = find_model_file(flags.model);
  options.threads = flags.threads;
  options.context = flags.context > 0 ? static_cast<uint32_t>(flags.context) : 0;
  options.context_from_model = flags.context == 0;
  options.batch = std::min(flags.batch, flags.micro_batch);
  return options;
}

std::unique_ptr<Model> load_model(const ModelFlags& flags, uint32_t context, uint32_t sequences,
                                  bool another_model_loaded) {
  ModelOptions options = model_options(flags);
  options.sequences = sequences;
  options.cache_bytes.reset();
  options.another_model_loaded = another_model_loaded;
  if (context > 0) {
    options.context = context;
    options.context_from_model = false;
  }
  Spinner spinner("loading " + printable(shown_name(options.path)));
  options.progress = [&](double fraction) {
    spinner.set_progress(fraction);
    if (take_interrupt()) throw Error("loading " + options.path + " was stopped");
  };
  std::unique_ptr<Model> model = load(options, /*has_context_flag=*/context == 0);
  if (flags.layers_on_gpu && *flags.layers_on_gpu < model->config.n_layers && model->device != "cpu")
    throw UsageError("-ngl " + grouped(*flags.layers_on_gpu) + " leaves some of " + options.path + "'s " +
                     counted(model->config.n_layers, "layer") +
                     " to the CPU; leave out -ngl to put all on the GPU, or use --device cpu");
  if (!flags.profile.empty()) {
    model->decoder->steps().profile().keep_trace();
    model->decoder->steps().set_measuring(true);
  }
  for (const std::string& note : model->tokenizer->notes()) log_line(options.path + ": " + note);
  log_line("loaded " + options.path + " in " + std::to_string(model->load_seconds) + " s: " + describe(*model));
  return model;
}

std::string model_name(const Model& model) { return printable(shown_name(model.file.path())); }

std::string describe(const Model& model) {
  return model_name(model) + ", " + human_bytes(model.file.file_bytes()) + ", " + model.decoder->steps().description() +
         (model.device_reason.empty() ? "" : " (" + model.device_reason + ")") + ", context " + grouped(model.context);
}

std::string long_context(const Model& model) {
  const uint32_t own = model.config.context_length;
  if (model.context <= own) return "";
  return "a context of " + grouped(model.context) + " is beyond the model's maximum of " + counted(own, "token") +
         ": answers beyond that may be nonsense";
}

void save_profile(const Model& model, const ModelFlags& flags) {
  if (flags.profile.empty()) return;
  const Profile& profile = model.decoder->steps().profile();
  for (const auto& [path, text] : {std::pair(flags.profile, profile_trace_json(profile, describe(model))),
                                   std::pair(flags.profile + ".md", profile_markdown(profile, describe(model)))})
    write_file(path, text);
}

}  // namespace warpchat
