// Why and where a launch failed: kernel, thread and address.
#pragma once

#include <cstdint>
#include <string>

#include "ptx/emulator/instruction.h"

namespace ptx::emulator {

struct Fault {
  FaultKind kind = FaultKind::kNone;
  std::string kernel;
  uint32_t line = 0, column = 0;  // in the PTX text
  std::string instruction;        // "ld.global.u32"
  std::string tag;                // region of the kernel, may be empty
  uint32_t block[3] = {0, 0, 0}, thread[3] = {0, 0, 0};
  uint64_t address = 0;
  uint32_t bytes = 0;
  std::string detail;        // "reads byte 256 of "weights" (256 bytes)"
  uint32_t other_lanes = 0;  // other lanes of the same instruction with the same fault

  std::string message() const;  // one sentence: kernel, line, detail, block and thread
};

}  // namespace ptx::emulator
