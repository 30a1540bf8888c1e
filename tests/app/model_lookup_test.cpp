// Model names against a few folders in a temporary directory.
#include "app/model_choice/model_lookup.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/model_choice/model_facts.h"
#include "tests/support/gguf/gguf_writer.h"

namespace warpchat {
namespace {

namespace fs = std::filesystem;

class ModelLookup : public testing::Test {
 protected:
  ModelLookup() {
    char name[] = "/tmp/warpchat_lookup_XXXXXX";
    root_ = mkdtemp(name);
    places_.folders = {{root_ + "/plain"}, {root_ + "/hub", ModelStore::kHub}, {root_ + "/missing"}};
    fs::create_directories(root_ + "/plain");
    fs::create_directories(root_ + "/hub");
  }
  ~ModelLookup() override { fs::remove_all(root_); }

  std::string add(const std::string& path) {
    fs::create_directories(fs::path(root_ + "/" + path).parent_path());
    std::ofstream(root_ + "/" + path) << "x";
    return root_ + "/" + path;
  }
  // Hugging Face's layout: the snapshot holds a link to the blob.
  std::string add_cached(const std::string& repository, const std::string& commit, const std::string& file) {
    const std::string base = "hub/models--" + repository;
    const std::string blob = add(base + "/blobs/" + commit + file);
    const std::string link = root_ + "/" + base + "/snapshots/" + commit + "/" + file;
    fs::create_directories(fs::path(link).parent_path());
    fs::create_symlink(blob, link);
    return link;
  }
  std::string resolve(const std::string& name) { return resolve_model(name, places_, root_ + "/state"); }
  template <class E>
  std::string refusal(const std::string& name) {
    try {
      return "resolved to " + resolve(name);
    } catch (const E& error) {
      return error.what();
    }
  }

