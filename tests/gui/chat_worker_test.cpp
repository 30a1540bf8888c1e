// The worker driven like by the window, with a tiny model and a store: messages, answers, versions, lists.
#include "app/gui/chat_worker.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "tests/gui/worker_window.h"

namespace warpchat::gui {
namespace {

class ChatWorkerTest : public WorkerTest {};

std::vector<std::string> texts(const std::vector<ChatMessage>& messages) {
  std::vector<std::string> all;
  for (const ChatMessage& message : messages) all.push_back(message.content);
  return all;
}

TEST_F(ChatWorkerTest, WhatIsSentIsAnsweredAndStored) {
  WorkerWindow window(brief());
  window.until_loaded();
  EXPECT_EQ(window.state().model->device, "cpu");
  EXPECT_EQ(window.state().model->launch, "");
  window.ask("hello\nyou");
  ASSERT_EQ(window.messages().size(), 2u);
  const ChatMessage& answer = window.messages()[1];
  EXPECT_EQ(answer.status, MessageStatus::kComplete);
  EXPECT_EQ(answer.tokens.size(), 4u);
  EXPECT_EQ(answer.timings->generated_tokens, 4u);
  EXPECT_EQ(window.state().taken_sends, 1u);
  EXPECT_EQ(window.open().title, "hello");
  EXPECT_EQ(window.open().context_used, answer.timings->prompt_tokens + 4);
  ASSERT_EQ(window.state().conversations.size(), 1u);
  EXPECT_EQ(window.state().conversations[0].id, window.open().id);
  const std::vector<Turn> turns = stored(window.open().id);
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_EQ(turns[0].message.content, "hello\nyou");
  EXPECT_EQ(turns[1].message.content, answer.content);
  EXPECT_EQ(turns[1].id, answer.turn);
  EXPECT_EQ(turns[1].state, TurnState::kComplete);
}

TEST_F(ChatWorkerTest, AnAnswerThatIsStoppedKeepsItsText) {
  WorkerWindow window(endless());
  window.post(Send{"go on"});
  window.until_streams(10);
  EXPECT_EQ(window.state().open.phase, AnswerPhase::kAnswer);
  window.until([&] { return window.state().open.tokens_per_second > 0; }, "a speed, once the tokens' time says one");
  EXPECT_GT(window.state().open.first_token_seconds, 0);
  window.post(Stop{});
  window.until_idle();
  EXPECT_EQ(window.messages().back().status, MessageStatus::kStopped);
  const std::vector<Turn> turns = stored(window.open().id);
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_EQ(turns[1].message.content, window.messages()[1].content);
  EXPECT_EQ(turns[1].state, TurnState::kStopped);
}

TEST_F(ChatWorkerTest, TheWindowIsWokenAtMostOnceForWhatItHasNotTaken) {
  WorkerWindow window(endless());
  window.post(Send{"go on"});
  window.until_streams(50);
  window.post(Stop{});
  window.until_idle();
  EXPECT_LE(window.n_wakes(), window.messages().back().tokens.size() + 30);  // 30: the start, the lists, the end
}

TEST_F(ChatWorkerTest, TokenMarksCoverTheAnswer) {
  WorkerWindow window(brief());
  window.ask("hello");
  const ChatMessage& answer = window.messages().back();
  uint32_t before = 0;
  for (const TokenMark& mark : answer.tokens) {
    EXPECT_GE(mark.offset, before);
    EXPECT_LE(mark.offset, answer.content.size());
    before = mark.offset;
  }
  EXPECT_FLOAT_EQ(answer.tokens.front().seconds, static_cast<float>(window.state().open.first_token_seconds));
}

TEST_F(ChatWorkerTest, AnAnswerAskedForAgainIsAVersionBesideTheFirst) {
  ChatOptions options = brief();
  options.temperature = 5.0f;
  WorkerWindow window(options);
  window.ask("hello");
  const ChatMessage first = window.messages()[1];
  window.post(Regenerate{first.key});
  window.until(
      [&] {
        return window.messages().size() == 2 && window.messages()[1].siblings.size() == 2 &&
               window.state().open.phase == AnswerPhase::kIdle;
      },
      "a second version");
  const ChatMessage second = window.messages()[1];
  EXPECT_NE(second.key, first.key);
  EXPECT_EQ(second.sibling, 1u);
  EXPECT_EQ(second.siblings, (std::vector<TurnId>{first.turn, second.turn}));

  window.post(ShowVersion{second.key, first.turn});
  window.until([&] { return window.messages()[1].turn == first.turn; }, "the first version is shown");
  EXPECT_EQ(window.messages()[1].content, first.content);
  EXPECT_EQ(window.messages()[1].key, first.key) << "its kept layout is valid";
  EXPECT_EQ(window.messages()[1].tokens.size(), first.tokens.size());
  EXPECT_EQ(window.messages()[1].sibling, 0u);
  EXPECT_EQ(stored(window.open().id).back().id, first.turn) << "the store shows the same branch";
}

TEST_F(ChatWorkerTest, AMessageInTheMiddleIsEditedAndTheOldBranchKept) {
  WorkerWindow window(brief());
  window.ask("one");
  window.ask("two");
  const std::vector<ChatMessage> before = window.messages();
  window.post(EditMessage{before[0].key, "uno"});
  window.until(
      [&] {
        return window.messages().size() == 2 && window.messages()[0].content == "uno" &&
               window.state().open.phase == AnswerPhase::kIdle;
      },
      "the edited message is answered");
  EXPECT_EQ(window.messages()[0].siblings, (std::vector<TurnId>{before[0].turn, window.messages()[0].turn}));
  EXPECT_EQ(window.open().title, "uno");
  window.post(ShowVersion{window.messages()[0].key, before[0].turn});
  window.until([&] { return window.messages().size() == 4; }, "the old branch is shown");
  EXPECT_EQ(texts(window.messages()), texts(before));
}

TEST_F(ChatWorkerTest, AnEditedAnswerIsNotAnswered) {
  WorkerWindow window(brief());
  window.ask("one");
  window.post(EditMessage{window.messages()[1].key, "my own words"});
  window.until([&] { return window.messages()[1].content == "my own words"; }, "the answer is replaced");
  EXPECT_EQ(window.state().open.phase, AnswerPhase::kIdle);
  EXPECT_EQ(window.messages()[1].siblings.size(), 2u);
  window.ask("two");
  EXPECT_EQ(stored(window.open().id)[1].message.content, "my own words");
}

TEST_F(ChatWorkerTest, StoppedBeforeItsFirstWordAnAnswerGivesWayToTheOneBefore) {
  WorkerWindow window(endless());
  window.post(Send{"go on"});
  window.until_streams(3);
  window.post(Stop{});
  window.until_idle();
  const ChatMessage first = window.messages()[1];
  window.post(Regenerate{first.key});
  window.post(Stop{});
  window.post(Send{"and now this"});
  window.until([&] { return window.state().taken_sends == 2; }, "the second message is taken");
  ASSERT_GE(window.messages().size(), 3u);
  const bool had_a_word = window.messages()[1].siblings.size() == 2;  // the stop came after the first word
  EXPECT_TRUE(had_a_word || window.messages()[1].key == first.key);
}

TEST_F(ChatWorkerTest, SendingWhileAnAnswerStreamsStopsItAndAnswersWhatWasSent) {
  WorkerWindow window(endless());
  window.post(Send{"go on"});
  window.until_streams(5);
  window.post(Send{"and now this"});
  window.until([&] { return window.messages().size() == 4 && !window.messages()[3].tokens.empty(); },
               "a second answer");
  EXPECT_EQ(window.messages()[1].status, MessageStatus::kStopped);
  EXPECT_EQ(window.messages()[2].content, "and now this");
}

TEST_F(ChatWorkerTest, AnAnswerGoesOnWhileAnotherConversationIsOpen) {
  WorkerWindow window(endless());
  window.post(Send{"first"});
  window.until_streams(5);
  const ConversationId first = window.open().id;
  window.post(NewConversation{});
  window.until([&] { return window.open().id == 0 && window.messages().empty(); }, "a new conversation");
  EXPECT_EQ(window.state().open.phase, AnswerPhase::kIdle);
  EXPECT_EQ(window.state().answering, std::vector<ConversationId>{first});
  window.post(OpenStored{first});
  window.until([&] { return window.open().id == first; }, "the first conversation again");
  ASSERT_EQ(window.messages().size(), 2u);
  const size_t n_tokens = window.messages()[1].tokens.size();
  EXPECT_GE(n_tokens, 5u);
  window.until_streams(n_tokens + 5);
  window.post(Stop{});
  window.until_idle();
  EXPECT_EQ(stored(first).back().message.content, window.messages()[1].content);
  EXPECT_EQ(stored(first).back().state, TurnState::kStopped);
}

TEST_F(ChatWorkerTest, StoredConversationsAreSearchedRenamedAndThrownAway) {
  WorkerWindow window(brief());
  window.ask("the whale");
  const ConversationId whale = window.open().id;
  window.post(NewConversation{});
  window.ask("the squid");
  const ConversationId squid = window.open().id;
  EXPECT_EQ(window.state().conversations.size(), 2u);

  window.post(Search{"whale"});
  window.until([&] { return window.state().search.has_value(); }, "results");
  ASSERT_EQ(window.state().search->hits.size(), 1u);
  EXPECT_EQ(window.state().search->hits[0].conversation.id, whale);
  window.post(Search{""});
  window.until([&] { return !window.state().search.has_value(); }, "no search");

  window.post(Rename{squid, "tentacles"});
  window.until([&] { return window.open().title == "tentacles"; }, "another title");

  window.post(ThrowAway{{squid}});
  window.until([&] { return window.state().trash.size() == 1; }, "it is in the trash");
  EXPECT_EQ(window.open().id, 0);
  ASSERT_FALSE(window.state().notices.empty());
  const NoticeItem undo = window.state().notices.back();
  EXPECT_THAT(undo.restores, testing::ElementsAre(squid));
  window.post(TakeFromTrash{undo.restores});
  window.until([&] { return window.state().trash.empty() && window.open().id == squid; }, "it is back");
  EXPECT_EQ(window.messages().size(), 2u);
  EXPECT_TRUE(window.state().notices.empty()) << "there is nothing left to undo";

  window.post(ThrowAway{{whale}});
  window.post(EraseForEver{whale});
  window.until([&] { return window.state().conversations.size() == 1 && window.state().trash.empty(); }, "it is gone");
  EXPECT_EQ(window.open().id, squid);
}

TEST_F(ChatWorkerTest, ASystemPromptBelongsToItsConversation) {
  ChatOptions options = brief();
  options.system_prompt = "be kind";
  WorkerWindow window(options);
  window.until_loaded();
  EXPECT_EQ(window.open().system_prompt, "be kind");
  window.ask("hello");
  const ConversationId first = window.open().id;
  const uint32_t prompt_tokens = window.messages()[1].timings->prompt_tokens;
  window.post(SetSystemPrompt{"be kind, and rather long about it"});
  window.until([&] { return window.open().system_prompt.size() > 10; }, "another system prompt");
  window.post(Regenerate{window.messages()[1].key});
  window.until(
      [&] {
        return window.messages().size() == 2 && window.messages()[1].siblings.size() == 2 &&
               window.messages()[1].timings.has_value();
      },
      "an answer with it");
  EXPECT_GT(window.messages()[1].timings->prompt_tokens, prompt_tokens);
  window.post(NewConversation{});
  window.until([&] { return window.open().id == 0 && window.open().system_prompt == "be kind"; }, "the flags' again");
  window.post(OpenStored{first});
  window.until([&] { return window.open().id == first; }, "the first conversation");
  EXPECT_EQ(window.open().system_prompt, "be kind, and rather long about it");
}

TEST_F(ChatWorkerTest, AttachedFilesGoBeforeTheMessage) {
  WorkerWindow window(brief());
  window.until_loaded();
  const std::string path = home_.path() + "/notes.txt", picture = home_.path() + "/picture.png";
  std::ofstream(path) << "a ``` in a line";
  std::ofstream(picture) << "\x89PNG\xff";
  window.post(AttachFile{path});
  window.post(AttachFile{picture});
  window.post(AttachFile{home_.path()});
  window.until([&] { return window.state().notices.size() == 2; }, "two that cannot be attached");
  EXPECT_NE(window.state().notices[0].text.find("picture.png"), std::string::npos);
  ASSERT_EQ(window.state().attachments.size(), 1u);
  EXPECT_EQ(window.state().attachments[0].name, "notes.txt");
  EXPECT_GT(window.state().attachments[0].n_tokens, 0u);
  const auto tokens = static_cast<uint32_t>(window.state().attachments[0].n_tokens);
  window.ask("read it");
  EXPECT_EQ(window.messages()[0].content, "read it");
  EXPECT_EQ(window.messages()[0].files, (std::vector<AttachedFile>{{"notes.txt", "a ``` in a line", tokens}}));
  EXPECT_EQ(stored(window.open().id)[0].message.files, window.messages()[0].files);
  EXPECT_EQ(window.open().title, "read it");
  EXPECT_TRUE(window.state().attachments.empty());
}

TEST_F(ChatWorkerTest, TokensOfTheComposerAreCountedForItsNewestText) {
  WorkerWindow window(brief());
  window.until_loaded();
  for (uint64_t revision = 1; revision <= 50; ++revision)
    window.post(CountTokens{std::string(revision, 'x'), revision});
  window.until([&] { return window.state().counted_revision == 50; }, "a count of the newest");
  EXPECT_GT(window.state().counted_tokens, 0u);
}

TEST_F(ChatWorkerTest, AConversationGoesToAFileAndBack) {
  WorkerWindow window(brief());
  window.ask("hello");
  const ConversationId first = window.open().id;
  const std::string path = home_.path() + "/talk.json";
  window.post(ExportConversation{path});
  window.until([&] { return !window.state().notices.empty(); }, "it is written");
  EXPECT_TRUE(std::filesystem::exists(path));
  window.post(ImportConversation{path});
  window.until([&] { return window.state().notices.back().text.find("is here already") != std::string::npos; },
               "that it is here already");
  window.post(ThrowAway{{first}});
  window.until([&] { return window.state().conversations.empty(); }, "it is in the trash");
  window.post(ImportConversation{path});
  window.until([&] { return window.state().conversations.size() == 1; }, "it is read");
  EXPECT_NE(window.open().id, first);
  EXPECT_EQ(window.messages().size(), 2u);
}

TEST_F(ChatWorkerTest, DestroyedWhileItStreamsItLosesNothing) {
  WorkerWindow window(endless());
  window.post(Send{"go on"});
  window.until_streams(20);
  const ConversationId id = window.open().id;
  const std::string seen = window.messages()[1].content;
  window.close();
  const std::vector<Turn> turns = stored(id);
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_TRUE(turns[1].message.content.starts_with(seen));
  EXPECT_EQ(turns[1].state, TurnState::kStopped);
}

// After any sequence of actions, window and store are alike. The sequence is the same each time, but the answers'
// progress at each action is not.
TEST_F(ChatWorkerTest, AnySequenceOfActionsLeavesWindowAndStoreAlike) {
  ChatOptions options = brief();
  options.n_predict = 12;
  options.temperature = 2.0f;
  WorkerWindow window(options);
  window.until_loaded();
  std::mt19937 random(1);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  const auto message = [&] { return window.messages()[below(window.messages().size())]; };
  const auto conversation = [&] { return window.state().conversations[below(window.state().conversations.size())].id; };
  for (int i = 0; i < 400; ++i) {
    const bool has_messages = !window.messages().empty(), has_conversations = !window.state().conversations.empty();
    switch (below(14)) {
      case 0:
      case 1:
        window.post(Send{"message " + std::to_string(i)});
        break;
      case 2:
        window.post(Stop{});
        break;
      case 3:
        if (has_messages) window.post(Regenerate{message().key});
        break;
      case 4:
        if (has_messages) window.post(EditMessage{message().key, "edited " + std::to_string(i)});
        break;
      case 5:
        if (has_messages) {
          const ChatMessage chosen = message();
          if (!chosen.siblings.empty())
            window.post(ShowVersion{chosen.key, chosen.siblings[below(chosen.siblings.size())]});
        }
        break;
      case 6:
        window.post(NewConversation{});
        break;
      case 7:
        if (has_conversations) window.post(OpenStored{conversation()});
        break;
      case 8:
        if (has_conversations) window.post(Rename{conversation(), "title " + std::to_string(i)});
        break;
      case 9:
        if (has_conversations) window.post(ThrowAway{{conversation()}});
        break;
      case 10:
        if (!window.state().trash.empty()) window.post(TakeFromTrash{{window.state().trash[0].id}});
        break;
      case 11:
        window.post(Search{below(2) == 0 ? "message" : ""});
        break;
      case 12:
        window.post(SetSystemPrompt{"prompt " + std::to_string(i)});
        break;
      case 13:
        window.post(CountTokens{"count", 1});
        break;
    }
    if (below(4) == 0) {
      const uint64_t revision = 1000 + static_cast<uint64_t>(i);  // everything up to here was handled
      window.post(CountTokens{"mark", revision});
      window.until([&] { return window.state().counted_revision == revision; }, "a mark");
    }
  }
  window.ask("the end");
  ASSERT_NE(window.open().id, 0);
  const StoredConversation on_disk = store()->load(window.open().id);
  EXPECT_EQ(on_disk.summary.title, window.open().title);
  EXPECT_EQ(on_disk.system_prompt, window.open().system_prompt);
  ASSERT_EQ(on_disk.turns.size(), window.messages().size());
  for (size_t i = 0; i < on_disk.turns.size(); ++i) {
    EXPECT_EQ(on_disk.turns[i].id, window.messages()[i].turn);
    EXPECT_EQ(on_disk.turns[i].message.content, window.messages()[i].content);
    EXPECT_EQ(store()->siblings(on_disk.turns[i].id).size(), std::max<size_t>(1, window.messages()[i].siblings.size()));
  }
  EXPECT_EQ(store()->list().size(), window.state().conversations.size());
  EXPECT_EQ(store()->trash().size(), window.state().trash.size());
  const std::string gone = "this message no longer exists";  // the edit came after its message was gone
  EXPECT_EQ(window.error() == gone ? "" : window.error(), "");
}

}  // namespace
}  // namespace warpchat::gui
