// Folders as this and other programs fill them, models.json as people write it, and what is removed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "app/model_choice/model_book.h"
#include "app/model_choice/model_facts.h"
#include "app/model_choice/model_list.h"
#include "app/model_choice/model_lookup.h"
#include "app/model_choice/model_removal.h"
#include "app/platform/directories.h"
#include "app/platform/text_input.h"
#include "tests/support/gguf/gguf_writer.h"
#include "tests/support/variable.h"

namespace warpchat {
namespace {

namespace fs = std::filesystem;

const std::string kHash(64, 'a'), kOtherHash(64, 'b'), kLicence(64, 'c');

class LocalModels : public testing::Test {
 protected:
  LocalModels() : home_(make_home()), home_variable_("HOME", home_) {}
  ~LocalModels() override { fs::remove_all(home_); }

  static std::string make_home() {
    char name[] = "/tmp/warpchat_local_models_XXXXXX";
    return mkdtemp(name);
  }
  std::string write(const std::string& path, const std::string& text = "x") {
    const std::string whole = home_ + "/" + path;
    fs::create_directories(fs::path(whole).parent_path());
    std::ofstream(whole) << text;
    return whole;
  }
  std::string link(const std::string& path, const std::string& target) {
    const std::string whole = home_ + "/" + path;
    fs::create_directories(fs::path(whole).parent_path());
    fs::create_symlink(target, whole);
    return whole;
  }
  // "NAME at PATH from STORE" for each, without the home.
  std::vector<std::string> listed() {
    std::vector<std::string> lines;
    for (const FoundModel& model : find_model_files(model_places()))
      lines.push_back(model.name + " at " + model.path.substr(home_.size() + 1) + " from " +
                      std::string(name_of(model.store)));
    return lines;
  }
  const FoundModel& model_named(const std::string& name) {
    models_ = find_model_files(model_places());
    const auto found = std::ranges::find(models_, name, &FoundModel::name);
    EXPECT_NE(found, models_.end()) << name;
    return *found;
  }
  bool is_there(const std::string& path) { return fs::exists(fs::symlink_status(home_ + "/" + path)); }
  std::string resolve(const std::string& name) { return resolve_model(name, model_places(), state_directory()); }

