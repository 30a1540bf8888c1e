// One thread waits for signals that all others block; SIGUSR2 ends it.
#include "app/gui/desktop/signal_watch.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>

#include "models/threads.h"

namespace warpchat::gui {

namespace {

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR2}) sigaddset(&set, number);
  return set;
}

}  // namespace

SignalWatch::SignalWatch(std::function<void()> on_signal) : on_signal_(std::move(on_signal)) {
  const sigset_t set = watched();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = start_thread(
      "to wait for signals", [this] { watch(); }, ends_unnoticed);
}

SignalWatch::~SignalWatch() {
  pthread_kill(thread_.native_handle(), SIGUSR2);
  thread_.join();
  const sigset_t set = watched();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void SignalWatch::watch() {
  const sigset_t set = watched();
  for (int number = 0; sigwait(&set, &number) == 0 && number != SIGUSR2;) {
    if (caught_ != 0) _exit(128 + number);
    caught_ = number;
    on_signal_();
  }
}

}  // namespace warpchat::gui
