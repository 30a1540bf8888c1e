// Parse, set up signals and the log, run the command, turn whatever it throws into one line.
#include "app/program.h"

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <new>
#include <utility>

#include "app/commands/commands.h"
#include "app/devices.h"
#include "app/log.h"
#include "app/model_download.h"
#include "app/options.h"
#include "app/output.h"
#include "app/remedies.h"
#include "app/signals.h"
#include "engine/driver/device_watch.h"

namespace warpchat {

namespace {

constexpr int kError = 1, kUsage = 2;

int report(const std::string& sentence, int exit_code) {
  log_line("error: " + sentence);
  print_error(sentence);
  return exit_code;
}

// The thread hangs, so it cannot be joined and main cannot return normally. Everything is stored by then.
void leave_hanging_thread(const std::string& loss) {
  restore_terminal();
  report(loss, kError);
  _exit(kError);
}

int run_options(const Options& options) {
  const auto& common = std::visit([](const auto& o) -> const CommonOptions& { return o; }, options);
  if (!common.log_file.empty()) open_log(common.log_file);
  if (common.list_devices) {
    write_text(device_list());
    return 0;
  }
  require_known_device(common.device);
  return std::visit([](const auto& o) { return run_command(o); }, options);
}

}  // namespace

int run_program(std::vector<std::string> arguments) {
  install_signal_handlers();
  on_hanging_thread(leave_hanging_thread);
  try {
    const ParsedOptions parsed = parse_options(std::move(arguments));
    if (parsed.options) return run_options(*parsed.options);
    write_output(parsed.text);
    return 0;
  } catch (const OutputClosed&) {
    return kError;  // the reader has closed the pipe; nothing can be reported
  } catch (const Interrupted& error) {
    return report(error.what(), kInterruptedExitCode);
  } catch (const UsageError& error) {
    return report(error.what(), kUsage);
  } catch (const std::bad_alloc&) {
    return report("out of memory; try a smaller model or a smaller context", kError);
  } catch (const std::exception& error) {
    return report(sentence_of(error, View::kCommandLine), kError);
  }
}

}  // namespace warpchat
