// What modules and links share: the options of the driver's compiler, and what an image holds.
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
  void** bytes = nullptr;  // in: the buffer's size, out: what was written
  size_t room = 0;         // of the buffer

  void write(const std::string& text) const;
  void refuse(const std::string& text) const;  // writes it; on stderr, if the program asked for no log
};

struct JitOptions {
  JitLog info, error;
  uint32_t max_registers = 255;

  JitOptions() = default;
  JitOptions(unsigned count, const CUjit_option* options, void** values);
};

// What the emulator links in place of machine code: its own mark and the PTX texts. No GPU runs it, and
// it is not taken for anything else: it begins neither as an ELF file nor as text. Ends with a NUL and has no other.
std::string make_image(const std::vector<LinkInput>& inputs, uint32_t max_registers);

// What there is to run in PTX text or in an image of the emulator's own; no inputs: machine code, or a broken image.
struct Image {
  uint32_t max_registers = 255;
  std::vector<LinkInput> inputs;  // of the bytes that were read
};
Image read_image(const char* bytes);

}  // namespace ptx::emulator::driver
