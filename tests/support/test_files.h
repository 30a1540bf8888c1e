// Paths of real files for tests, and of temporary ones.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace warpchat {

// SmolLM2-135M-Instruct as app/quickstart.sh fetches it: $WARPCHAT_DEMO_MODEL, or the file in the cache directory. A
// test that gets no path skips with kNoDemoModel.
std::optional<std::string> demo_model_path();
inline constexpr char kNoDemoModel[] = "needs the demo model: run app/quickstart.sh once or set WARPCHAT_DEMO_MODEL";

// A file of tests/models/exact (small models with exact logits), or a vocabulary that the build unpacks from
// tests/tokenizer/data. $WARPCHAT_REFERENCE_DATA: a folder with all of them, for programs that run elsewhere. Throws
// Error if the file is missing: no test may be skipped for that.
std::string reference_data_path(const std::string& name);

// A new file in the temporary directory, removed at the end.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::span<const std::byte> bytes = {}, const std::string& suffix = ".gguf");
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace warpchat
