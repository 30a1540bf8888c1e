// The main loop: handles events, draws if anything changed, sleeps until the next event.
#include "app/gui/run_window.h"

#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <fstream>
#include <sstream>

#include "app/gui/desktop/signal_watch.h"
#include "app/gui/widgets/numbers.h"
#include "app/gui/window/chat_window.h"
#include "app/gui/window/pacer.h"
#include "app/model_choice/model_loading.h"
#include "app/platform/directories.h"
#include "app/platform/log.h"
#include "app/platform/output.h"

namespace warpchat {

namespace gui {

namespace {

double seconds_on(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// When the kernel started this program, on CLOCK_BOOTTIME; a hundredth of a second exact.
double started_at() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream fields(line.substr(std::min(line.rfind(')') + 1, line.size())));
  std::string field;
  constexpr int kStartTime = 20;  // the 22nd field, the 20th after the name
  for (int i = 0; i < kStartTime; ++i) fields >> field;
  const double ticks = std::strtod(field.c_str(), nullptr);
  const double started = ticks / static_cast<double>(sysconf(_SC_CLK_TCK)), now = seconds_on(CLOCK_BOOTTIME);
  return started > 0 && started <= now ? started : now;
}

class Loop {
 public:
  Loop(const ChatOptions& options, GlfwWindow& window, ChatWindow& content, MemoryKeeper& keeper,
       const SignalWatch& signals)
      : options_(options),
        window_(window),
        content_(content),
        keeper_(keeper),
        signals_(signals),
        refresh_seconds_(window.refresh_seconds()),
        pacer_(refresh_seconds_) {}

  void run() {
    while (!window_.asked_to_close() && !content_.wants_to_quit() && signals_.caught() == 0) {
      if (content_.apply_updates()) pacer_.saw_update(content_.may_change_soon());
      if (!window_.input.empty() || !window_.dropped_paths.empty()) pacer_.saw_input();
      if (std::exchange(window_.damaged, false)) pacer_.saw_input();
      if (std::exchange(window_.moved, false)) pacer_.set_refresh(refresh_seconds_ = window_.refresh_seconds());
      const double wait = window_.hidden() ? Pacer::kNever : pacer_.wait(GlfwWindow::now());
      if (wait <= 0)
        draw();
      else if (wait < 1e6)
        window_.wait_seconds(wait);
      else
        window_.wait();
    }
    if (!options_.no_history) content_.remember_drafts(ChatWindow::DraftsOf::kListed);
    keeper_.keep(content_.memory());
    window_.hide();  // what still has to be stored may take a moment
  }

 private:
  void draw() {
    const double began = GlfwWindow::now(), cpu_began = seconds_on(CLOCK_THREAD_CPUTIME_ID);
    pacer_.begin_frame(began);
    content_.draw(window_.input.take_frame());
    note_frame(GlfwWindow::now() - began, seconds_on(CLOCK_THREAD_CPUTIME_ID) - cpu_began);
    if (content_.wants_frames()) pacer_.saw_motion();
    if (content_.wake_in() < 1e6) pacer_.wake_at(GlfwWindow::now() + content_.wake_in());
    if (pacer_.n_frames() == 1) note_first_frame();
    keeper_.keep(content_.memory());
    dump();
    window_.poll();
  }

  void note_frame(double seconds, double cpu_seconds) {
    if (pacer_.n_frames() == 1) return;  // which loads fonts
    times_.n_late_frames += seconds > 1.5 * refresh_seconds_ ? 1 : 0;
    times_.longest_frame_seconds = std::max(times_.longest_frame_seconds, seconds);
    times_.longest_frame_cpu_seconds = std::max(times_.longest_frame_cpu_seconds, cpu_seconds);
  }

  void note_first_frame() {
    first_frame_seconds_ = seconds_on(CLOCK_BOOTTIME) - started_at();
    const std::string line = "first frame after " + seconds_text(first_frame_seconds_);
    log_line(line);
    if (options_.verbose) write_error(line + "\n");
  }

  void dump() const {
    if (options_.gui_state.empty()) return;
    WindowFacts facts = content_.facts();
    facts.n_frames = pacer_.n_frames();
    facts.first_frame_seconds = first_frame_seconds_;
    facts.n_late_frames = times_.n_late_frames;
    facts.longest_frame_seconds = times_.longest_frame_seconds;
    facts.longest_frame_cpu_seconds = times_.longest_frame_cpu_seconds;
    write_state_dump(options_.gui_state, state_dump(content_.state(), facts, content_.marks()));
  }

  const ChatOptions& options_;
  GlfwWindow& window_;
  ChatWindow& content_;
  MemoryKeeper& keeper_;
  const SignalWatch& signals_;
  double refresh_seconds_;
  Pacer pacer_;
  double first_frame_seconds_ = 0;
  WindowFacts times_;  // of frames
};

}  // namespace

}  // namespace gui

int run_window(const ChatOptions& flags) {
  using namespace gui;
  const SignalWatch signals(GlfwWindow::wake);
  const std::string folder = state_directory();
  const WindowMemory memory = load_window_memory(folder);
  ChatOptions options = flags;
  if (!options.titles) options.titles = true;
  GlfwWindow window(memory.place, "Warpchat");
  MemoryKeeper keeper(folder, memory);
  ChatWorker worker(options, GlfwWindow::wake);
  TextEngine text;
  ChatWindow content(window, worker, text, memory, options);
  Loop(options, window, content, keeper, signals).run();
  worker.end();
  if (const Model* model = worker.model())
    save_profile(*model, options);
  else if (!options.profile.empty())
    throw Error("nothing to write to --profile " + options.profile + ": no model is loaded on this machine");
  return signals.caught() == 0 ? 0 : 128 + signals.caught();
}

}  // namespace warpchat
