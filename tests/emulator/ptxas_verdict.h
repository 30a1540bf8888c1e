// NVIDIA's assembler checks texts, if the CUDA toolkit is installed.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace ptx::emulator {

// The path of ptxas, from PATH or /usr/local/cuda/bin; empty if there is none.
inline std::string find_ptxas() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(std::string(path ? path : "") + ":/usr/local/cuda/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/ptxas").c_str(), X_OK) == 0) return folder + "/ptxas";
  return "";
}

inline bool ptxas_accepts(const std::string& text, const std::string& target) {
  const auto file = std::filesystem::temp_directory_path() / ("refusal_" + std::to_string(getpid()) + ".ptx");
  std::ofstream(file) << text;
  const std::string command = find_ptxas() + " -arch=" + target + " " + file.string() + " -o /dev/null >/dev/null 2>&1";
  const bool accepted = std::system(command.c_str()) == 0;
  std::filesystem::remove(file);
  return accepted;
}

}  // namespace ptx::emulator
