// Where tests find real files, and where they put their own.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace warpchat {

// SmolLM2-135M-Instruct as app/quickstart.sh fetches it: $WARPCHAT_DEMO_MODEL, or the file in the cache directory.
// A test that gets nothing skips with kNoDemoModel.
std::optional<std::string> demo_model_path();
inline constexpr char kNoDemoModel[] = "needs the demo model: run app/quickstart.sh once or set WARPCHAT_DEMO_MODEL";

// A file of the reference data: small models with exact logits, real vocabularies, real templates. Looked for in
// $WARPCHAT_REFERENCE_DATA, or in ../shared/data beside the source tree. A test that gets nothing skips.
std::optional<std::string> reference_data_path(const std::string& name);
inline constexpr char kNoReferenceData[] = "needs the reference data: set WARPCHAT_REFERENCE_DATA to its folder";

// A file of its own in the temporary directory, removed at the end.
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
