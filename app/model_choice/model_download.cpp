// The download runs in its own thread; this one draws and checks for Ctrl-C.
#include "app/model_choice/model_download.h"

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <mutex>

#include "app/model_choice/transfer_line.h"
#include "app/platform/directories.h"
#include "app/platform/log.h"
#include "app/platform/output.h"
#include "app/platform/signals.h"
#include "app/platform/spinner.h"
#include "app/platform/terminal.h"
#include "app/platform/version.h"
#include "models/human_bytes.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using std::chrono::steady_clock;
constexpr int kFrame = 100;  // ms

// Progress of a download: written by one thread, drawn by another.
class TransferView {
 public:
  ~TransferView() { clear(); }

  void tell(const DownloadProgress& progress) {
    std::lock_guard lock(mutex_);
    if (progress.phase != progress_.phase) rate_.reset();
    progress_ = progress;
    rate_.add(steady_clock::now(), progress.bytes);
  }

  void note(const std::string& sentence) {
    std::lock_guard lock(mutex_);
    clear_line();
    log_line(sentence);
    print_error(sentence);
  }

  void draw() {
    std::lock_guard lock(mutex_);
    if (progress_.total == 0) return;
    const std::string line = transfer_line(progress_, rate_.bytes_per_second());
    if (moves_) {
      write_styled_error(line_.draw(line, terminal_size(STDERR_FILENO).columns));
      clear_line_on_exit(true);
    } else if (const uint64_t tenth = 10 * progress_.bytes / progress_.total;
               progress_.phase == DownloadPhase::kFetching && tenth != tenth_) {
      tenth_ = tenth;
      write_error_text(line + "\n");
    }
  }

  void clear() {
    std::lock_guard lock(mutex_);
    clear_line();
  }

  std::string share() {
    std::lock_guard lock(mutex_);
    return human_bytes(progress_.bytes) + " of " + human_bytes(progress_.total);
  }

 private:
  void clear_line() {
    write_styled_error(line_.clear(terminal_size(STDERR_FILENO).columns));
    clear_line_on_exit(false);
  }

  std::mutex mutex_;
  DownloadProgress progress_{};
  TransferRate rate_;
  const bool moves_ = error_moves_cursor();
  StatusLine line_;
  uint64_t tenth_ = 0;
};

// The action's result; Ctrl-C pauses the download, whereupon the action throws HttpStopped.
template <class Action>
auto run_interruptibly(Download& download, TransferView& view, const Action& action) {
  const NotedInterrupts noted;
  auto result = std::async(std::launch::async, action);
  while (result.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    pollfd signals{signal_descriptor(), POLLIN, 0};
    if (poll(&signals, 1, kFrame) > 0) drain_signal_descriptor();
    if (take_interrupt()) download.pause();
    view.draw();
  }
  view.draw();
  view.clear();
  return result.get();
}

}  // namespace

HubSettings hub_settings_of_user(bool offline) {
  HubSettings settings = hub_settings(hub_cache_directory(), offline);
  settings.user_agent = std::string("warpchat/") + kVersion;
  return settings;
}

std::string download_model(const HubModelName& name, bool offline,
                           const std::function<void(const DownloadPlan&, const std::string& folder)>& agree) {
  const HubSettings settings = hub_settings_of_user(offline);
  TransferView view;
  Download download(settings, name,
                    {[&](const DownloadProgress& progress) { view.tell(progress); },
                     [&](const std::string& sentence) { view.note(sentence); }});
  bool planned = false;
  try {
    const DownloadPlan plan = run_interruptibly(download, view, [&] { return download.plan(); });
    planned = true;
    if (agree) agree(plan, settings.cache);
    if (plan.missing > 0)
      write_error_text("downloading " + plan.name.text() + ", " + human_bytes(plan.bytes) + ", into " +
                       printable(settings.cache, 200) + "\n");
    const std::string path = run_interruptibly(download, view, [&] { return download.run(); });
    write_error_text(plan.name.text() + (plan.missing > 0 || download.has_fetched() ? " is downloaded and verified\n"
                                                                                    : " is already downloaded\n"));
    log_line("downloaded " + path);
    return path;
  } catch (const HttpStopped&) {
    throw Interrupted(planned ? "paused with " + view.share() + "; run the same command to resume" : "stopped");
  }
}

}  // namespace warpchat
