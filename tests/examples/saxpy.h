// The kernel of two examples: write_kernel.cpp prints its PTX, launch_kernel.cpp runs it.
#pragma once
#include "ptx/builder.h"

namespace examples {

// y[i] = a * x[i] + y[i], with x and y f32 [n] in device memory. One thread computes one element.
inline ptx::Kernel saxpy(uint32_t n, ptx::Target target) {
  using namespace ptx;
  constexpr uint32_t kThreads = 256;  // per block
  Builder b("saxpy", target);
  // Parameters, in the order of the launch's arguments.
  Reg<f32> a = b.param<f32>("a");
  Global<f32> x = b.global<f32>("x", n), y = b.global<f32>("y", n);
  // Names are for readers: the text says %i where the program says i.
  Reg<u32> i = (b.block() * kThreads + b.thread()).named("i");
  // The size is a constant of the text. The last block may have threads without an element.
  b.if_(i < n, [&] {
    // Named one by one: C++ may evaluate a call's arguments in either order, which would change the text.
    Reg<f32> old_y = y.load(i), this_x = x.load(i);
    y.store(i, b.fma(a, this_x, old_y));
  });
  // finish() verifies the kernel: values are defined, accesses are aligned, barriers are reached by all threads.
  return b.finish(Launch{(n + kThreads - 1) / kThreads, kThreads});
}

}  // namespace examples
