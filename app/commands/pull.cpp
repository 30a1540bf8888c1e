// chat pull: a model from the hub into the cache that other programs share; its path on standard output.
#include "app/commands/commands.h"
#include "app/model_download.h"
#include "app/output.h"
#include "models/message.h"

namespace warpchat {

int run_command(const PullOptions& options) {
  const std::optional<HubModelName> name = parse_hub_model_name(options.model);
  if (!name)
    throw UsageError("'" + printable(options.model) +
                     "' is no model of a hub; name it as org/repo[:QUANT], such as "
                     "Qwen/Qwen2.5-3B-Instruct-GGUF:Q4_K_M");
  write_output(download_model(*name, options.offline) + "\n");
  return 0;
}

}  // namespace warpchat
