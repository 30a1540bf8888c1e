// A hub's lists, good and bad, and the choice of files.
#include "engine/hub/hub_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warpchat {
namespace {

const std::string kHash(64, 'a');

HubFile file(const std::string& path, uint64_t bytes = 1000) { return {path, bytes, kHash}; }

std::string chosen(const std::vector<HubFile>& files, const std::string& quant) {
  try {
    std::string paths;
    for (const HubFile& f : choose_files(files, {"org/repo", quant})) paths += (paths.empty() ? "" : " ") + f.path;
    return paths;
  } catch (const Error& error) {
    return error.what();
  }
}

std::string refusal(const std::string& json) {
  try {
    return "took " + std::to_string(parse_file_list(json, "hub").size());
  } catch (const Error& error) {
    return error.what();
  }
}

std::string entry(const std::string& path, const std::string& more) {
  return R"([{"type": "file", "path": ")" + path + "\", " + more + "}]";
}

TEST(HubFiles, AListIsRead) {
  const auto files = parse_file_list(R"([{"type": "directory", "path": "d", "size": 0},
      {"type": "file", "path": "README.md", "size": 7, "oid": "x"},
      {"type": "file", "path": "d/m.gguf", "size": 3, "lfs": {"oid": ")" +
                                         kHash + R"(", "size": 5000000000}}])",
                                     "hub");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].sha256, "");
  EXPECT_EQ(files[1].path, "d/m.gguf");
  EXPECT_EQ(files[1].bytes, 5000000000u);
  EXPECT_EQ(files[1].sha256, kHash);
}

TEST(HubFiles, WhatIsNoListIsRefused) {
  for (const char* text : {"", "{}", "null", "<html>", "[1]", "[{}]", R"([{"path": 1}])", "[", R"([{"path": "a"}])",
                           R"([{"path": "a", "size": -1}])", R"([{"path": "a", "size": 1e30}])",
                           R"([{"path": "a", "size": 99999999999999999}])", R"([{"path": "a", "size": "1"}])"})
    EXPECT_THAT(refusal(text), testing::StartsWith("cannot use what hub lists: ")) << text;
  EXPECT_THAT(refusal(std::string(100000, '[')), testing::StartsWith("cannot use what hub lists: "));
  EXPECT_THAT(refusal(entry("a", R"("size": 1, "lfs": {"oid": "../../x", "size": 1})")), testing::HasSubstr("SHA-256"));
}

TEST(HubFiles, PathsThatLeaveTheirFolderAreRefused) {
  for (const char* path : {"", "/a", "a/", "a//b", "../a", "a/../../b", "a/.", "a\\\\b", "a\\u0000b", "a\\nb"})
    EXPECT_THAT(refusal(entry(path, R"("size": 1)")), testing::HasSubstr("could leave its folder")) << path;
  EXPECT_EQ(refusal(entry("a/..b", R"("size": 1)")), "took 1");
}

TEST(HubFiles, TheQuantisationChooses) {
  const std::vector<HubFile> files = {file("README.md"), file("m-q4_k_m.gguf"), file("m-q8_0.gguf"),
                                      file("mmproj-q4_k_m.gguf"), file("m-Q4_K_M-imat.gguf")};
  EXPECT_EQ(chosen(files, "Q4_K_M"), "m-q4_k_m.gguf");
  EXPECT_EQ(chosen(files, "q8_0"), "m-q8_0.gguf");
  EXPECT_EQ(chosen(files, "m-q4_k_m-imat"), "m-Q4_K_M-imat.gguf");
}

