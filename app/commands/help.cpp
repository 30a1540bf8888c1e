// chat help: what --help shows, and the same tables as a man page or a completion script.
#include "app/commands/commands.h"
#include "app/commands/help/command_help.h"
#include "app/platform/output.h"

namespace warpchat {

int run_command(const HelpOptions& options) {
  const std::vector<CommandHelp> commands = command_help();
  if (!options.format.empty()) {
    if (!options.command.empty()) throw UsageError("--format covers all commands; leave out " + options.command);
    write_output(formatted_help(commands, options.format));
    return 0;
  }
  write_output(help_text(commands, options.command.empty() ? commands[0].name : options.command));
  return 0;
}

}  // namespace warpchat
