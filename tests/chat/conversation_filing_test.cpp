// Scenarios of conversations as a whole: pins, folders, tags, the archive, several at once, lists in an order, turns
// that are deleted.
#include <gmock/gmock.h>

#include "tests/chat/chat_bench.h"

namespace warpchat {
namespace {

struct FilingScenario {
  const char* name;
  void (*steps)(Bench&);
  const char *shown, *stored;
  const char* says = "";  // in one of the notices
};

const FilingScenario kFilingScenarios[] = {
    {"filed_and_found_by_it",
     [](Bench& b) {
       b.ask("one");
       const ConversationId id = b.state().open.id;
       b.submit(FileConversations{{id}, {.pinned = true, .folder = "work", .add_tags = {"x"}}}), b.settle();
       EXPECT_EQ(b.state().conversations.at(0).filing, (Filing{true, false, "work", {"x"}}));
       EXPECT_EQ(b.state().folders, (std::vector<NameCount>{{"work", 1}}));
       for (const char* words : {"folder:work", "tag:X answer", "is:pinned folder:Work tag:x", "answer"}) {
         b.submit(Search{words}), b.settle();
         EXPECT_EQ(b.state().search->hits.size(), 1u) << words;
       }
       for (const char* words : {"folder:other", "tag:y answer", "is:archived", "tag:x nothing"}) {
         b.submit(Search{words}), b.settle();
         EXPECT_TRUE(b.state().search->hits.empty()) << words;
       }
       b.submit(Search{"is:old"}), b.settle();
     },
     "one > answer 1", "one > answer 1", "unknown filter is:old; write is:archived or is:pinned"},
    {"a_turn_is_deleted_and_the_rest_joins",
     [](Bench& b) {
       b.ask("one"), b.ask("two"), b.ask("three");
       b.submit(DeleteTurn{b.message(3).key}), b.settle();
       EXPECT_EQ(b.shown(), "one > answer 1 > three 2/2 > answer 3");
       b.submit(DeleteTurn{b.message(0).key}), b.settle();
       EXPECT_EQ(b.shown(), "three 2/2 > answer 3");
       const NoticeItem undo = b.state().notices.back();
       b.submit(OpenStored{undo.restores.front()}), b.submit(ShowVersion{0, undo.shows}), b.settle();
       EXPECT_EQ(b.shown(), "one 1/2 > answer 1 > three 2/2 > answer 3");
       b.submit(DeleteTurn{b.last()}), b.settle();
     },
     "one 1/2 > answer 1", "one /2 > answer 1", "the message and its answer were deleted"},
    {"a_turn_that_streams_is_deleted",
     [](Bench& b) {
       b.ask("one");
       b.responder->answers = {going_on({text("half")})};
       b.ask("two"), b.submit(DeleteTurn{b.message(0).key}), b.settle();
       EXPECT_EQ(b.responder->n_running, 0u);
     },
     "two 2/2 > half (stopped)", "two /2 > half (stopped)"},
    {"archived_and_taken_out",
     [](Bench& b) {
       b.ask("one");
       const ConversationId id = b.state().open.id;
       b.submit(FileConversations{{id}, {.archived = true}}), b.settle();
       EXPECT_TRUE(b.state().conversations.empty());
       EXPECT_EQ(b.state().archived.at(0).id, id);
       EXPECT_EQ(find_listed(b.state(), id), &b.state().archived[0]);
       const NoticeItem undo = b.state().notices.back();
       EXPECT_TRUE(undo.unarchives);
       EXPECT_EQ(undo.restores, std::vector{id});
       b.submit(FileConversations{undo.restores, {.archived = false}}), b.settle();
       EXPECT_EQ(b.state().conversations.size(), 1u);
     },
     "one > answer 1", "one > answer 1", "the conversation is in the archive"},
    {"several_are_thrown_away_and_come_back",
     [](Bench& b) {
       std::vector<ConversationId> ids;
       for (const char* text : {"one", "two", "three"}) {
         b.submit(NewConversation{}), b.ask(text);
         ids.push_back(b.state().open.id);
       }
       b.submit(ThrowAway{{ids[0], ids[2]}}), b.settle();
       EXPECT_EQ(b.shown(), "");
       EXPECT_EQ(b.state().conversations.size(), 1u);
       b.submit(TakeFromTrash{b.state().notices.back().restores}), b.settle();
       EXPECT_EQ(b.state().conversations.size(), 3u);
       EXPECT_EQ(b.shown(), "") << "none of them is more than the others";
       EXPECT_TRUE(b.state().notices.empty());
     },
     "", ""},
    {"listed_in_groups_and_in_an_order",
     [](Bench& b) {
       std::vector<ConversationId> ids;
       for (const char* text : {"c", "a", "b", "d"}) {
         b.submit(NewConversation{}), b.ask(text);
         ids.push_back(b.state().open.id);
       }
       b.submit(FileConversations{{ids[0], ids[2]}, {.folder = "work"}});
       b.submit(FileConversations{{ids[1]}, {.pinned = true}}), b.settle();
       const auto titles = [&] {
         std::string all;
         for (const ConversationSummary& conversation : b.state().conversations) all += conversation.title;
         return all;
       };
       EXPECT_EQ(titles(), "abcd");  // pinned, the folder with its latest first, the others
       b.submit(FileConversations{{ids[1]}, {.pinned = false}}), b.settle();
       EXPECT_EQ(titles(), "bcda");
       b.submit(ListConversations{ConversationOrder::kTitle}), b.settle();
       EXPECT_EQ(titles(), "bcad");
       EXPECT_FALSE(b.state().has_more);
       b.submit(ListConversations{ConversationOrder::kTitle, 1}), b.settle();
       EXPECT_EQ(titles(), "ba");
       EXPECT_TRUE(b.state().has_more);
     },
     "d > answer 4", "d > answer 4"},
    {"all_are_exported_and_come_back_as_they_were_filed",
     [](Bench& b) {
       std::vector<ConversationId> ids;
       for (const char* text : {"one", "two", "three"}) {
         b.submit(NewConversation{}), b.ask(text);
         ids.push_back(b.state().open.id);
       }
       b.submit(
           FileConversations{{ids[0]}, {.pinned = true, .archived = true, .folder = "my work", .add_tags = {"x"}}});
       b.submit(ThrowAway{{ids[2]}}), b.settle();
       double part = 0;
       b.submit(ExportConversation{.path = b.path("all.json"), .all = true, .progress = [&](double p) { part = p; }});
       b.settle();
       EXPECT_EQ(part, 1);
       EXPECT_EQ(b.state().notices.back().text, "wrote 2 conversations to " + b.path("all.json"));
       b.submit(ExportConversation{.path = b.path("all.md"), .all = true}), b.settle();
       EXPECT_THAT(b.state().notices.back().text, testing::HasSubstr("several go to one JSON file"));
       for (const ConversationId id : ids) b.submit(EraseForEver{id});
       b.submit(ImportConversation{b.path("all.json")}), b.settle();
       EXPECT_EQ(b.state().conversations.size(), 1u);
       EXPECT_EQ(b.state().archived.at(0).filing, (Filing{true, true, "my work", {"x"}}));
     },
     "two > answer 2", "two > answer 2"},
};

TEST(ConversationFiling, Scenarios) {
  for (const FilingScenario& scenario : kFilingScenarios) {
    SCOPED_TRACE(scenario.name);
    Bench bench;
    scenario.steps(bench);
    EXPECT_EQ(bench.shown(), scenario.shown);
    EXPECT_EQ(bench.stored(), scenario.stored);
    EXPECT_EQ(bench.replayed, bench.state());
    std::string notices;
    for (const NoticeItem& notice : bench.state().notices) notices += notice.text + "\n";
    EXPECT_THAT(notices, testing::HasSubstr(scenario.says));
  }
}

}  // namespace
}  // namespace warpchat
