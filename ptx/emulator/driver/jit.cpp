// JIT options and images. Nothing is compiled here.
#include "ptx/emulator/driver/jit.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
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

void JitLog::refuse(const std::string& text) const {
  write(text);
  if (buffer == nullptr) std::fprintf(stderr, "emulator: %s%s", text.c_str(), text.ends_with('\n') ? "" : "\n");
}

JitOptions::JitOptions(unsigned count, const CUjit_option* options, void** values) {
  for (unsigned i = 0; i < count; ++i) {
    const auto number = static_cast<unsigned>(reinterpret_cast<size_t>(values[i]));  // passed by value in a pointer
    if (options[i] == CU_JIT_MAX_REGISTERS && number > 0) max_registers = std::clamp(number, 16u, 255u);
    if (options[i] == CU_JIT_INFO_LOG_BUFFER) info.buffer = static_cast<char*>(values[i]);
    if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES) info.bytes = &values[i];
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER) error.buffer = static_cast<char*>(values[i]);
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) error.bytes = &values[i];
  }
  for (JitLog* log : {&info, &error})  // an unsigned int, passed by value in a pointer
    if (log->bytes != nullptr) log->room = static_cast<unsigned>(reinterpret_cast<size_t>(*log->bytes));
}

namespace {

// Removes and parses the number on the first line.
bool take_number(std::string_view& bytes, uint64_t& number) {
  const size_t end = bytes.find('\n');
  if (end == std::string_view::npos) return false;
  const auto [stop, error] = std::from_chars(bytes.data(), bytes.data() + end, number);
  if (error != std::errc{} || stop != bytes.data() + end) return false;
  bytes.remove_prefix(end + 1);
  return true;
}

Image read_own_image(std::string_view bytes) {
  Image image;
  uint64_t max = 0, length[2];
  if (!take_number(bytes, max)) return {};
  image.max_registers = static_cast<uint32_t>(std::clamp<uint64_t>(max, 16, 255));
  while (!bytes.empty()) {
    if (!take_number(bytes, length[0]) || !take_number(bytes, length[1])) return {};
    if (length[0] > bytes.size() || length[1] > bytes.size() - length[0]) return {};
    image.inputs.push_back({std::string(bytes.substr(0, length[0])), bytes.substr(length[0], length[1])});
    bytes.remove_prefix(length[0] + length[1]);
  }
  return image;
}

}  // namespace

std::string make_image(const std::vector<LinkInput>& inputs, uint32_t max_registers) {
  std::string image = std::string(kMark, sizeof kMark) + std::to_string(max_registers) + "\n";
  for (const LinkInput& input : inputs)
    image.append(std::to_string(input.name.size()) + "\n" + std::to_string(input.text.size()) + "\n" + input.name)
        .append(input.text);
  return image;
}

// Cubins start as ELF files, fat binaries with their own magic number: neither contains text to run.
Image read_image(const char* bytes) {
  constexpr unsigned char kElf[] = {0x7f, 'E', 'L', 'F'}, kFatBinary[] = {0x50, 0xed, 0x55, 0xba};
  if (std::strncmp(bytes, kMark, sizeof kMark) == 0) return read_own_image(bytes + sizeof kMark);
  if (std::memcmp(bytes, kElf, 4) == 0 || std::memcmp(bytes, kFatBinary, 4) == 0) return {};
  return {255, {{"ptx", bytes}}};
}

}  // namespace ptx::emulator::driver
