// Writes the malformed variants into a folder, with expectations.tsv: file name, "refused" or "loads", and what the
// message must contain. Used by malformed_run.py, and as seeds for fuzzing.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "tests/tools/malformed/variants.h"

namespace warpchat {
namespace {

int write_variants(const std::filesystem::path& folder, size_t every) {
  std::filesystem::create_directories(folder);
  std::ofstream expectations(folder / "expectations.tsv");
  const std::vector<Variant> variants = malformed_variants();
  for (size_t i = 0; i < variants.size(); i += every) {
    const Variant& variant = variants[i];
    std::ofstream file(folder / (variant.name + ".gguf"), std::ios::binary);
    file.write(reinterpret_cast<const char*>(variant.file.data()), static_cast<std::streamsize>(variant.file.size()));
    expectations << variant.name << ".gguf\t" << (variant.finder == Finder::kNone ? "loads" : "refused") << '\t'
                 << variant.fault << '\n';
    if (!file.flush()) {
      std::fprintf(stderr, "malformed_files: cannot write %s\n", variant.name.c_str());
      return 1;
    }
  }
  return expectations.flush() ? 0 : 1;
}

}  // namespace
}  // namespace warpchat

int main(int argc, char** argv) {
  const bool has_every = argc == 4 && std::string_view(argv[2]) == "--every";
  const long every = has_every ? std::strtol(argv[3], nullptr, 10) : 1;
  if ((argc != 2 && !has_every) || every < 1) {
    std::fprintf(stderr, "usage: malformed_files FOLDER [--every N]\n");
    return 2;
  }
  return warpchat::write_variants(argv[1], static_cast<size_t>(every));
}
