// Names of models on a hub, and what file names tell.
#include "engine/hub/model_name.h"

#include <gtest/gtest.h>

namespace warpchat {
namespace {

std::string parsed(std::string_view name) {
  const auto result = parse_hub_model_name(name);
  return result ? result->text() : "none";
}

TEST(HubModelName, Spellings) {
  EXPECT_EQ(parsed("Qwen/Qwen3-4B-GGUF"), "Qwen/Qwen3-4B-GGUF:Q4_K_M");
  EXPECT_EQ(parsed("Qwen/Qwen3-4B-GGUF:q8_0"), "Qwen/Qwen3-4B-GGUF:q8_0");
  EXPECT_EQ(parsed("hf.co/a/b:Q6_K"), "a/b:Q6_K");
  EXPECT_EQ(parsed("https://huggingface.co/a/b"), "a/b:Q4_K_M");
  EXPECT_EQ(parsed("a/b:whole-name-Q4_0.gguf"), "a/b:whole-name-Q4_0");
  EXPECT_EQ(parsed("_a/b_"), "_a/b_:Q4_K_M");
  EXPECT_EQ(parsed("a/b:MTP/X-Q4_K_M.gguf"), "a/b:MTP/X-Q4_K_M");
  EXPECT_EQ(parse_hub_model_name("a/b")->as_written(), "a/b");
  EXPECT_EQ(parse_hub_model_name("a/b:Q4_K_M")->as_written(), "a/b:Q4_K_M");
}

TEST(HubModelName, AddressesOfABrowser) {
  const std::pair<const char*, const char*> cases[] = {
      {"https://huggingface.co/a/b/", "a/b:Q4_K_M"},
      {"huggingface.co/a/b", "a/b:Q4_K_M"},
      {"http://huggingface.co/a/b", "a/b:Q4_K_M"},
      {"https://www.huggingface.co/a/b#files", "a/b:Q4_K_M"},
      {"https://huggingface.co/a/b/tree/main", "a/b:Q4_K_M"},
      {"https://huggingface.co/a/b/tree/main/", "a/b:Q4_K_M"},
      {"https://huggingface.co/a/b/tree/main/Q8_0", "a/b:Q8_0"},
      {"https://huggingface.co/a/b/blob/main/x-Q6_K.gguf", "a/b:x-Q6_K"},
      {"https://huggingface.co/a/b/blob/main/Q8_0/x-Q8_0-00002-of-00003.gguf", "a/b:Q8_0/x-Q8_0"},
      {"https://huggingface.co/a/b/resolve/main/x-Q6_K.gguf?download=true", "a/b:x-Q6_K"},
      {"https://huggingface.co/a/b?show_file_info=x-Q6_K.gguf", "a/b:x-Q6_K"},
      {"https://huggingface.co/a/b?library=gguf&show_file_info=x-Q6_K.gguf", "a/b:x-Q6_K"},
      {"https://hf.co/a/b:Q6_K", "a/b:Q6_K"},
      {"hf.co/a/b:x-Q6_K.gguf", "a/b:x-Q6_K"},
      {"https://huggingface.co/a/b/blob/main/README.md", "none"},
      {"https://huggingface.co/a/b/blob/v2/x-Q6_K.gguf", "none"},
      {"https://huggingface.co/a/b/discussions/1", "none"},
      {"https://huggingface.co/a/b/tree/mainly", "none"},
      {"https://huggingface.co/a", "none"},
      {"https://huggingface.co/", "none"},
      {"https://huggingface.co/a/b/blob/main/../x.gguf", "none"},
      {"https://example.com/a/b", "none"},
      {"https://a/b", "none"},
      {"a/b/blob/main/x.gguf", "none"}};
  for (const auto& [address, name] : cases) EXPECT_EQ(parsed(address), name) << address;
  EXPECT_TRUE(parse_hub_model_name("https://huggingface.co/a/b/tree/main")->is_default);
  EXPECT_FALSE(parse_hub_model_name("https://huggingface.co/a/b/blob/main/x-Q6_K.gguf")->is_default);
}

TEST(HubModelName, WhatIsNone) {
  for (const char* name : {"",         "a",          "a/",      "/b",        "a/b/c",  "./b",    "../b",
                           "a/..",     "a/b.gguf",   "a/b:",    "a/b:.gguf", "a/b:/x", "a/b:x/", "a/b:x//y",
                           "a/b:../y", "a/b:x/../y", "a/b:x y", "a b/c",     "a/b\n",  "a/-b",   "a/b.",
                           "a--b/c",   "a/b..c",     "a/b%2e",  "a/b?c",     "~/b",    "a:b/c",  "http://a/b"})
    EXPECT_EQ(parsed(name), "none") << name;
  EXPECT_EQ(parsed("a/" + std::string(97, 'b')), "none");
  EXPECT_EQ(parsed("a/b:" + std::string(201, 'q')), "none");
}

TEST(HubModelName, PartsOfSplitFiles) {
  const FilePart part = part_of("Q8_0/m-q8_0-00002-of-00003.gguf");
  EXPECT_EQ(part.stem, "Q8_0/m-q8_0");
  EXPECT_EQ(part.number, 2u);
  EXPECT_EQ(part.n_parts, 3u);
  EXPECT_EQ(part_of("m-00001-OF-00002.GGUF").n_parts, 2u);
  for (const char* whole : {"m.gguf", "m-0001-of-0002.gguf", "m-00001-of-0000x.gguf", "00001-of-00002.gguf", ".gguf"})
    EXPECT_EQ(part_of(whole).n_parts, 1u) << whole;
}

TEST(HubModelName, QuantisationOfAFile) {
  EXPECT_EQ(quant_of("qwen2.5-3b-instruct-q4_k_m.gguf"), "Q4_K_M");
  EXPECT_EQ(quant_of("x/Llama-3.Q5_0-00001-of-00002.gguf"), "Q5_0");
  EXPECT_EQ(quant_of("model.gguf"), "MODEL");
  EXPECT_EQ(quant_of("m-UD-Q4_K_XL.gguf"), "UD-Q4_K_XL");
  EXPECT_EQ(quant_of("cloud-Q4_0.gguf"), "Q4_0");
}

struct MatchCase {
  const char *path, *quant;
  int match;
};
constexpr MatchCase kMatchCases[] = {
    {"m-Q4_K_M.gguf", "q4_k_m", 3},
    {"m.q4_k_m.gguf", "Q4_K_M", 3},
    {"m-q4_k_m-00001-of-00003.gguf", "Q4_K_M", 3},
    {"m-Q4_K_M-imat.gguf", "Q4_K_M", 2},
    {"m-UD-Q4_K_XL.gguf", "UD-Q4_K_XL", 3},
    {"m-UD-Q4_K_XL.gguf", "Q4_K_XL", 2},
    {"m_Q4_K_M.gguf", "Q4_K_M", 1},
    {"Q4_K_M/m.gguf", "Q4_K_M", 1},
    {"m-Q4_K_M.gguf", "M-q4_k_m", 5},
    {"MTP/m-Q4_K_M.gguf", "m-q4_k_m", 4},
    {"MTP/m-Q4_K_M.gguf", "mtp/m-q4_k_m", 5},
    {"MTP/m-Q4_K_M.gguf", "MTP/Q4_K_M", 3},
    {"m-Q4_K_M.gguf", "MTP/Q4_K_M", 0},
    {"m-IQ4_K_M.gguf", "Q4_K_M", 0},  // other letters before it
    {"m-Q4_K_MX.gguf", "Q4_K_M", 0},  // and after it
    {"m-Q4_K_M.gguf", "Q4_K", 0},
    {"Q4_K_M-models/m.gguf", "Q4_K_M", 0},
};

TEST(HubModelName, HowWellAFileIsMeant) {
  for (const MatchCase& c : kMatchCases) EXPECT_EQ(quant_match(c.path, c.quant), c.match) << c.path << " " << c.quant;
}

TEST(HubModelName, FilesThatAccompanyAModel) {
  for (const char* companion : {"mtp-m-Q4_K_M.gguf", "MTP/m-Q4_K_M.gguf", "m-MTP-Q4_K_M.gguf", "eagle3-m.gguf",
                                "dflash-m-Q8_0.gguf", "m-draft-Q4_0.gguf", "imatrix_m.gguf", "m.imatrix.gguf"}) {
    EXPECT_TRUE(is_companion(companion)) << companion;
  }
  for (const char* model : {"m-Q4_K_M.gguf", "Q4_K_M/m.gguf", "drafting-m.gguf", "smtp-m.gguf"})
    EXPECT_FALSE(is_companion(model)) << model;
  EXPECT_GT(quant_rank("m_Q4_K_M.gguf", "Q4_K_M"), quant_rank("mtp-m-Q4_K_M.gguf", "Q4_K_M"));
  EXPECT_GT(quant_rank("mtp-m-Q4_K_M.gguf", "mtp-m-Q4_K_M"), quant_rank("m-Q4_K_M.gguf", "Q4_K_M"));
  EXPECT_GT(quant_rank("mtp-m-Q4_K_M.gguf", "Q4_K_M"), 0);
  EXPECT_EQ(quant_rank("mtp-m-Q4_K_M.gguf", "Q8_0"), 0);
}

TEST(HubModelName, ModelFiles) {
  EXPECT_TRUE(is_model_path("a/B.GGUF"));
  for (const char* other : {"mmproj-m-f16.gguf", "m-mmproj-f16.gguf", "README.md", "m.gguf.txt"})
    EXPECT_FALSE(is_model_path(other)) << other;
}

}  // namespace
}  // namespace warpchat
