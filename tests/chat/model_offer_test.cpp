// The model that a conversation was held with, offered while another one is loaded.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/chat/chat_bench.h"

namespace warpchat {
namespace {

class ModelOffer : public ::testing::Test {
 protected:
  // A conversation that was held with this model; the loaded one is another file.
  ConversationId held_with(const std::string& model, const std::string& endpoint = "") {
    load(model, endpoint);
    bench.submit(NewConversation{}), bench.ask("one");
    EXPECT_EQ(bench.state().open.model, (RememberedModel{model, endpoint}));
    EXPECT_FALSE(bench.state().offer);
    const ConversationId id = bench.state().open.id;
    load(file("loaded.gguf"));
    bench.submit(NewConversation{}), bench.settle();
    EXPECT_FALSE(bench.state().offer) << "a new conversation takes the loaded one";
    return id;
  }
  void load(const std::string& model, const std::string& endpoint = "") {
    auto loaded = std::make_shared<ScriptedResponder>();
    loaded->known.model = model, loaded->known.endpoint = endpoint;
    *bench.responder = *loaded;
  }
  std::optional<warpchat::ModelOffer> open(ConversationId id) {
    bench.submit(OpenStored{id}), bench.settle();
    return bench.state().offer;
  }
  std::string file(const std::string& name) const {
    std::ofstream(bench.path(name)) << "GGUF";
    return bench.path(name);
  }
  std::string stored_model(ConversationId id) const {
    return ConversationStore::open(bench.path("warpchat")).store->load(id).summary.model;
  }
  Bench bench;
};

TEST_F(ModelOffer, AFileIsOffered) {
  const std::string own = file("own-Q4_K_M.gguf");
  const ConversationId id = held_with(own);
  EXPECT_EQ(open(id), (warpchat::ModelOffer{"own-Q4_K_M", own, "", false}));
  EXPECT_TRUE(bench.replayed == bench.state());
  bench.submit(NewConversation{}), bench.settle();
  EXPECT_FALSE(bench.state().offer);
}

TEST_F(ModelOffer, AMessageTakesTheLoadedOne) {
  const ConversationId id = held_with(file("own.gguf"));
  open(id);
  bench.submit(SetSystemPrompt{"Be brief."}), bench.settle();
  EXPECT_EQ(stored_model(id), bench.path("own.gguf")) << "nothing has been answered since";
  EXPECT_TRUE(bench.state().offer);
  bench.ask("two");
  EXPECT_FALSE(bench.state().offer);
  EXPECT_EQ(stored_model(id), bench.path("loaded.gguf"));
  bench.submit(NewConversation{}), bench.settle();
  EXPECT_FALSE(open(id));
}

TEST_F(ModelOffer, AnAnswerThatIsAskedForAgainTakesTheLoadedOne) {
  const ConversationId id = held_with(file("own.gguf"));
  open(id);
  bench.submit(Regenerate{bench.last()}), bench.settle();
  EXPECT_FALSE(bench.state().offer);
  EXPECT_EQ(stored_model(id), bench.path("loaded.gguf"));
  EXPECT_EQ(bench.message(1).model_name, "loaded");
}

TEST_F(ModelOffer, AFileThatIsGoneIsSaidToBe) {
  const ConversationId id = held_with(file("own.gguf"));
  std::filesystem::remove(bench.path("own.gguf"));
  ASSERT_TRUE(open(id));
  EXPECT_TRUE(bench.state().offer->is_gone);
}

TEST_F(ModelOffer, AnotherNameOfTheLoadedFileIsNone) {
  file("loaded.gguf");
  std::filesystem::create_symlink(bench.path("loaded.gguf"), bench.path("link.gguf"));
  EXPECT_FALSE(open(held_with(bench.path("link.gguf"))));
}

TEST_F(ModelOffer, AServerIsOffered) {
  const ConversationId id = held_with("org/far-model", "http://far.example/v1");
  EXPECT_EQ(open(id), (warpchat::ModelOffer{"far-model", "org/far-model", "http://far.example/v1", false}));
  const ConversationId other = held_with("org/far-model", "http://other.example/v1");
  load("org/far-model", "http://far.example/v1");
  ASSERT_TRUE(open(other)) << "the same name at another server";
  EXPECT_EQ(bench.state().offer->endpoint, "http://other.example/v1");
  EXPECT_FALSE(open(id));
}

TEST_F(ModelOffer, AModelOfAnotherProgramIsNone) {
  load(file("loaded.gguf"));
  ConversationTree tree{.title = "imported", .model = "gpt-4o"};
  tree.turns = {{1, 0, {.role = "user", .content = "one"}, TurnState::kComplete, 1},
                {2, 1, {.role = "assistant", .content = "1", .model = "gpt-4o"}, TurnState::kComplete, 1}};
  tree.shown = 2;
  EXPECT_FALSE(open(ConversationStore::open(bench.path("warpchat")).store->insert(tree)));
  EXPECT_EQ(bench.shown(), "one > 1");
}

}  // namespace
}  // namespace warpchat
