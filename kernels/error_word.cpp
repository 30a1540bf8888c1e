#include "kernels/error_word.h"

namespace warpchat {

using namespace ptx;

void report_error(Builder& b, const Global<u32>& error, KernelError code, In<u32> value, In<u32> limit,
                  In<u32> column) {
  Reg<u32> before = error.compare_and_swap(0, static_cast<uint32_t>(code));
  b.if_(before == 0, [&] {
    error.store(1, value);
    error.store(2, limit);
    error.store(3, column);
  });
}

}  // namespace warpchat
