// Shared by modules and links: JIT options, and the contents of images.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ptx/driver_types.h"
#include "ptx/emulator/link_input.h"

namespace ptx::emulator::driver {

using namespace cuda;

struct JitLog {
  char* buffer = nullptr;
  void** bytes = nullptr;  // in: buffer size, out: bytes written
  size_t room = 0;         // buffer size

  void write(const std::string& text) const;
  void refuse(const std::string& text) const;  // writes the text to the log; to stderr if the program asked for no log
};

struct JitOptions {
  JitLog info, error;
  uint32_t max_registers = 255;

  JitOptions() = default;
  JitOptions(unsigned count, const CUjit_option* options, void** values);
};

// The emulator's link result: a magic mark and the PTX texts. It cannot be mistaken for machine code or text, as it
// starts like neither. It ends with a NUL and contains no other.
std::string make_image(const std::vector<LinkInput>& inputs, uint32_t max_registers);

// PTX inputs of a text, or of an emulator image. No inputs: machine code, or a broken image.
struct Image {
  uint32_t max_registers = 255;
  std::vector<LinkInput> inputs;  // point into the given bytes
};
Image read_image(const char* bytes);

}  // namespace ptx::emulator::driver