  const std::string home_;
  const Variable home_variable_, config_{"XDG_CONFIG_HOME", std::nullopt}, state_{"XDG_STATE_HOME", std::nullopt},
      cache_{"XDG_CACHE_HOME", std::nullopt}, data_{"XDG_DATA_HOME", std::nullopt}, llama_{"LLAMA_CACHE", std::nullopt},
      hub_{"HF_HUB_CACHE", std::nullopt}, hf_{"HF_HOME", std::nullopt}, ollama_{"OLLAMA_MODELS", "~/.ollama/models"};
  std::vector<FoundModel> models_;
};

using Lines = std::vector<std::string>;

std::string manifest_of(const std::string& hash) {
  return R"({"schemaVersion":2,"config":{"digest":"sha256:)" + std::string(64, 'd') +
         R"("},"layers":[{"mediaType":"application/vnd.ollama.image.license","digest":"sha256:)" + kLicence +
         R"("},{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:)" + hash + R"(","size":1}]})";
}

TEST_F(LocalModels, OllamasHaveItsNames) {
  for (const std::string& hash : {kHash, kOtherHash, kLicence}) write(".ollama/models/blobs/sha256-" + hash);
  const std::string manifests = ".ollama/models/manifests/";
  write(manifests + "registry.ollama.ai/library/qwen2.5/3b", manifest_of(kHash));
  write(manifests + "registry.ollama.ai/library/tiny/latest", manifest_of(kOtherHash));
  write(manifests + "registry.ollama.ai/library/gone/latest", manifest_of(std::string(64, 'e')));
  for (const char* text :
       {"", "[]", "{\"layers\":7}", "{\"layers\":[7,{\"mediaType\":\"application/vnd.ollama.image.model\"}]}",
        "{\"layers\":[{\"mediaType\":\"application/vnd.ollama.image.model\",\"digest\":\"sha256:../../x\"}]}"})
    write(manifests + "registry.ollama.ai/library/broken/t" + std::to_string(std::string(text).size()), text);
  EXPECT_EQ(listed(), (Lines{"qwen2.5:3b at .ollama/models/blobs/sha256-" + kHash + " from Ollama",
                             "tiny:latest at .ollama/models/blobs/sha256-" + kOtherHash + " from Ollama"}));
  for (const char* name : {"qwen2.5:3b", "Qwen2.5:3B", "qwen2.5"})
    EXPECT_EQ(resolve(name), home_ + "/.ollama/models/blobs/sha256-" + kHash) << name;
  EXPECT_EQ(resolve("tiny"), home_ + "/.ollama/models/blobs/sha256-" + kOtherHash);
  EXPECT_EQ(shown_name(resolve("qwen2.5:3b")), "qwen2.5:3b");
  write(manifests + "hf.co/org/Repo-GGUF/Q4_K_M", manifest_of(kOtherHash));
  fs::remove_all(home_ + "/" + manifests + "registry.ollama.ai/library/tiny");
  EXPECT_EQ(model_named("hf.co/org/Repo-GGUF:Q4_K_M").store, ModelStore::kOllama);
}

TEST_F(LocalModels, AShownNameIsWithoutFoldersAndEnding) {
  for (const auto& [model, name] :
       std::vector<std::pair<std::string, std::string>>{{"/models/Qwen3-4B-Q4_K_M.gguf", "Qwen3-4B-Q4_K_M"},
                                                        {"big-00001-of-00003.GGUF", "big"},
                                                        {"org/served-model", "served-model"},
                                                        {"qwen2.5:3b", "qwen2.5:3b"},
                                                        {"gpt-4.1", "gpt-4.1"},
                                                        {"/nowhere/sha256-" + kHash, "sha256-" + kHash},
                                                        {"", ""}})
    EXPECT_EQ(shown_name(model), name);
}

TEST_F(LocalModels, LmStudiosHaveTheHubsNames) {
  write(".lmstudio/models/org/Repo-GGUF/m-Q4_K_M.gguf");
  write(".lmstudio/models/org/Repo-GGUF/mmproj-m.gguf");
  write("moved/org/Other-GGUF/o-Q8_0.gguf");
  write("pointed/models/org/Third/t.gguf");
  write(".lmstudio/settings.json", "{\"downloadsFolder\": \"" + home_ + "/moved\"}");
  write(".lmstudio-home-pointer", home_ + "/pointed\n");
  EXPECT_EQ(listed(), (Lines{"org/Third:T at pointed/models/org/Third/t.gguf from LM Studio",
                             "org/Other-GGUF:Q8_0 at moved/org/Other-GGUF/o-Q8_0.gguf from LM Studio",
                             "org/Repo-GGUF:Q4_K_M at .lmstudio/models/org/Repo-GGUF/m-Q4_K_M.gguf from LM Studio"}));
  EXPECT_EQ(resolve("org/Repo-GGUF"), home_ + "/.lmstudio/models/org/Repo-GGUF/m-Q4_K_M.gguf");
  for (const char* text : {"{", "[]", "{\"downloadsFolder\": 7}", "{\"downloadsFolder\": \"relative\"}"}) {
    write(".lmstudio/settings.json", text);
    EXPECT_EQ(listed().size(), 2u) << text;
  }
}

TEST_F(LocalModels, JansAreFoundByTheirDescriptionsAndByThemselves) {
  const std::string data = ".local/share/Jan/data/";
  write(data + "llamacpp/models/org/new/model.yml", "name: New\nmodel_path: llamacpp/models/org/new/model.gguf\n");
  write(data + "llamacpp/models/org/new/model.gguf");
  write(data + "models/huggingface.co/old.yml", "model: old\nfiles:\n- models/huggingface.co/old/weights.gguf\n");
  write(data + "models/huggingface.co/old/weights.gguf");
  write("jan/models/trinity/trinity.Q4_K_M.gguf");
  write("elsewhere/imported.gguf");
  write(data + "llamacpp/models/mine/model.yml", "model_path: \"" + home_ + "/elsewhere/imported.gguf\"\n");
  write(data + "llamacpp/models/none/model.yml", "model_path:\nfiles:\n");
  EXPECT_EQ(listed(), (Lines{"mine at elsewhere/imported.gguf from Jan",
                             "org/new at " + data + "llamacpp/models/org/new/model.gguf from Jan",
                             "huggingface.co/old at " + data + "models/huggingface.co/old/weights.gguf from Jan",
                             "trinity at jan/models/trinity/trinity.Q4_K_M.gguf from Jan"}));
  EXPECT_THROW(plan_removal(model_named("mine")), Error);  // it is not Jan's
}

TEST_F(LocalModels, LlamaCppsHaveTheNamesOfTheirManifests) {
  const std::string cache = ".cache/llama.cpp/";
  write(cache + "manifest=org=Repo-GGUF=latest.json", R"({"ggufFile":{"rfilename":"sub/m-Q4_K_M.gguf","size":1}})");
  write(cache + "org_Repo-GGUF_sub_m-Q4_K_M.gguf");
  write(cache + "org_Repo-GGUF_sub_m-Q4_K_M.gguf.json");
  write(cache + "other.gguf");
  write(cache + "manifest=x.json", "{}");
  write(cache + "manifest=a=b=c.json", R"({"ggufFile":{"rfilename":7}})");
  write(cache + "manifest=a=b=d.json", R"({"ggufFile":{"rfilename":"../../../x.gguf"}})");
  EXPECT_EQ(listed(), (Lines{"org/Repo-GGUF:Q4_K_M at " + cache + "org_Repo-GGUF_sub_m-Q4_K_M.gguf from llama.cpp",
                             "other.gguf at " + cache + "other.gguf from llama.cpp"}));
  remove_model(plan_removal(model_named("org/Repo-GGUF:Q4_K_M")));
  for (const char* gone : {"org_Repo-GGUF_sub_m-Q4_K_M.gguf", "org_Repo-GGUF_sub_m-Q4_K_M.gguf.json",
                           "manifest=org=Repo-GGUF=latest.json"})
    EXPECT_FALSE(is_there(cache + gone)) << gone;
  EXPECT_TRUE(is_there(cache + "other.gguf"));
}

TEST_F(LocalModels, FoldersThatWereAddedAreSearchedDeeply) {
  write("data/deep/er/m.gguf");
  write("data/models--org--Repo/snapshots/c1/r-Q8_0.gguf");
  write("data/loop/n.gguf");
  link("data/loop/again", "..");
  add_model_folder(home_ + "/data");
  EXPECT_EQ(listed().size(), 3u);
  EXPECT_EQ(model_named("org/Repo:Q8_0").store, ModelStore::kFolder);
  EXPECT_THROW(add_model_folder(home_ + "/data/"), Error);  // it is there already
  EXPECT_THROW(add_model_folder(home_ + "/none"), Error);
}

TEST_F(LocalModels, TheBookKeepsWhatItDoesNotKnow) {
  const std::string book = write(".config/warpchat/models.json", R"({"theme": [1], "folders": ["~/data"]})");
  write("data/m.gguf");
  EXPECT_EQ(listed(), Lines{"m.gguf at data/m.gguf from folder"});
  change_model_book([&](ModelBook& changed) { changed.aliases["mine"] = home_ + "/data/m.gguf"; });
  EXPECT_EQ(resolve("mine"), home_ + "/data/m.gguf");
  const std::string text = read_file(book);
  EXPECT_NE(text.find("\"theme\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"~/data\""), std::string::npos) << text;
  change_model_book([&](ModelBook& changed) { changed.aliases["other"] = "~/data/m.gguf"; });
  EXPECT_EQ(resolve("other"), home_ + "/data/m.gguf");
}

TEST_F(LocalModels, ADamagedBookIsNamedAndNotWrittenOver) {
  write("data/m.gguf");
  const std::string path = home_ + "/.config/warpchat/models.json";
  const std::pair<std::string, std::string> cases[] = {
      {"{\"folders\": [\"~/data\"],\n\"aliases\": }", path + " is ignored: it is not valid JSON (byte 35), line 2; "
                                                             "repair or delete it"},
      {"[]", path + " is ignored: it is not a JSON object; repair or delete it"},
      {"{\"folders\": \"~/data\"}", "in " + path + ", 'folders' is not a list of folders, so it is ignored"},
      {"{\"folders\": [\"~/data\", \"data\"]}",
       "in " + path + ", the folder \"data\" is not a path from / or ~, so it is ignored"},
      {"{\"folders\": [\"~/data\"], \"aliases\": {\"a b\": \"m\"}}",
       "in " + path + ", the alias 'a b' is not a name with a model, so it is ignored"},
      {"{\"folders\": [\"~/data\"], \"aliases\": {\"a\": 1}}",
       "in " + path + ", the alias 'a' is not a name with a model, so it is ignored"}};
  for (const auto& [text, fault] : cases) {
    write(".config/warpchat/models.json", text);
    EXPECT_EQ(model_places().fault, fault);
    EXPECT_THROW(add_model_folder(home_), Error);
    EXPECT_EQ(read_file(path), text);
  }
  EXPECT_EQ(listed().size(), 1u);  // what is right counts
}

TEST_F(LocalModels, FilesThatWereOpenedStayUntilTheyAreGone) {
  const std::string one = write("a/one.gguf"), two = write("b/two.gguf");
  for (const std::string& path : {one, two, one}) note_opened_model(path);
  EXPECT_EQ(opened_models(), (Lines{one, two}));
  EXPECT_EQ(resolve("two"), two);
  const RemovalPlan plan = plan_removal(model_named("two.gguf"));
  EXPECT_TRUE(plan.files.empty());
  remove_model(plan);
  EXPECT_TRUE(fs::exists(two));
  EXPECT_EQ(opened_models(), Lines{one});
  fs::remove(one);
  EXPECT_EQ(listed(), Lines{});
}

TEST_F(LocalModels, ABlobStaysWhileAnotherSnapshotNeedsIt) {
  const std::string repository = ".cache/huggingface/hub/models--o--r/";
  write(repository + "blobs/" + kHash, "xyz");
  write(repository + "blobs/" + kOtherHash);
  write(".cache/huggingface/hub/.locks/models--o--r/" + kHash + ".verified", "");
  link(repository + "snapshots/c1/m-Q4_K_M.gguf", "../../blobs/" + kHash);
  link(repository + "snapshots/c2/m-Q4_K_M.gguf", "../../blobs/" + kHash);
  link(repository + "snapshots/c2/n-Q8_0.gguf", "../../blobs/" + kOtherHash);
  remove_model(plan_removal(model_named("o/r:Q4_K_M")));
  EXPECT_TRUE(is_there(repository + "blobs/" + kHash));
  EXPECT_FALSE(is_there(repository + "snapshots/c1"));
  const RemovalPlan plan = plan_removal(model_named("o/r:Q4_K_M"));
  EXPECT_EQ(plan.bytes, 3u);
  remove_model(plan);
  for (const std::string& gone : {repository + "blobs/" + kHash, repository + "snapshots/c2/m-Q4_K_M.gguf",
                                  ".cache/huggingface/hub/.locks/models--o--r/" + kHash + ".verified"})
    EXPECT_FALSE(is_there(gone)) << gone;
  EXPECT_TRUE(is_there(repository + "blobs/" + kOtherHash));
}

TEST_F(LocalModels, OllamasSharedBlobsStay) {
  for (const std::string& hash : {kHash, kLicence}) write(".ollama/models/blobs/sha256-" + hash);
  const std::string library = ".ollama/models/manifests/registry.ollama.ai/library/";
  write(library + "a/latest", manifest_of(kHash));
  write(library + "b/latest", manifest_of(kOtherHash));
  remove_model(plan_removal(model_named("a:latest")));
  EXPECT_FALSE(is_there(library + "a"));
  EXPECT_FALSE(is_there(".ollama/models/blobs/sha256-" + kHash));
  EXPECT_TRUE(is_there(".ollama/models/blobs/sha256-" + kLicence));
  EXPECT_TRUE(is_there(library + "b/latest"));
}

TEST_F(LocalModels, RemovingALinkLeavesWhatItLeadsTo) {
  const std::string target = write("elsewhere/m.gguf");
  link(".cache/warpchat/models/m.gguf", target);
  remove_model(plan_removal(model_named("m.gguf")));
  EXPECT_TRUE(fs::exists(target));
  EXPECT_FALSE(is_there(".cache/warpchat/models/m.gguf"));
  // A folder in the way that leads out keeps what it has.
  write("outside/n.gguf");
  link("data/way", home_ + "/outside");
  add_model_folder(home_ + "/data");
  EXPECT_THROW(plan_removal(model_named("n.gguf")), Error);
}

TEST_F(LocalModels, AllPartsOfASplitModelGo) {
  const std::string folder = ".cache/warpchat/models/";
  for (const char* part : {"x-00001-of-00002.gguf", "x-00002-of-00002.gguf"}) write(folder + part);
  write(folder + "x.gguf");
  remove_model(plan_removal(model_named("x-00001-of-00002.gguf")));
  EXPECT_FALSE(is_there(folder + "x-00002-of-00002.gguf"));
  EXPECT_TRUE(is_there(folder + "x.gguf"));
}

TEST_F(LocalModels, FactsAreKeptWhileTheFileIsTheSame) {
  const std::string path = write(".cache/warpchat/models/m-Q4_0.gguf");
  const auto write_model = [&](const char* architecture) {
    GgufWriter writer;
    writer.add_string("general.architecture", architecture);
    writer.add_uint32(std::string(architecture) + ".context_length", 4096);
    const std::vector<float> row(32);
    constexpr uint64_t kShape[] = {32, 1};
    writer.add_tensor("t", TensorType::kF32, kShape, std::as_bytes(std::span(row)));
    writer.write(path);
  };
  write_model("qwen2");
  const auto described = [] { return describe_models(model_places(), {}, {.bytes = 1}).at(0); };
  ModelChoice model = described();
  EXPECT_EQ(model.context, 4096u);
  EXPECT_EQ(model.n_parameters, 32u);
  EXPECT_EQ(model.quantisation, "Q4_0");
  EXPECT_EQ(model.fits, FitsMemory::kUnknown);  // its layers are missing
  std::string facts = read_file(facts_file());
  const size_t at = facts.find("4096");
  ASSERT_NE(at, std::string::npos) << facts;
  std::ofstream(facts_file()) << facts.replace(at, 4, "4095");
  EXPECT_EQ(described().context, 4095u);  // from the file of facts
  write_model("gpt9");
  model = described();
  EXPECT_EQ(model.context, 4096u);
  EXPECT_EQ(model.fits, FitsMemory::kUnsupported);
  EXPECT_EQ(model.why, "models of the architecture gpt9 cannot run here");
  std::ofstream(facts_file()) << "{\"files\": {\"" + path + "\": 7}}";
  EXPECT_EQ(described().context, 4096u);
}

}  // namespace
}  // namespace warpchat
