// requantise -m LLAMA.gguf -o QWEN2.gguf [--format q4_k_m|f16|f32]: the model as qwen2, see rewrite_as_qwen2.h.
#include <cstdio>

#include "models/error.h"
#include "tests/support/arguments.h"
#include "tests/tools/rewrite_as_qwen2.h"

namespace warpchat {
namespace {

RewriteFormat parse_format(const std::string& text) {
  if (text == "q4_k_m") return RewriteFormat::kQ4_K_M;
  if (text == "f16") return RewriteFormat::kF16;
  if (text == "f32") return RewriteFormat::kF32;
  throw Error("unknown format \"" + text + "\"; known are q4_k_m, f16 and f32");
}

int requantise_main(int argc, char** argv) {
  const Arguments arguments(argc, argv, {"-m", "-o", "--format"});
  const RewriteFormat format = parse_format(arguments.get("--format", "q4_k_m"));
  const std::string out = arguments.get("-o");
  rewrite_as_qwen2(GgufFile::open(arguments.get("-m")), format).write(out);
  std::fprintf(stderr, "wrote %s\n", out.c_str());
  return 0;
}

}  // namespace
}  // namespace warpchat

int main(int argc, char** argv) { return warpchat::run_tool("requantise", warpchat::requantise_main, argc, argv); }
