// The device that tests of the GPU path use: WARPCHAT_TEST_DEVICE, or the emulator.
#pragma once
#include <cstdlib>

#include "engine/driver/device_choice.h"

namespace warpchat {

inline const DeviceChoice& test_device() {
  static const DeviceChoice choice = [] {
    const char* name = std::getenv("WARPCHAT_TEST_DEVICE");
    return choose_device(name != nullptr ? name : "emulator");
  }();
  return choice;
}

}  // namespace warpchat