  std::string root_;
  ModelPlaces places_;
};

TEST_F(ModelLookup, APathIsItself) {
  const std::string path = add("anywhere/x.gguf");
  EXPECT_EQ(resolve(path), path);
}

TEST_F(ModelLookup, WithoutANameTheOnlyOneIsTaken) {
  const std::string path = add("plain/x.gguf");
  add("plain/mmproj-x.gguf");
  add("plain/notes.txt");
  EXPECT_EQ(resolve(""), path);
}

TEST_F(ModelLookup, WithoutANameTheLastUsedIsTaken) {
  add("plain/x.gguf");
  const std::string used = add("elsewhere/y.gguf");
  remember_model(used, root_ + "/state");
  EXPECT_EQ(resolve(""), used);
  fs::remove(used);
  EXPECT_EQ(resolve(""), root_ + "/plain/x.gguf");
}

TEST_F(ModelLookup, WithoutANameNoneOrSeveralIsAUsageError) {
  EXPECT_EQ(refusal<UsageError>(""),
            "no model found; use --model FILE.gguf, or download one: chat pull "
            "Qwen/Qwen2.5-0.5B-Instruct-GGUF");
  add("plain/a.gguf");
  add("plain/b.gguf");
  EXPECT_EQ(refusal<UsageError>(""), "several models found: a.gguf, b.gguf; choose one with --model");
}

// An embedding model is neither the only one nor one of several, but can be named: loading it says what it is.
TEST_F(ModelLookup, AModelThatCannotChatIsNotOffered) {
  GgufWriter writer;
  writer.add_uint32("qwen3.pooling_type", 3);
  writer.add_string("general.architecture", "qwen3");
  const std::string vectors = add("plain/Qwen3-Embedding.gguf");
  writer.write(vectors);
  EXPECT_THROW(resolve(""), NoModel);
  const std::string chat = add("plain/Qwen3-Chat.gguf");
  EXPECT_EQ(resolve(""), chat);
  EXPECT_EQ(resolve("qwen3"), chat);
  EXPECT_EQ(resolve("embedding"), vectors);
  const std::vector<ModelChoice> offered = ModelCatalogue().describe(find_model_files(places_), {}, {});
  ASSERT_EQ(offered.size(), 1u);
  EXPECT_EQ(offered[0].path, chat);
}

TEST_F(ModelLookup, PartsOfASplitModelCountOnce) {
  const std::string first = add("plain/x-00001-of-00002.gguf");
  add("plain/x-00002-of-00002.gguf");
  EXPECT_EQ(resolve(""), first);
}

TEST_F(ModelLookup, AFileNameIsFoundInTheFolders) {
  const std::string path = add("plain/x.gguf");
  EXPECT_EQ(resolve("x.gguf"), path);
}

TEST_F(ModelLookup, APartOfANameIsEnoughIfItIsOneModels) {
  const std::string small = add("plain/Qwen2.5-0.5B-Q4_0.gguf");
  const std::string large = add_cached("Qwen--Qwen3-4B-GGUF", "c1", "Qwen3-4B-Q4_K_M.gguf");
  EXPECT_EQ(resolve("0.5b"), small);
  EXPECT_EQ(resolve("qwen3"), large);
  EXPECT_EQ(refusal<UsageError>("qwen"),
            "several models have 'qwen' in their name: Qwen2.5-0.5B-Q4_0.gguf, Qwen/Qwen3-4B-GGUF:Q4_K_M; be more "
            "specific");
  EXPECT_EQ(refusal<Error>("llama"),
            "cannot load llama: no such file, here or in the model folders; chat pull llama searches the hub");
}

TEST_F(ModelLookup, WordsMayStandAnywhereInTheName) {
  const std::string coder = add("plain/Qwen2.5-Coder-7B-Q4_K_M.gguf");
  add("plain/Qwen2.5-7B-Q4_K_M.gguf");
  EXPECT_EQ(resolve("7b coder"), coder);
  EXPECT_EQ(resolve("CODER q4_k"), coder);
  EXPECT_EQ(refusal<Error>("coder 3b"),
            "cannot load coder 3b: no such file, here or in the model folders; chat pull coder 3b searches the hub");
}

TEST_F(ModelLookup, AWholeFileNameBeatsAPartOfAnother) {
  add("plain/a-x.gguf");
  const std::string path = add("plain/x.gguf");
  for (const char* name : {"x.gguf", "X.GGUF", "x", "X"}) EXPECT_EQ(resolve(name), path) << name;
}

TEST_F(ModelLookup, AFileHereBeatsWhatIsFoundByAName) {
  add("plain/own-x.gguf");
  add("plain/own-y.gguf");
  const fs::path before = fs::current_path();
  const std::string path = add("here/own");
  add("here/folder/z.gguf");
  fs::current_path(fs::path(path).parent_path());
  EXPECT_EQ(resolve("own"), "own");
  EXPECT_EQ(resolve("folder/z.gguf"), "folder/z.gguf");
  EXPECT_EQ(refusal<Error>("./folder"), "cannot load ./folder: it is a directory; name a file in it");
  EXPECT_EQ(refusal<Error>("folder"),
            "cannot load folder: no such file, here or in the model folders; chat pull folder searches the hub");
  const std::string found = add("plain/folder-model.gguf");
  EXPECT_EQ(resolve("folder"), found);
  fs::current_path(before);
}

TEST_F(ModelLookup, SeveralHitsAreTheChoices) {
  const std::string one = add("plain/one-a.gguf"), other = add("plain/one-b.gguf");
  try {
    FAIL() << resolve("ONE");
  } catch (const SeveralModels& several) {
    ASSERT_EQ(several.models.size(), 2u);
    EXPECT_EQ(several.models[0].path, one);
    EXPECT_EQ(several.models[1].path, other);
  }
}

TEST_F(ModelLookup, ARepositoryNameIsFoundInTheCache) {
  const std::string q4 = add_cached("Qwen--Qwen2.5-3B-Instruct-GGUF", "c1", "qwen2.5-3b-instruct-q4_k_m.gguf");
  const std::string q8 = add_cached("Qwen--Qwen2.5-3B-Instruct-GGUF", "c1", "qwen2.5-3b-instruct-q8_0.gguf");
  EXPECT_EQ(resolve("Qwen/Qwen2.5-3B-Instruct-GGUF"), q4);
  EXPECT_EQ(resolve("Qwen/Qwen2.5-3B-Instruct-GGUF:q8_0"), q8);
  EXPECT_EQ(resolve("hf.co/Qwen/Qwen2.5-3B-Instruct-GGUF:Q4_K_M"), q4);
  EXPECT_EQ(refusal<Error>("Qwen/Qwen2.5-3B-Instruct-GGUF:Q6_K"),
            "no Qwen/Qwen2.5-3B-Instruct-GGUF:Q6_K in the model caches, which hold "
            "Qwen/Qwen2.5-3B-Instruct-GGUF:Q4_K_M, Qwen/Qwen2.5-3B-Instruct-GGUF:Q8_0; download it with chat pull "
            "Qwen/Qwen2.5-3B-Instruct-GGUF:Q6_K, or add --yes");
}

TEST_F(ModelLookup, TheSnapshotThatMainNamesComesFirst) {
  add_cached("o--r", "a1", "m-Q4_K_M.gguf");
  const std::string current = add_cached("o--r", "b2", "m-Q4_K_M.gguf");
  fs::create_directories(root_ + "/hub/models--o--r/refs");
  std::ofstream(root_ + "/hub/models--o--r/refs/main") << "b2";
  EXPECT_EQ(resolve("o/r"), current);
}

TEST_F(ModelLookup, ASplitModelInAFolderOfItsSnapshot) {
  const std::string first = add_cached("o--r", "a1", "Q5_K_M/m-Q5_K_M-00001-of-00002.gguf");
  add_cached("o--r", "a1", "Q5_K_M/m-Q5_K_M-00002-of-00002.gguf");
  EXPECT_EQ(resolve("o/r:Q5_K_M"), first);
}

// A download that stopped, beside an older commit that has all parts.
TEST_F(ModelLookup, AWholeModelOfAnOlderSnapshotBeatsABrokenOne) {
  const std::string whole = add_cached("o--r", "a1", "m-Q4_K_M-00001-of-00002.gguf");
  add_cached("o--r", "a1", "m-Q4_K_M-00002-of-00002.gguf");
  add_cached("o--r", "b2", "m-Q4_K_M-00001-of-00002.gguf");
  fs::create_directories(root_ + "/hub/models--o--r/refs");
  std::ofstream(root_ + "/hub/models--o--r/refs/main") << "b2";
  EXPECT_EQ(resolve("o/r"), whole);
  const std::vector<FoundModel> models = find_model_files(places_);
  ASSERT_EQ(models.size(), 1u);
  EXPECT_EQ(models[0].path, whole);
}

TEST_F(ModelLookup, FilesThatAccompanyAModelAreNotMeant) {
  const std::string draft = add_cached("o--r", "a1", "mtp-z-Q4_K_M.gguf");
  const std::string folder = add_cached("o--r", "a1", "MTP/z-Q4_K_M.gguf");
  const std::string model = add_cached("o--r", "a1", "z-Q4_K_M.gguf");
  EXPECT_EQ(resolve("o/r"), model);
  EXPECT_EQ(resolve("o/r:z-Q4_K_M"), model);
  EXPECT_EQ(resolve("o/r:MTP/z-Q4_K_M"), folder);
  EXPECT_EQ(resolve("o/r:mtp-z-Q4_K_M"), draft);
  for (const FoundModel& found : find_model_files(places_)) EXPECT_EQ(resolve(found.name), found.path) << found.name;
}

TEST_F(ModelLookup, TheOnlyModelOfARepositoryIfNoneIsNamed) {
  const std::string model = add_cached("o--r", "a1", "m-Q8_0.gguf");
  EXPECT_EQ(resolve("o/r"), model);
  EXPECT_THROW(resolve("o/r:Q4_K_M"), NotCached);
  add_cached("o--r", "a1", "m-Q6_K.gguf");
  EXPECT_THROW(resolve("o/r"), NotCached);
}

TEST_F(ModelLookup, UnknownNamesSayWhereWasLooked) {
  EXPECT_EQ(refusal<Error>("nothing.gguf"), "cannot load nothing.gguf: no such file, here or in the model folders");
  EXPECT_EQ(refusal<NotCached>("org/none"),
            "no org/none in the model caches; download it with chat pull org/none, or add --yes");
}

}  // namespace
}  // namespace warpchat
