// What modules and links share: the options of the driver's compiler, and what an image holds.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ptx/driver_types.h"

namespace ptx::emulator::driver {

using namespace cuda;

struct JitLog {
  char* buffer = nullptr;
  void** bytes = nullptr;  // in: the buffer's size, out: what was written
  size_t room = 0;         // of the buffer

  void write(const std::string& text) const;
};

struct JitOptions {
  JitLog info, error;
  uint32_t max_registers = 255;

  JitOptions() = default;
  JitOptions(unsigned count, const CUjit_option* options, void** values);
};

// What the emulator links in place of machine code: its own mark and the PTX text. No GPU runs it, and
// it is not taken for anything else: it begins neither as an ELF file nor as text.
std::string make_image(std::string_view text);

// The text to run, from PTX text or an image of the emulator's own; null for machine code.
const char* text_of(const char* image);

}  // namespace ptx::emulator::driver
