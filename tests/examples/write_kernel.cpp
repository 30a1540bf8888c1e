// Writes a GPU kernel: the PTX of saxpy.h for a GPU of compute capability 8.0. No GPU and no CUDA is needed.
//   example_write_kernel > saxpy.ptx
#include <cstdio>
#include <exception>

#include "tests/examples/saxpy.h"

int main() {
  try {
    const ptx::Kernel kernel = examples::saxpy(/*n=*/1000, ptx::sm_80);
    // The text is a whole module for cuModuleLoadData.
    std::fputs(kernel.text.c_str(), stdout);
    // A kernel also has what a launch needs.
    std::printf("// launch %s with %u blocks of %u threads\n", kernel.name.c_str(), kernel.launch.blocks.x,
                kernel.launch.threads.x);
    for (const ptx::Parameter& parameter : kernel.parameters)
      std::printf("// parameter %s at byte %u\n", parameter.name.c_str(), parameter.offset);
  } catch (const std::exception& error) {  // a mistake in a kernel names its line of C++
    std::fprintf(stderr, "example_write_kernel: %s\n", error.what());
    return 1;
  }
}
