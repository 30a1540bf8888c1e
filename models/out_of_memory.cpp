#include "models/out_of_memory.h"

#include <cstdlib>

namespace warpchat {

void throw_if_out_of_memory() {
  constexpr size_t kEnoughToGoOn = 1 << 20;  // bytes
  if (!reserve_was_used.exchange(false)) return;
  void* volatile probe = std::malloc(kEnoughToGoOn);  // volatile, or the compiler leaves out the pair of calls
  if (probe == nullptr) throw OutOfMemory();
  std::free(probe);
}

}  // namespace warpchat
