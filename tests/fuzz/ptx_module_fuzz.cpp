// Any text: the emulator's parser and loader accept it, or refuse it with an existing line number. Mutates words as
// well as bytes, because random bytes seldom pass the lexer.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "ptx/emulator/emulator.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace ptx::emulator {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void load(std::string_view text) {
  static const Profile profile = profile_named("sm_120");  // runs texts of every target
  static Memory memory(16u << 20);
  const uint64_t used = memory.used();
  const size_t lines = 1 + static_cast<size_t>(std::ranges::count(text, '\n'));
  try {
    const Module module(text, profile, memory);
    require(memory.used() >= used);
  } catch (const LoadError& error) {
    require(!error.problems.empty());
    for (const Problem& problem : error.problems) {
      require(problem.at.line >= 1 && problem.at.line <= lines && problem.at.column >= 1);
      require(!problem.message.empty());
    }
  }
  require(memory.used() == used);  // nothing leaks
}

struct Word {
  size_t start, length;
};

// Names, numbers, modifiers with their dot, and single marks.
std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '%' || c == '$';
  };
  for (size_t at = 0; at < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[at]))) {
      ++at;
      continue;
    }
    size_t end = at + 1;
    if (is_part(text[at]) || text[at] == '.')
      while (end < text.size() && (is_part(text[end]) || text[end] == ':')) ++end;
    words.push_back({at, end - at});
    at = end;
  }
  return words;
}

const char* const kWords[] = {"add",
                              "mul",
                              "mad",
                              "setp",
                              "selp",
                              "cvt",
                              "mov",
                              "ld",
                              "st",
                              "atom",
                              "red",
                              "bra",
                              "brx",
                              "call",
                              "ret",
                              "bar",
                              "shfl",
                              "vote",
                              "mma",
                              "wmma",
                              "ldmatrix",
                              "cp",
                              "mbarrier",
                              "fence",
                              "alloca",
                              "mapa",
                              "vmad",
                              "prmt",
                              "lop3",
                              ".b8",
                              ".b16",
                              ".b32",
                              ".b64",
                              ".b128",
                              ".u8",
                              ".u32",
                              ".s32",
                              ".u64",
                              ".s64",
                              ".f16",
                              ".f16x2",
                              ".bf16",
                              ".f32",
                              ".f64",
                              ".pred",
                              ".tf32",
                              ".e4m3x2",
                              ".v2",
                              ".v4",
                              ".v8",
                              ".lo",
                              ".hi",
                              ".wide",
                              ".rn",
                              ".rz",
                              ".sat",
                              ".ftz",
                              ".global",
                              ".shared",
                              ".local",
                              ".param",
                              ".const",
                              ".reg",
                              ".entry",
                              ".func",
                              ".extern",
                              ".visible",
                              ".weak",
                              ".align",
                              ".version",
                              ".target",
                              ".maxntid",
                              ".section",
                              ".branchtargets",
                              ".callprototype",
                              ".sync",
                              ".aligned",
                              ".row",
                              ".col",
                              ".m16n8k16",
                              ".m8n8k4",
                              ".acquire",
                              ".release",
                              ".gpu",
                              ".cta",
                              "%r1",
                              "%rd1",
                              "%f1",
                              "%p1",
                              "%tid.x",
                              "%laneid",
                              "WARP_SZ",
                              "generic(",
                              "{",
                              "}",
                              "(",
                              ")",
                              "[",
                              "]",
                              "<",
                              ">",
                              "@",
                              "!",
                              "|",
                              ",",
                              ";",
                              ":",
                              "=",
                              "-",
                              "+",
                              "~",
                              "_",
                              "0",
                              "1",
                              "-1",
                              "16",
                              "0f3F800000",
                              "0d3FF0000000000000",
                              "0x7fffffffffffffff",
                              "18446744073709551615",
                              "4294967296",
                              "1e400",
                              "//",
                              "/*",
                              "\"",
                              "// tag: a\n",
                              "\n",
                              "// end tag: a\n"};

}  // namespace
}  // namespace ptx::emulator

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ptx::emulator::load({reinterpret_cast<const char*>(data), size});
  return 0;
}

// Half of the time a word is replaced, doubled, removed or swapped; the rest is libFuzzer's own mutation.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  using namespace ptx::emulator;
  std::minstd_rand random(seed);
  if (random() % 2 == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::string text(reinterpret_cast<const char*>(data), size);
  for (unsigned changes = 1 + random() % 3; changes > 0; --changes) {
    const std::vector<Word> words = words_of(text);
    if (words.empty()) return LLVMFuzzerMutate(data, size, max_size);
    const Word& word = words[random() % words.size()];
    const Word& other = words[random() % words.size()];
    const std::string spelling = text.substr(other.start, other.length);
    const std::string known = kWords[random() % std::size(kWords)];
    switch (random() % 5) {
      case 0:
        text.replace(word.start, word.length, spelling);
        break;
      case 1:
        text.replace(word.start, word.length, known);
        break;
      case 2:
        text.insert(word.start, known);
        break;
      case 3:
        text.insert(word.start, spelling + " ");
        break;
      default:
        text.erase(word.start, word.length);
        break;
    }
  }
  size = std::min(text.size(), max_size);
  std::memcpy(data, text.data(), size);
  return size;
}
