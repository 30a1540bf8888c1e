// Options and images of the driver's compiler, which here compiles nothing.
#include "ptx/emulator/driver/jit.h"

#include <algorithm>
#include <cstring>

namespace ptx::emulator::driver {

namespace {

constexpr char kMark[8] = {0x7f, 'P', 'T', 'X', 'E', 'M', 'U', 1};

}  // namespace

void JitLog::write(const std::string& text) const {
  if (buffer == nullptr || bytes == nullptr) return;
  const size_t n = room == 0 ? 0 : std::min(room - 1, text.size());
  if (room > 0) {
    std::memcpy(buffer, text.data(), n);
    buffer[n] = 0;
  }
  *bytes = reinterpret_cast<void*>(n);
}

JitOptions::JitOptions(unsigned count, const CUjit_option* options, void** values) {
  for (unsigned i = 0; i < count; ++i) {
    const auto number = static_cast<unsigned>(reinterpret_cast<size_t>(values[i]));  // in a pointer's place
    if (options[i] == CU_JIT_MAX_REGISTERS && number > 0) max_registers = std::clamp(number, 16u, 255u);
    if (options[i] == CU_JIT_INFO_LOG_BUFFER) info.buffer = static_cast<char*>(values[i]);
    if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES) info.bytes = &values[i];
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER) error.buffer = static_cast<char*>(values[i]);
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) error.bytes = &values[i];
  }
  for (JitLog* log : {&info, &error})  // an unsigned int in a pointer's place
    if (log->bytes != nullptr) log->room = static_cast<unsigned>(reinterpret_cast<size_t>(*log->bytes));
}

std::string make_image(std::string_view text) { return std::string(kMark, sizeof kMark).append(text); }

// A cubin starts as an ELF file, a fat binary with its own number: neither holds text to run.
const char* text_of(const char* image) {
  constexpr unsigned char kElf[] = {0x7f, 'E', 'L', 'F'}, kFatBinary[] = {0x50, 0xed, 0x55, 0xba};
  if (std::strncmp(image, kMark, sizeof kMark) == 0) return image + sizeof kMark;
  return std::memcmp(image, kElf, 4) != 0 && std::memcmp(image, kFatBinary, 4) != 0 ? image : nullptr;
}

}  // namespace ptx::emulator::driver
