// Parse, set up signals and the log, run the command, turn whatever it throws into one line.
#include "app/program.h"

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <new>
#include <utility>

#include "app/chat/state/remedies.h"
#include "app/commands/commands.h"
#include "app/model_choice/devices.h"
#include "app/model_choice/model_download.h"
#include "app/platform/log.h"
#include "app/platform/output.h"
#include "app/platform/signals.h"
#include "app/settings/kept_options.h"
#include "app/settings/model_flags.h"
#include "app/settings/options.h"
#include "engine/driver/device_watch.h"
#include "models/out_of_memory.h"

namespace warpchat {

namespace {

constexpr int kError = 1, kUsage = 2;

// A terminal's line breaks, colours and the log need memory, and there may be none.
int report(const char* sentence, int exit_code) {
  try {
    log_line("error: " + std::string(sentence));
    print_error(sentence);
  } catch (...) {
    print_error_as_it_is(sentence);
  }
  return exit_code;
}

// The thread hangs, so it cannot be joined and main cannot return normally. Everything is stored by then.
void leave_hanging_thread(const std::string& loss) {
  restore_terminal();
  report(loss.c_str(), kError);
  _exit(kError);
}

int run_options(const Options& options) {
  if (const auto* chat = std::get_if<ChatOptions>(&options))
    for (const std::string& complaint : chat->complaints) print_error(complaint);
  const auto& common = std::visit([](const auto& o) -> const CommonOptions& { return o; }, options);
  if (!common.log_file.empty()) open_log(common.log_file);
  if (common.list_devices) {
    write_text(device_list());
    return 0;
  }
  require_known_device(common.device);
  return std::visit([](const auto& o) { return run_command(o); }, options);
}

int run_parsed(const ParsedOptions& parsed) {
  if (parsed.options) return run_options(*parsed.options);
  write_output(parsed.text);
  return 0;
}

int report_error(const std::exception& error) {
  try {
    return report(sentence_of(error, View::kCommandLine).c_str(), kError);
  } catch (const std::bad_alloc&) {
    return report(error.what(), kError);
  }
}

// body: returns an exit code.
template <class Body>
int report_errors(const Body& body) {
  try {
    return body();
  } catch (const OutputClosed&) {
    return kError;  // the reader has closed the pipe; nothing can be reported
  } catch (const Interrupted& error) {
    return report(error.what(), kInterruptedExitCode);
  } catch (const UsageError& error) {
    return report(error.what(), kUsage);
  } catch (const std::bad_alloc&) {
    return report(kOutOfMemory, kError);
  } catch (const std::exception& error) {
    return report_error(error);
  }
}

}  // namespace

int run_program(std::vector<std::string> arguments) {
  install_signal_handlers();
  on_hanging_thread(leave_hanging_thread);
  return report_errors([&] {
    return run_parsed(parse_options(std::move(arguments), [](const std::string& assistant) {
      return kept_options(SettingsFile::load(), assistant);
    }));
  });
}

int run_program(const ParsedOptions& parsed) {
  return report_errors([&] { return run_parsed(parsed); });
}

}  // namespace warpchat
