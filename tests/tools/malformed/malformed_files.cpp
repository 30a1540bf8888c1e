// Writes every malformed variant into a folder, and expectations.tsv beside them: file name, "refused" or "loads", and
// what the message must contain. For malformed_run.py.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/tools/malformed/variants.h"

int main(int n_arguments, char** arguments) {
  if (n_arguments != 2) {
    std::fprintf(stderr, "usage: malformed_files FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = arguments[1];
  std::filesystem::create_directories(folder);
  std::ofstream expectations(folder / "expectations.tsv");
  for (const warpchat::Variant& variant : warpchat::malformed_variants()) {
    std::ofstream file(folder / (variant.name + ".gguf"), std::ios::binary);
    file.write(reinterpret_cast<const char*>(variant.file.data()), static_cast<std::streamsize>(variant.file.size()));
    const bool loads = variant.finder == warpchat::Finder::kNobody;
    expectations << variant.name << ".gguf\t" << (loads ? "loads" : "refused") << '\t' << variant.fault << '\n';
    if (!file.flush()) {
      std::fprintf(stderr, "malformed_files: cannot write %s\n", variant.name.c_str());
      return 1;
    }
  }
  return expectations.flush() ? 0 : 1;
}
