// chat pull: a model from the hub into the cache that other programs share; its path on standard output. Words that
// name none are searched for. Without any, what suits this machine: a line a model, the one to try first on top.
#include <algorithm>

#include "app/commands/commands.h"
#include "app/model_choice/hub_models.h"
#include "app/model_choice/model_download.h"
#include "app/platform/output.h"
#include "app/terminal/choose_model.h"
#include "models/human_bytes.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

std::string suggestions(const std::string& device) {
  const MemoryRoom room = memory_room(device);
  std::vector<ModelChoice> models = suggested_models(room);
  const auto best = models.begin() + static_cast<ptrdiff_t>(best_suggestion(models, room));
  std::rotate(models.begin(), best, best + 1);
  std::string lines;
  for (const ModelChoice& model : models)
    lines += model.name + "\t" + human_bytes(model.bytes) + "\t" + about_and_why(model) + "\n";
  return lines;
}

}  // namespace

int run_command(const PullOptions& options) {
  if (options.words.empty()) {
    write_text(suggestions(options.device));
    return 0;
  }
  std::string text;
  for (const std::string& word : options.words) text += (text.empty() ? "" : " ") + word;
  std::optional<HubModelName> name = parse_hub_model_name(text);
  if (!name && are_search_words(text)) name = parse_hub_model_name(choose_of_hub(text, options, options.offline));
  if (!name)
    throw UsageError("'" + printable(text) +
                     "' is not a model name; names look like org/repo[:QUANT], such as "
                     "Qwen/Qwen2.5-3B-Instruct-GGUF:Q4_K_M");
  write_output(download_model(*name, options.offline) + "\n");
  return 0;
}

}  // namespace warpchat
