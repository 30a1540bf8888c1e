#include "ptxas.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ptx::testing {

std::string find_ptxas() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(std::string(path ? path : "") + ":/usr/local/cuda/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = folder + "/ptxas";
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

// "ptxas <file>, line 12; error   : ..." names a line.
Assembly assemble(const std::string& text, Target target) {
  const auto file = std::filesystem::temp_directory_path() / ("ptx_test_" + std::to_string(getpid()) + ".ptx");
  std::ofstream(file) << text;
  const std::string command =
      find_ptxas() + " --warn-on-spills -arch=" + spell(target) + " " + file.string() + " -o /dev/null 2>&1";
  Assembly result;
  FILE* pipe = popen(command.c_str(), "r");
  char buffer[4096];
  while (pipe && fgets(buffer, sizeof buffer, pipe)) {
    const std::string line = buffer;
    result.output += line;
    const size_t place = line.find(", line ");
    if (place != line.npos && line.find("error", place) != line.npos) {
      result.error_lines.insert(std::atoi(line.c_str() + place + 7));
    }
  }
  result.accepted = pipe && pclose(pipe) == 0;
  std::filesystem::remove(file);
  return result;
}

std::vector<Target> assembled_targets() {
  if (std::getenv("WARPCHAT_FULL_TESTS") == nullptr) return {sm_75, sm_80, sm_90, sm_120};
  return {sm_75, sm_80, sm_86, sm_89, sm_90, sm_100, sm_120};
}

}  // namespace ptx::testing
