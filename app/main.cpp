// The chat program.
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "app/platform/output.h"
#include "app/platform/program_name.h"
#include "app/program.h"
#include "engine/driver/device_watch.h"

int main(int argc, char** argv) {
  warpchat::open_missing_streams();
  warpchat::set_program_name(argc > 0 ? argv[0] : "");
  const int exit_code = warpchat::run_program({argv + std::min(argc, 1), argv + argc});
  if (!warpchat::is_any_device_lost()) return exit_code;
  std::fflush(nullptr);
  _exit(exit_code);  // the driver's own exit handlers would wait for the device
}