TEST(HubFiles, AllPartsOfASplitModel) {
  EXPECT_EQ(chosen({file("m-Q8_0-00002-of-00002.gguf"), file("m-Q8_0-00001-of-00002.gguf")}, "Q8_0"),
            "m-Q8_0-00001-of-00002.gguf m-Q8_0-00002-of-00002.gguf");
  EXPECT_EQ(
      chosen({file("m-Q8_0-00001-of-00002.gguf"), file("m-Q8_0-00002-of-00002.gguf"), file("m-Q8_0.gguf")}, "Q8_0"),
      "m-Q8_0.gguf");
  EXPECT_EQ(chosen({file("m-Q8_0-00001-of-00003.gguf"), file("m-Q8_0-00003-of-00003.gguf")}, "Q8_0"),
            "org/repo lacks part 2 of the 3 of m-Q8_0; take another quantisation or repository");
  EXPECT_EQ(chosen({file("m-Q8_0-00001-of-99999.gguf")}, "Q8_0"),
            "org/repo lacks part 2 of the 99999 of m-Q8_0; take another quantisation or repository");
}

TEST(HubFiles, OfSeveralThePlainestOrNone) {
  EXPECT_EQ(chosen({file("m-128K-Q4_0.gguf"), file("m-Q4_0.gguf")}, "Q4_0"), "m-Q4_0.gguf");
  EXPECT_EQ(chosen({file("one-Q4_0.gguf"), file("other-Q4_0.gguf")}, "Q4_0"),
            "org/repo:Q4_0 can mean several files; name one of them behind the colon: one-Q4_0 (1.0 kB), other-Q4_0 "
            "(1.0 kB)");
}

TEST(HubFiles, FilesThatAccompanyAModelAreNotMeant) {
  const HubFile model = file("X-Q4_K_M.gguf");
  for (const char* companion : {"mtp-X-Q4_K_M.gguf", "eagle3-X-Q4_K_M.gguf", "dflash-X-Q4_K_M.gguf",
                                "MTP/X-Q4_K_M.gguf", "X-MTP-Q4_K_M.gguf", "A-draft-Q4_K_M.gguf"}) {
    const std::vector<HubFile> files = {file(companion), model};
    EXPECT_EQ(chosen(files, "Q4_K_M"), "X-Q4_K_M.gguf") << companion;
    EXPECT_EQ(chosen(files, "X-Q4_K_M"), "X-Q4_K_M.gguf") << companion;
    EXPECT_EQ(chosen(files, std::string(companion).substr(0, std::string_view(companion).size() - 5)), companion);
    EXPECT_EQ(chosen({file(companion)}, "Q4_K_M"), companion) << "the only match";
  }
}

TEST(HubFiles, NamesWithTheirFolder) {
  const std::vector<HubFile> files = {file("a/X-Q4_K_M.gguf"), file("b/X-Q4_K_M.gguf")};
  EXPECT_EQ(chosen(files, "Q4_K_M"),
            "org/repo:Q4_K_M can mean several files; name one of them behind the colon: a/X-Q4_K_M (1.0 kB), "
            "b/X-Q4_K_M (1.0 kB)");
  EXPECT_EQ(chosen(files, "a/X-Q4_K_M"), "a/X-Q4_K_M.gguf");
  EXPECT_EQ(chosen(files, "b/Q4_K_M"), "b/X-Q4_K_M.gguf");
  EXPECT_EQ(chosen({file("X-UD-IQ2_M.gguf", 1), file("X-UD-Q4_K_XL.gguf", 2), file("X-Q4_K_XL.gguf", 3)}, "Q4_K_M"),
            "there is no Q4_K_M in org/repo; there is UD-IQ2_M (1 B), UD-Q4_K_XL (2 B), Q4_K_XL (3 B)");
}

