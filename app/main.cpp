// The chat program.
#include <unistd.h>

#include <cstdio>

#include "app/program.h"
#include "engine/driver/device_watch.h"

int main(int argc, char** argv) {
  const int exit_code = warpchat::run_program({argv + 1, argv + argc});
  if (!warpchat::is_any_device_lost()) return exit_code;
  std::fflush(nullptr);
  _exit(exit_code);  // the driver's own exit handlers would wait for the device
}
