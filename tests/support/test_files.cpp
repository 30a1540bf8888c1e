#include "tests/support/test_files.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "models/error.h"

namespace warpchat {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::optional<std::string> if_present(const std::filesystem::path& path) {
  std::error_code unreadable;  // unreadable counts as absent
  if (!std::filesystem::is_regular_file(path, unreadable)) return std::nullopt;
  return path.string();
}

}  // namespace

std::optional<std::string> demo_model_path() {
  if (const std::string named = variable("WARPCHAT_DEMO_MODEL"); !named.empty()) return if_present(named);
  std::filesystem::path cache = variable("XDG_CACHE_HOME");
  if (cache.empty()) cache = std::filesystem::path(variable("HOME")) / ".cache";
  return if_present(cache / "warpchat/models/SmolLM2-135M-Instruct.Q4_1.gguf");
}

std::string reference_data_path(const std::string& name) {
  const std::string elsewhere = variable("WARPCHAT_REFERENCE_DATA");
  const std::vector<std::string> folders =
      elsewhere.empty() ? std::vector<std::string>{WARPCHAT_SOURCE_DIR "/tests/models/exact", WARPCHAT_VOCABULARIES}
                        : std::vector{elsewhere};
  for (const std::filesystem::path folder : folders)
    if (const auto path = if_present(folder / name)) return *path;
  throw Error(name + " is not in " + folders[0] + ", where the tests look for it");
}

TemporaryFile::TemporaryFile(std::span<const std::byte> bytes, const std::string& suffix) {
  path_ = (std::filesystem::temp_directory_path() / "warpchat-XXXXXX").string() + suffix;
  const int file = ::mkstemps(path_.data(), static_cast<int>(suffix.size()));
  if (file < 0) throw Error("cannot create " + path_ + ": " + std::strerror(errno));
  ::close(file);
  std::ofstream out(path_, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw Error("cannot write " + path_);
}

TemporaryFile::~TemporaryFile() { ::unlink(path_.c_str()); }

}  // namespace warpchat
