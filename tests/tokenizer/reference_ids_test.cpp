// Real vocabularies: the ids of llama.cpp for the same texts (llama-cpp-python 0.3.36), by both merge methods. Where a
// text is composed first, those of transformers 5.23.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "models/tokenizer/compose.h"
#include "tests/support/test_files.h"
#include "tests/tokenizer/test_vocabulary.h"

namespace warpchat {
namespace {

constexpr char kQwen2[] = "ggml-vocab-qwen2.gguf", kSpm[] = "ggml-vocab-llama-spm.gguf";
constexpr MergeMethod kMethods[] = {MergeMethod::kSentencePieceIfExact, MergeMethod::kOwn};

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> reference_texts(const std::string& path) {
  constexpr std::string_view kBetween = "\n__ggml_vocab_test__\n";
  const std::string all = contents(path);
  std::vector<std::string> texts;
  for (size_t at = 0, end; (end = all.find(kBetween, at)) != std::string::npos; at = end + kBetween.size())
    texts.push_back(all.substr(at, end - at));
  return texts;
}

std::vector<std::vector<Token>> lines_of_ids(const std::string& path) {
  std::vector<std::vector<Token>> lines;
  std::istringstream in(contents(path));
  for (std::string line; std::getline(in, line);) {
    std::istringstream ids(line);
    lines.emplace_back(std::istream_iterator<Token>(ids), std::istream_iterator<Token>());
  }
  return lines;
}

void expect_ids(const char* vocabulary, const std::string& ids_path) {
  const GgufFile file = GgufFile::open(reference_data_path(vocabulary));
  const std::vector<std::string> texts = reference_texts(reference_data_path("ggml-vocab-qwen2.gguf.inp"));
  const std::vector<std::vector<Token>> ids = lines_of_ids(ids_path);
  ASSERT_EQ(texts.size(), 46u);
  ASSERT_GE(ids.size(), texts.size());
  for (const MergeMethod method : kMethods) {
    const auto tokenizer = Tokenizer::from(file, method);
    for (size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(tokenizer->encode(texts[i], false, false), ids[i]) << tokenizer->method() << ": " << texts[i];
      EXPECT_EQ(decode(*tokenizer, ids[i]), texts[i]) << tokenizer->method();
    }
  }
}

TEST(ReferenceIds, Qwen2) { expect_ids(kQwen2, reference_data_path("ggml-vocab-qwen2.gguf.out")); }

// The ids of Qwen2Tokenizer and Qwen3_5Tokenizer for texts that are not composed, with control tokens among them.
TEST(ReferenceIds, ComposedText) {
  const std::string data = WARPCHAT_SOURCE_DIR "/tests/tokenizer/data/";
  std::vector<std::string> texts;
  std::istringstream all(contents(data + "nfc_texts.bin"));
  for (std::string text; std::getline(all, text, '\0');) texts.push_back(text);
  ASSERT_EQ(texts.size(), 15u);
  const GgufFile qwen2 = GgufFile::open(reference_data_path(kQwen2));
  for (const std::string pre : {"qwen2", "qwen35"}) {
    const std::vector<std::vector<Token>> ids = lines_of_ids(data + "nfc_" + pre + ".ids");
    ASSERT_EQ(ids.size(), texts.size());
    GgufWriter writer;
    writer.copy_metadata(qwen2, std::vector<std::string>{"tokenizer.ggml.pre"});
    writer.add_string("tokenizer.ggml.pre", pre);
    const std::vector<std::byte> bytes = writer.bytes();
    const GgufFile file = GgufFile::view(bytes, pre);
    for (const MergeMethod method : kMethods) {
      const auto tokenizer = Tokenizer::from(file, method);
      for (size_t i = 0; i < texts.size(); ++i)
        EXPECT_EQ(tokenizer->encode(texts[i], true, false), ids[i]) << pre << ": " << texts[i];
    }
  }
}

TEST(ReferenceIds, LlamaSpm) { expect_ids(kSpm, WARPCHAT_SOURCE_DIR "/tests/tokenizer/data/llama_spm.ids"); }

std::string from_hex(std::string_view digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  return bytes;
}

// mistral-common's ids (make_tekken.py). The vocabulary is cut to the tokens that the texts contain; `real` has their
// ids in the whole one. A merge is any two tokens that make a third, in that one's order, as in converted files.
TEST(ReferenceIds, Tekken) {
  test::TestVocabulary vocabulary;
  vocabulary.pre = "tekken";
  std::vector<Token> real;
  std::vector<std::string> bytes_of;  // by token
  std::map<std::string, Token> own;   // by bytes
  std::vector<std::pair<std::string, std::vector<Token>>> texts;
  std::istringstream lines(contents(WARPCHAT_SOURCE_DIR "/tests/tokenizer/data/tekken.tsv"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string kind, hex;
    fields >> kind;
    if (kind == "token") {
      fields >> real.emplace_back() >> hex;
      own.emplace(from_hex(hex), static_cast<Token>(bytes_of.size()));
      bytes_of.push_back(from_hex(hex));
    } else {
      fields >> hex;
      texts.emplace_back(from_hex(hex), std::vector(std::istream_iterator<Token>(fields), {}));
    }
  }
  ASSERT_GE(texts.size(), 150u);
  for (const std::string& bytes : bytes_of) {
    std::set<std::pair<Token, Token>> pairs;
    for (size_t i = 1; i < bytes.size(); ++i)
      if (own.contains(bytes.substr(0, i)) && own.contains(bytes.substr(i)))
        pairs.emplace(own[bytes.substr(0, i)], own[bytes.substr(i)]);
    const auto text_of = [&](Token token) { return map_bytes(bytes_of[static_cast<size_t>(token)]); };
    for (const auto& [left, right] : pairs) vocabulary.merges.push_back(text_of(left) + " " + text_of(right));
    vocabulary.add(map_bytes(bytes));
  }
  const std::vector<std::byte> bytes = vocabulary.bytes();
  const GgufFile file = GgufFile::view(bytes, "tekken");
  for (const MergeMethod method : kMethods) {
    const auto tokenizer = Tokenizer::from(file, method);
    for (const auto& [text, ids] : texts) {
      std::vector<Token> found;
      for (const Token token : tokenizer->encode(text, false, false))
        found.push_back(real.at(static_cast<size_t>(token)));
      EXPECT_EQ(found, ids) << tokenizer->method() << ": " << text;
    }
  }
}

struct ReferenceCase {
  const char* name;
  std::string text;
  bool parse_special;
  std::vector<Token> qwen2, spm;
};

// clang-format off
const ReferenceCase kReferenceCases[] = {
    {"greeting", "Hello, world! How's it going?", false,
     {9707, 11, 1879, 0, 2585, 594, 432, 2087, 30},
     {15043, 29892, 3186, 29991, 1128, 29915, 29879, 372, 2675, 29973}},
    {"white_space_runs", "a  b   c\n\n\n  d\t\te \r\n f", false,
     {64, 220, 293, 256, 272, 1406, 220, 294, 197, 7727, 2529, 282},
     {263, 29871, 289, 259, 274, 13, 13, 13, 29871, 270, 12, 12, 29872, 6756, 13, 285}},
    {"trailing_space", "one two  ", false,
     {603, 1378, 256},
     {697, 1023, 259}},
    {"digits", "1 12 123 1234 3.14 ½ Ⅷ २३", false,
     {16, 220, 16, 17, 220, 16, 17, 18, 220, 16, 17, 18, 19, 220, 18, 13, 16, 19, 220, 26062, 220, 70467, 100,
      220, 12619, 101, 12619, 102},
     {29871, 29896, 29871, 29896, 29906, 29871, 29896, 29906, 29941, 29871, 29896, 29906, 29941, 29946, 29871,
      29941, 29889, 29896, 29946, 29871, 30226, 29871, 229, 136, 170, 29871, 227, 168, 171, 227, 168, 172}},
    {"contractions", "I'll, I'LL, we've don'T o'clock", false,
     {40, 3278, 11, 358, 6, 4086, 11, 582, 3003, 1513, 17323, 297, 62410},
     {306, 29915, 645, 29892, 306, 29915, 2208, 29892, 591, 29915, 345, 1016, 29915, 29911, 288, 29915, 13058}},
    {"code", "for (int i = 0; i < n; ++i) {\n\tx[i] += y->z;\n}", false,
     {1958, 320, 396, 600, 284, 220, 15, 26, 600, 366, 308, 26, 3443, 72, 8, 341, 10225, 989, 60, 1421, 379,
      405, 89, 280, 92},
     {363, 313, 524, 474, 353, 29871, 29900, 29936, 474, 529, 302, 29936, 8445, 29875, 29897, 426, 13, 12,
      29916, 29961, 29875, 29962, 4619, 343, 976, 29920, 29936, 13, 29913}},
    {"languages", "Äpfel нещо 你好 こんにちは 안녕 สวัสดี مرحبا", false,
     {86975, 15897, 301, 18658, 14144, 1456, 220, 108386, 220, 89015, 95170, 144370, 129328, 37213, 23271,
      125136, 28319, 23364, 126860, 124671},
     {11585, 7810, 295, 1538, 4851, 29871, 30919, 31076, 29871, 30589, 30389, 30353, 30644, 30449, 29871, 31734,
      238, 136, 152, 29871, 30547, 30492, 30510, 30547, 30718, 30691, 29871, 30159, 30156, 30240, 30177,
      30112}},
    {"combining", "e\314\201 a\314\210 n\314\203o", false,
     {963, 12709, 1683, 109, 78},
     {321, 30103, 263, 31719, 302, 30478, 29877}},
    {"emoji_sequences", "👩\342\200\215👩\342\200\215👧 🇩🇪 🦙.cpp", false,
     {145233, 378, 235, 145233, 378, 235, 145665, 11162, 229, 102, 145336, 11162, 99, 247, 13, 10821},
     {29871, 243, 162, 148, 172, 30722, 243, 162, 148, 172, 30722, 243, 162, 148, 170, 29871, 243, 162, 138,
      172, 243, 162, 138, 173, 29871, 243, 162, 169, 156, 29889, 8223}},
    {"control_characters", "\001\002\177\033[0m", false,
     {189, 190, 221, 90435, 15, 76},
     {29871, 4, 5, 130, 30, 29961, 29900, 29885}},
    {"letters_of_unicode_15", "\360\261\215\220\360\236\200\260 \360\236\223\220", false,
     {172, 109, 235, 238, 172, 252, 222, 108, 220, 172, 252, 241, 238},
     {29871, 243, 180, 144, 147, 243, 161, 131, 179, 29871, 243, 161, 150, 147}},
    {"mongolian_vowel_separator", "a\341\240\216b \341\240\216 c", false,
     {64, 123970, 236, 65, 86089, 254, 236, 272},
     {263, 228, 163, 145, 29890, 29871, 228, 163, 145, 274}},
    {"special_as_text", "<|im_start|>user</s><s><unk>", false,
     {27, 91, 318, 4906, 91, 29, 872, 522, 82, 1784, 82, 1784, 3122, 29},
     {529, 29989, 326, 29918, 2962, 29989, 29958, 1792, 829, 29879, 5299, 29879, 5299, 2960, 29958}},
    {"special_parsed", "<s><|im_start|>user\nhi<|im_end|></s> x <unk>y", true,
     {44047, 29, 151644, 872, 198, 6023, 151645, 128247, 856, 366, 3122, 82244},
     {1, 529, 29989, 326, 29918, 2962, 29989, 29958, 1792, 13, 2918, 29966, 29989, 326, 29918, 355, 29989,
      29958, 2, 29871, 921, 29871, 0, 343}},
    {"special_beside_space", " <s> a </s> <|im_end|> b", true,
     {366, 82, 29, 264, 220, 128247, 220, 151645, 293},
     {259, 1, 29871, 263, 29871, 2, 29871, 529, 29989, 326, 29918, 355, 29989, 29958, 289}},
    {"byte_token_as_text", "<0x0A>▁x", false,
     {27, 15, 87, 15, 32, 29, 10417, 223, 87},
     {529, 29900, 29916, 29900, 29909, 29958, 921}},
};
// clang-format on

TEST(ReferenceIds, Cases) {
  const GgufFile files[] = {GgufFile::open(reference_data_path(kQwen2)), GgufFile::open(reference_data_path(kSpm))};
  for (const MergeMethod method : kMethods) {
    const auto qwen2_tokenizer = Tokenizer::from(files[0], method), spm_tokenizer = Tokenizer::from(files[1], method);
    for (const ReferenceCase& c : kReferenceCases) {
      EXPECT_EQ(qwen2_tokenizer->encode(c.text, c.parse_special, false), c.qwen2) << c.name;
      EXPECT_EQ(spm_tokenizer->encode(c.text, c.parse_special, false), c.spm) << c.name;
    }
  }
}

TEST(ReferenceIds, BothMethodsAgreeAndEveryTextComesBack) {
  std::mt19937 random(5);
  for (const char* name : {kQwen2, kSpm}) {
    const GgufFile file = GgufFile::open(reference_data_path(name));
    const auto one = Tokenizer::from(file), other = Tokenizer::from(file, MergeMethod::kOwn);
    EXPECT_EQ(one->method(), "sentencepiece") << name;
    for (int i = 0; i < 500; ++i) {
      const std::string text = test::random_text(random, 60);
      const std::vector<Token> ids = one->encode(text, true, false);
      ASSERT_EQ(ids, other->encode(text, true, false)) << text;
      std::string composed, composed_back;
      const std::string back = decode(*one, ids, true);
      ASSERT_EQ(compose_text(back, composed_back), compose_text(text, composed));
      if (!one->composes()) {
        ASSERT_EQ(back, text);
      }
    }
  }
}

}  // namespace
}  // namespace warpchat