TEST(HubFiles, TheOnlyModelIfNoneIsNamed) {
  const auto without_name = [](const std::vector<HubFile>& files) -> std::string {
    try {
      return choose_files(files, *parse_hub_model_name("org/repo")).front().path;
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(without_name({file("m-Q8_0.gguf"), file("README.md"), file("mmproj-m.gguf"), file("mtp-m-Q8_0.gguf")}),
            "m-Q8_0.gguf");
  EXPECT_EQ(without_name({file("m-Q8_0-00001-of-00002.gguf"), file("m-Q8_0-00002-of-00002.gguf")}),
            "m-Q8_0-00001-of-00002.gguf");
  EXPECT_EQ(without_name({file("m-Q8_0.gguf", 1), file("m-Q6_K.gguf", 1)}),
            "there is no Q4_K_M in org/repo; there is Q6_K (1 B), Q8_0 (1 B)");
  EXPECT_EQ(chosen({file("m-Q8_0.gguf", 1)}, "Q4_K_M"), "there is no Q4_K_M in org/repo; there is Q8_0 (1 B)");
}

TEST(HubFiles, WhatIsMissingIsSaidWithWhatThereIs) {
  EXPECT_EQ(chosen({file("m-Q8_0.gguf", 3600000000), file("m-Q5_0-00001-of-00002.gguf", 1000000000),
                    file("m-Q5_0-00002-of-00002.gguf", 900000000)},
                   "Q4_K_M"),
            "there is no Q4_K_M in org/repo; there is Q5_0 (1.9 GB), Q8_0 (3.6 GB)");
  EXPECT_THAT(chosen({file("model.safetensors")}, "Q4_K_M"), testing::HasSubstr("holds no GGUF file"));
  EXPECT_THAT(chosen({{"m-Q4_0.gguf", 5, ""}}, "Q4_0"), testing::HasSubstr("has no SHA-256 for m-Q4_0.gguf"));
}

TEST(HubFiles, ASearchIsRead) {
  const std::vector<HubHit> hits = parse_search(
      R"([{"id": "a/b", "downloads": 12, "gguf": {"total": 7, "architecture": "qwen2"}}, {"id": "../x"}, {"id": 1}, {},
          {"id": "x/Embedding-GGUF", "pipeline_tag": "feature-extraction"}, {"id": "x/y", "pipeline_tag": "text-ranking"},
          {"id": "c/d", "downloads": -1, "gguf": {"architecture": 1}, "pipeline_tag": "text-generation"},
          {"id": "e/f", "gguf": [], "pipeline_tag": 3}])",
      "hub");
  ASSERT_EQ(hits.size(), 3u);
  EXPECT_EQ(hits[0].repository + " " + hits[0].architecture, "a/b qwen2");
  EXPECT_EQ(hits[0].downloads, 12u);
  EXPECT_EQ(hits[1].repository + hits[1].architecture, "c/d");
  EXPECT_EQ(hits[1].downloads, 0u);
  EXPECT_EQ(hits[2].repository, "e/f");
  for (const char* text : {"", "<html>", "{}", "null"}) EXPECT_THROW(parse_search(text, "hub"), Error) << text;
}

TEST(HubFiles, TheUsualQuantisationOfARepository) {
  const auto usual = [](const std::vector<HubFile>& files) {
    const auto name = usual_model(files, "org/repo");
    return name ? name->text() : "none";
  };
  EXPECT_EQ(usual({file("m-Q8_0.gguf"), file("m-q4_k_m.gguf"), file("m-Q2_K.gguf")}), "org/repo:Q4_K_M");
  EXPECT_EQ(usual({file("m-BF16.gguf"), file("m-Q8_0.gguf"), file("m-Q6_K.gguf")}), "org/repo:Q6_K");
  EXPECT_EQ(usual({file("m-Q4_K_M-00001-of-00002.gguf"), file("m-Q8_0.gguf")}), "org/repo:Q8_0");
  EXPECT_EQ(usual({file("m-IQ2_XXS.gguf"), file("m-Q2_K.gguf")}), "org/repo:Q2_K");
  EXPECT_EQ(usual({file("m-IQ1_S.gguf"), file("m-IQ2_XXS.gguf")}), "org/repo:IQ2_XXS");
  EXPECT_EQ(usual({file("m-IQ1_S.gguf"), file("README.md")}), "none");
}

}  // namespace
}  // namespace warpchat
