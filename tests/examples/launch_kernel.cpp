// Runs the kernel of saxpy.h on an emulated GPU, or on the device that is named, and checks the result.
//   example_launch_kernel [cuda | emulator | emulator:sm_80]
// CUDA_EMULATOR_CHECKS=all has the emulator check every access to memory.
#include <bit>
#include <cstdio>
#include <exception>
#include <span>
#include <vector>

#include "engine/driver/device_choice.h"
#include "engine/driver/module.h"
#include "tests/examples/saxpy.h"

using namespace warpchat;

int main(int argc, char** argv) {
  try {
    // The emulator has the functions of the CUDA driver, so what follows is the same on a GPU.
    const DeviceChoice device = choose_device(argc > 1 ? argv[1] : "emulator");
    if (device.table == nullptr) throw Error("this example needs a GPU, real or emulated");
    const ContextPointer context = Context::open(*device.table, device.gpu);
    const Stream stream(context);

    constexpr uint32_t kSize = 1000;
    constexpr float kFactor = 0.5f;
    std::vector<float> x(kSize), y(kSize), result(kSize);
    for (uint32_t i = 0; i < kSize; ++i) x[i] = static_cast<float>(i), y[i] = 1;

    // Device memory has a purpose, which errors name. It frees itself, as the module does.
    const DeviceMemory device_x(context, kSize * sizeof(float), "x"), device_y(context, kSize * sizeof(float), "y");
    stream.upload(device_x.address(), std::as_bytes(std::span(x)));
    stream.upload(device_y.address(), std::as_bytes(std::span(y)));

    // The driver compiles the text; a launch compares its arguments with the kernel's parameters.
    const Module module(context, {examples::saxpy(kSize, device.gpu.target())});
    module.kernel(0).launch(stream, {std::bit_cast<uint32_t>(kFactor), device_x, device_y});
    stream.download(std::as_writable_bytes(std::span(result)), device_y.address());
    stream.wait();  // a kernel's fault is thrown here

    for (uint32_t i = 0; i < kSize; ++i)
      if (result[i] != kFactor * x[i] + y[i]) throw Error("y[" + std::to_string(i) + "] is wrong");
    std::printf("%s: y[0] = %g, y[%u] = %g\n", device.gpu.name.c_str(), result[0], kSize - 1, result[kSize - 1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "example_launch_kernel: %s\n", error.what());
    return 1;
  }
}
