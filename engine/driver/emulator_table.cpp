// The table filled with the emulator's functions, which are linked into this program.
#include "engine/driver/driver_table.h"

namespace warpchat {

const DriverTable& emulator_table() {
  static const DriverTable table = [] {
    DriverTable t;
#define WARPCHAT_DRIVER_TAKE(entry, symbol) t.entry = &ptx::cuda::symbol;
    WARPCHAT_DRIVER_FUNCTIONS(WARPCHAT_DRIVER_TAKE)
#undef WARPCHAT_DRIVER_TAKE
    t.cuEventElapsedTime = &ptx::cuda::cuEventElapsedTime_v2;
    return t;
  }();
  return table;
}

}  // namespace warpchat
