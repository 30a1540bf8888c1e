// The tree of turns, lists, search, and the answer writer.
#include "engine/store/conversation_store.h"

#include <gmock/gmock.h>

#include "engine/store/answer_writer.h"
#include "tests/store/store_folder.h"

namespace warpchat {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using namespace std::string_literals;

class Store : public testing::Test {
 protected:
  std::vector<std::string> texts(ConversationId id) const {
    std::vector<std::string> found;
    for (const Turn& turn : store_->load(id).turns) found.push_back(turn.message.content);
    return found;
  }
  std::vector<std::string> found(std::string_view words) const {
    std::vector<std::string> titles;
    for (const SearchHit& hit : store_->search(words)) titles.push_back(hit.conversation.title);
    return titles;
  }
  ConversationStore::Started talk(const std::string& title, const std::string& question, const std::string& answer) {
    const auto started = store_->start({title, "", "m.gguf"}, {"user", question});
    store_->add(started.conversation, started.turn, {"assistant", answer});
    return started;
  }

  StoreFolder folder_;
  std::unique_ptr<ConversationStore> store_ = ConversationStore::open(folder_.path()).store;
};

TEST_F(Store, KeepsWhatItWasGiven) {
  const std::string text = "日本語 \xf0\x9f\x91\xa9 \"quoted\" %_\\\n" + std::string(1 << 20, 'x');
  const auto started = store_->start({"title", "be brief", "/m.gguf"}, {"user", text});
  const StoredConversation loaded = ConversationStore::open(folder_.path()).store->load(started.conversation);
  EXPECT_EQ(loaded.summary.title, "title");
  EXPECT_EQ(loaded.summary.model, "/m.gguf");
  EXPECT_EQ(loaded.system_prompt, "be brief");
  EXPECT_EQ(loaded.summary.n_messages, 1u);
  ASSERT_EQ(loaded.turns.size(), 1u);
  EXPECT_EQ(loaded.turns[0].message.content, text);
  EXPECT_EQ(loaded.turns[0].message.role, "user");
  EXPECT_EQ(loaded.turns[0].state, TurnState::kComplete);
}

Message full_answer() {
  return {.role = "assistant",
          .content = "the content\0 behind a zero"s,
          .reasoning = "the <think> reasoning\n",
          .tool_calls = {{"1", "weather", "{\"city\": \"Bern\"}"}},
          .tool_call_id = "0",
          .model = "qwen3 \"quoted\".gguf",
          .endpoint = "http://localhost:8000",
          .timings = Timings{1, 2, 3, 0.1, 0.2, 0.3}};
}

TEST_F(Store, KeepsAllOfAMessage) {
  const Message question{.role = "user", .content = "read", .files = {{"a \"b\".txt", "\n<think>\\ 日本語"}, {"", ""}}};
  const auto [id, first] = store_->start({"t", "", ""}, question);
  const TurnId answer = store_->add(id, first, full_answer());
  store_->add(id, answer, {.role = "tool", .content = "", .tool_call_id = "1"});
  const std::vector<Turn> turns = ConversationStore::open(folder_.path()).store->load(id).turns;
  ASSERT_EQ(turns.size(), 3u);
  EXPECT_EQ(turns[0].message, question);
  EXPECT_EQ(turns[1].message, full_answer());
  EXPECT_EQ(turns[2].message.tool_call_id, "1");
  EXPECT_EQ(store_->tree(store_->insert(store_->tree(id))).turns[1].message, full_answer());
}

TEST_F(Store, AFailureIsNotedWithTheQuestion) {
  const Message question{.role = "user", .content = "read", .files = {{"a.txt", "ledger"}}};
  const auto [id, first] = store_->start({"t", "", ""}, question);
  Message failed = question;
  for (const char* failure : {"it broke", "the server sent \"nothing\"", ""}) {
    failed.failure = failure;
    store_->note_failure(first, failure);
    EXPECT_EQ(store_->load(id).turns[0].message, failed);
    EXPECT_EQ(found("ledger").size(), 1u);
    EXPECT_EQ(found("broke").size(), 0u);
  }
  const auto plain = store_->start({"t", "", ""}, {"user", "plain"});
  store_->note_failure(plain.turn, "");
  EXPECT_EQ(store_->load(plain.conversation).turns[0].message, (Message{"user", "plain"}));
  store_->erase(id);
  EXPECT_EQ(found("ledger").size(), 0u);
  EXPECT_THROW(store_->note_failure(first, "it broke"), Error);
}

TEST_F(Store, WhatIsSaidAboutAnAnswerIsNoReasonToRefuseItsText) {
  const auto [id, first] = store_->start({"t", "", ""}, {"user", "read"});
  store_->add(id, first, full_answer());
  for (const char* extra : {"{\"model", "[]", "{\"timings\": 1}", "\xff"}) {
    Database(folder_.file()).prepare("UPDATE turns SET extra = ?1 WHERE id = 2").with(std::string_view(extra)).run();
    EXPECT_THAT(texts(id), ElementsAre("read", full_answer().content)) << extra;
  }
  store_->erase(id);
}

TEST_F(Store, AnEditedTurnKeepsTheOldBranch) {
  const auto [id, first] = store_->start({"t", "", ""}, {"user", "one"});
  const TurnId old_answer = store_->add(id, first, {"assistant", "1"});
  const TurnId old_question = store_->add(id, old_answer, {"user", "two"});
  const TurnId old_end = store_->add(id, old_question, {"assistant", "2"});
  const TurnId edited = store_->add(id, old_answer, {"user", "zwei"});
  store_->add(id, edited, {"assistant", "II"});
  EXPECT_THAT(texts(id), ElementsAre("one", "1", "zwei", "II"));
  EXPECT_THAT(store_->siblings(edited), ElementsAre(old_question, edited));

  EXPECT_EQ(store_->show_newest_below(id, old_question), old_end);  // leads back to the old end
  EXPECT_THAT(texts(id), ElementsAre("one", "1", "two", "2"));
  store_->show(id, old_answer);  // undo
  EXPECT_THAT(texts(id), ElementsAre("one", "1"));
  EXPECT_EQ(store_->load(id).summary.n_messages, 2u);
  store_->show(id, 0);
  EXPECT_THAT(texts(id), ElementsAre());
  EXPECT_EQ(store_->load(id).summary.n_messages, 0u);
}

TEST_F(Store, AFirstMessageHasSiblingsInItsOwnConversationOnly) {
  const auto [id, first] = store_->start({"t", "", ""}, {"user", "one"});
  store_->start({"other", "", ""}, {"user", "one"});
  const TurnId edited = store_->add(id, 0, {"user", "eins"});
  EXPECT_THAT(store_->siblings(first), ElementsAre(first, edited));
  EXPECT_THAT(texts(id), ElementsAre("eins"));
}

TEST_F(Store, TurnsOfAnotherConversationAreRefused) {
  const auto one = store_->start({"a", "", ""}, {"user", "one"}), two = store_->start({"b", "", ""}, {"user", "two"});
  EXPECT_THROW(store_->add(one.conversation, two.turn, {"user", "x"}), Error);
  EXPECT_THROW(store_->show(one.conversation, two.turn), Error);
  EXPECT_THAT(texts(one.conversation), ElementsAre("one"));
}

TEST_F(Store, TrashIsUndoneAndErasingIsNot) {
  talk("kept", "apples", "pears");
  const auto thrown = talk("thrown", "apples", "plums");
  store_->throw_away(thrown.conversation);
  EXPECT_THAT(found("apples"), ElementsAre("kept"));
  ASSERT_EQ(store_->list().size(), 1u);
  ASSERT_EQ(store_->trash().size(), 1u);
  EXPECT_NE(store_->trash()[0].trashed, 0);
  store_->take_from_trash(thrown.conversation);
  EXPECT_EQ(store_->list().size(), 2u);
  EXPECT_THAT(found("plums"), ElementsAre("thrown"));
  store_->erase(thrown.conversation);
  EXPECT_THAT(found("plums"), ElementsAre());
  EXPECT_THAT(found("apples"), ElementsAre("kept"));
  EXPECT_THROW(store_->load(thrown.conversation), Error);
  EXPECT_GT(talk("next", "x", "y").conversation, thrown.conversation);  // numbers are not reused
}

TEST_F(Store, ATitleFollowsTheFirstMessageUntilItIsRenamed) {
  const auto id = store_->start({"one", "", ""}, {"user", "one"}).conversation;
  store_->retitle(id, "two");
  EXPECT_EQ(store_->load(id).summary.title, "two");
  store_->rename(id, "mine");
  store_->retitle(id, "three");
  EXPECT_EQ(store_->load(id).summary.title, "mine");
  EXPECT_EQ(store_->find_title("MINE").size(), 1u);
  EXPECT_EQ(store_->find_title("in").size(), 1u);
  EXPECT_EQ(store_->find_title("two").size(), 0u);
}

struct TitleCase {
  const char *name, *message, *title;
};
const std::string kSixty(60, 'x'), kLong = kSixty + "y", kCut = kSixty + "…";
const std::string kWords = "What is the largest number of primes in a row below 1000 that end in 7?";
const TitleCase kTitles[] = {
    {"words_are_not_cut", kWords.c_str(), "What is the largest number of primes in a row below 1000…"},
    {"one_line", "Why?", "Why?"},
    {"first_line_with_text", "\n \n  Why?  \nBecause", "Why?"},
    {"longest", kSixty.c_str(), kSixty.c_str()},
    {"too_long", kLong.c_str(), kCut.c_str()},
    {"characters_are_not_cut", "\xe6\x97\xa5\xe6\x9c\xac", "\xe6\x97\xa5\xe6\x9c\xac"},
    {"empty", " \n", ""},
};
TEST(Title, ComesFromTheFirstMessage) {
  for (const TitleCase& row : kTitles) EXPECT_EQ(title_from(row.message), row.title) << row.name;
}

struct SearchCase {
  const char *name, *words;
  bool finds;
};
constexpr SearchCase kSearches[] = {
    {"a_word", "wonderful", true},
    {"inside_a_word", "onder", true},
    {"either_case", "WONDERFUL", true},
    {"case_beyond_ascii", "ÜBERALL", true},
    {"all_words_in_any_order", "überall wonderful", true},
    {"one_word_missing", "wonderful nowhere", false},
    {"three_cjk_characters", "好世界", true},
    {"two_cjk_characters", "世界", true},  // too short for the index
    {"one_cjk_character", "界", true},
    {"cjk_that_is_not_there", "世好", false},
    {"short_and_long_words", "is wonderful", true},
    {"title", "greetings", true},
    {"two_letters_of_the_title", "gs", true},
    {"title_and_text_do_not_add_up", "greetings wonderful", false},
    {"quotes", "\"quoted\"", true},
    {"lone_quote", "quoted\"", true},
    {"operators_are_words", "AND OR NOT", true},
    {"operators_do_not_operate", "wonderful OR nowhere", false},
    {"near", "NEAR(wonderful)", false},
    {"column_filter", "text:wonderful", false},
    {"prefix_star", "wonderf*", false},
    {"minus_and_caret", "^wonderful -nowhere", false},
    {"percent_is_no_wildcard", "%", true},  // "100% sure"
    {"underscore_is_no_wildcard", "_", false},
    {"backslash", "\\", false},
    {"nothing", "  ", false},
};
TEST_F(Store, SearchTable) {
  talk("greetings", "hello 你好世界", "is it wonderful überall? and or not: say \"quoted\" 100% sure");
  talk("another", "nothing of it", "here");
  for (const SearchCase& row : kSearches) EXPECT_EQ(found(row.words).size(), row.finds ? 1u : 0u) << row.name;
}

// Words at every place of a text, of every length, among so many hits that not all are looked up.
TEST_F(Store, SearchFindsAPageAmongManyHits) {
  store_ = ConversationStore::in_memory();
  for (int i = 0; i < 400; ++i)
    talk("talk " + std::to_string(i), "common 世界", i % 2 == 0 ? "common and more" : "Ünd 界");
  const auto old = talk("the last", "common", "x");
  for (int i = 0; i < 3; ++i) talk("newer", "nothing", "y");
  store_->add(old.conversation, old.turn, {"assistant", "ends in 鲸鱼"});
  struct Row {
    const char* words;
    std::vector<std::string> titles;  // the first two
  };
  const Row kRows[] = {{"common", {"the last", "talk 399"}},
                       {"common more", {"talk 398", "talk 396"}},
                       {"世界", {"talk 399", "talk 398"}},
                       {"世界 more", {}},
                       {"界", {"talk 399", "talk 398"}},
                       {"ünd", {"talk 399", "talk 397"}},
                       {"Ü", {"talk 399", "talk 397"}},
                       {"ND", {"the last", "talk 399"}},
                       {"鲸鱼", {"the last"}},
                       {"鱼", {"the last"}},
                       {"talk", {"talk 399", "talk 398"}},
                       {"k 398", {"talk 398"}},
                       {"st", {"the last"}},
                       {"鱼鲸", {}}};
  for (const Row& row : kRows) {
    std::vector<std::string> found;
    for (const SearchHit& hit : store_->search(row.words, {}, 2)) found.push_back(hit.conversation.title);
    EXPECT_EQ(found, row.titles) << row.words;
  }
  EXPECT_EQ(store_->search("common", {}, 1000).size(), 401u);
  EXPECT_EQ(store_->search("界", {}, 1000).size(), 400u);
  EXPECT_EQ(store_->search("common")[0].turn, old.turn);
  store_->add(old.conversation, old.turn, {"assistant", "common, too"}, TurnState::kOpen);
  EXPECT_EQ(store_->search("common, too")[0].turn, store_->load(old.conversation).turns.back().id);
  EXPECT_EQ(store_->search("common")[0].turn, store_->load(old.conversation).turns.back().id);
}

TEST_F(Store, SearchFindsEachPieceOfATextWhateverItsLength) {
  store_ = ConversationStore::in_memory();
  const std::string text = "Aé\"世%_ x";
  talk("piece", text, "-");
  for (int i = 0; i < 300; ++i) talk("t", "-", "-");  // so that it is not among the latest
  std::vector<std::string> characters;
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = (text[at] & 0x80) == 0 ? 1 : (text[at] & 0x20) == 0 ? 2 : 3;
    characters.push_back(text.substr(at, bytes));
    at += bytes;
  }
  for (size_t begin = 0; begin < characters.size(); ++begin) {
    std::string piece;
    for (size_t end = begin; end < characters.size(); ++end) {
      piece += characters[end];
      if (piece.find(' ') != std::string::npos) break;
      const std::vector<SearchHit> hits = store_->search(piece, {}, 1);
      ASSERT_EQ(hits.size(), 1u) << piece;
      EXPECT_EQ(hits[0].conversation.title, "piece") << piece;
    }
  }
}

TEST_F(Store, ConversationsAreFiled) {
  const auto a = talk("a", "apples", "1").conversation, b = talk("b", "apples", "2").conversation,
             c = talk("C", "apples", "3").conversation, d = talk("d", "apples", "4").conversation;
  store_->file({a, b}, {.folder = "Work", .add_tags = {"zebra", "Ant"}});
  store_->file({c}, {.folder = "work", .add_tags = {"ant"}});
  store_->file({a}, {.pinned = true, .add_tags = {"ANT"}, .remove_tags = {"zebra"}});
  store_->file({d}, {.archived = true});
  EXPECT_EQ(store_->summary(a)->filing, (Filing{true, false, "Work", {"Ant"}}));
  EXPECT_EQ(store_->summary(b)->filing, (Filing{false, false, "Work", {"Ant", "zebra"}}));
  const auto titles = [&](const ConversationFilter& filter) {
    std::string list, hits;
    for (const ConversationSummary& found : store_->list(10, filter)) list += found.title;
    for (const SearchHit& hit : store_->search("apples", filter)) hits += hit.conversation.title;
    ConversationFilter by_time = filter;
    by_time.order = ConversationOrder::kUpdated, by_time.pinned_first = false;
    std::string latest_first;
    for (const ConversationSummary& found : store_->list(10, by_time)) latest_first += found.title;
    EXPECT_EQ(hits, latest_first);
    return list;
  };
  EXPECT_EQ(titles({}), "dCba");
  EXPECT_EQ(titles({.archived = false, .pinned_first = true}), "aCb");
  EXPECT_EQ(titles({.archived = true}), "d");
  EXPECT_EQ(titles({.folder = "WORK"}), "Cba");
  EXPECT_EQ(titles({.folder = ""}), "d");
  EXPECT_EQ(titles({.folder = "wor"}), "");
  EXPECT_EQ(titles({.tags = {"ant"}}), "Cba");
  EXPECT_EQ(titles({.tags = {"ant", "ZEBRA"}}), "b");
  EXPECT_EQ(titles({.folder = "work", .tags = {"zebra"}, .pinned = false}), "b");
  EXPECT_EQ(titles({.order = ConversationOrder::kTitle}), "abCd");
  EXPECT_EQ(titles({.order = ConversationOrder::kCreated}), "dCba");
  EXPECT_THAT(store_->folders(), ElementsAre(NameCount{"Work", 3}));
  EXPECT_THAT(store_->tags(), ElementsAre(NameCount{"Ant", 3}, NameCount{"zebra", 1}));
  const ConversationId copy = store_->insert(store_->tree(b));
  EXPECT_EQ(store_->summary(copy)->filing, store_->summary(b)->filing);
  store_->throw_away(copy);
  EXPECT_THAT(store_->tags(), ElementsAre(NameCount{"Ant", 3}, NameCount{"zebra", 1}));
  store_->file({a, b, c}, {.folder = ""});
  EXPECT_TRUE(store_->folders().empty());
  store_->erase(b);
  EXPECT_THROW(store_->file({a, b}, {.archived = true}), Error);
  EXPECT_FALSE(store_->summary(a)->filing.archived);  // all of them, or none
}

TEST_F(Store, SearchFindsThoughtsAndFiles) {
  const auto asked = store_->start(
      {"t", "", ""},
      {.role = "user", .content = "summarise", .files = {{"ledger.txt", "first \"entry\"\nsecond"}, {"b", "o.k"}}});
  const TurnId answer = store_->add(
      asked.conversation, asked.turn,
      {.role = "assistant", .content = "summary", .reasoning = "ponder", .model = "secret"}, TurnState::kOpen);
  for (const bool ended : {false, true}) {
    if (ended) store_->end(answer, TurnState::kComplete, {.role = "assistant", .endpoint = "nowhere"});
    for (const char* words : {"ledger", "\"entry\"", "summarise second", "o.k", "ponder", "o.k ledger", "p"})
      EXPECT_EQ(found(words).size(), 1u) << words << ended;
    for (const char* words : {"secret", "nowhere", "content", "type", "ponder ledger", "nsecond"})
      EXPECT_EQ(found(words).size(), 0u) << words << ended;
  }
  EXPECT_EQ(store_->search("ponder")[0].excerpt, "summary ponder");
  store_->erase(asked.conversation);
  EXPECT_THAT(found("ledger"), ElementsAre());
  EXPECT_EQ(Database(folder_.file()).integer("SELECT count(*) FROM text_index WHERE text_index MATCH 'ledger'"), 0);
}

TEST_F(Store, SearchFindsAnswersThatNeverEnded) {
  const auto started = store_->start({"t", "", ""}, {"user", "question"});
  const TurnId answer = store_->add(started.conversation, started.turn, {"assistant", "kill"}, TurnState::kOpen);
  store_->append(answer, "joy");
  EXPECT_THAT(found("killjoy"), ElementsAre("t"));
  store_->end(answer, TurnState::kStopped);
  EXPECT_THAT(found("killjoy"), ElementsAre("t"));
  EXPECT_THROW(store_->append(answer, "s"), Error);  // the index does not change
}

TEST_F(Store, AnAnswerThatGoesOnIsIndexedAsItEnds) {
  const auto started = store_->start({"t", "", ""}, {"user", "question"});
  const TurnId answer = store_->add(started.conversation, started.turn, {"assistant", "kill"}, TurnState::kStopped);
  const Database database(folder_.file());
  const auto n_indexed = [&] {
    return database.integer("SELECT count(*) FROM text_index WHERE text_index MATCH 'kill'");
  };
  EXPECT_EQ(n_indexed(), 1);
  database.prepare("UPDATE turns SET state = 0 WHERE id = ?1").with(answer).run();
  EXPECT_EQ(n_indexed(), 0);
  EXPECT_THAT(found("kill"), ElementsAre("t"));
  store_->append(answer, "joy");
  store_->end(answer, TurnState::kComplete);
  EXPECT_EQ(n_indexed(), 1);
  EXPECT_THAT(found("killjoy"), ElementsAre("t"));
  store_->erase(started.conversation);
  EXPECT_EQ(n_indexed(), 0);
}

TEST_F(Store, SearchGivesTheLatestFirstAndAnExcerpt) {
  talk("old", "needle", "x");
  talk("new", std::string(500, 'a') + "\n the Needle\tin\nhay " + std::string(500, 'b'), "needles");
  const std::vector<SearchHit> hits = store_->search("needle");
  ASSERT_EQ(hits.size(), 2u);
  EXPECT_EQ(hits[0].conversation.title, "new");
  EXPECT_EQ(hits[0].excerpt, "needles");  // the newest turn
  EXPECT_NE(store_->search("the needle")[0].excerpt.find("the Needle in hay"), std::string::npos);
  EXPECT_EQ(store_->search("needle", {}, 1).size(), 1u);
}

TEST_F(Store, AnExcerptShowsTheWordsAsTheyWereTypedRatherThanTheFirstOfThem) {
  talk("t", "long before " + std::string(400, '.') + " a row that is far too long for its place", "x");
  const std::string excerpt = store_->search("far too long")[0].excerpt;
  EXPECT_NE(excerpt.find("far too long"), std::string::npos) << excerpt;
}

TEST_F(Store, AnAnswerIsWrittenAtMostOnceASecond) {
  const auto [id, question] = store_->start({"t", "", ""}, {"user", "question"});
  AnswerWriter writer(*store_, id, question);
  const AnswerWriter::Clock::time_point start{};
  struct Step {
    int at;  // milliseconds
    const char *text, *stored;
  };
  constexpr Step kSteps[] = {
      {0, "a", "a"},           // the first text creates the answer
      {999, "ab", "a"},        // less than a second later
      {1000, "abc", "abc"},    // everything since
      {1999, "abcd", "abc"},   //
      {2000, "abcd", "abcd"},  // needs no further event
      {9000, "abcd", "abcd"},  // nothing new
  };
  for (const Step& step : kSteps) {
    writer.follow({"assistant", step.text}, start + milliseconds(step.at));
    EXPECT_EQ(texts(id).back(), step.stored) << step.at;
  }
  EXPECT_EQ(store_->load(id).turns.back().state, TurnState::kOpen);
  writer.finish({"assistant", "abcde"}, TurnState::kStopped);
  EXPECT_EQ(texts(id).back(), "abcde");
  EXPECT_EQ(store_->load(id).turns.back().state, TurnState::kStopped);
}

TEST_F(Store, ARoundOfCallsIsWrittenWithTheAnswer) {
  const auto [id, question] = store_->start({"t", "", ""}, {"user", "question"});
  AnswerWriter writer(*store_, id, question);
  const AnswerWriter::Clock::time_point start{};
  const auto stored = [&] { return store_->load(id).turns.back().message; };
  Message answer{.role = "assistant", .content = "I look."};
  writer.follow(answer, start);
  const ToolCall call{"id", "s__read", "{}", "text", CallStatus::kOk};
  answer.rounds.push_back({std::exchange(answer.content, {}), "", {call}});
  writer.follow(answer, start + milliseconds(1000));
  EXPECT_EQ(stored(), answer);
  answer.content = "It says";
  writer.follow(answer, start + milliseconds(2000));
  EXPECT_EQ(stored(), answer);
  writer.finish(answer, TurnState::kStopped);

  AnswerWriter again(*store_, writer.turn(), answer);
  answer.content += " text.";
  again.follow(answer, start);
  EXPECT_EQ(stored(), answer);
  answer.rounds.push_back({std::exchange(answer.content, {}), "", {call}});
  again.follow(answer, start + milliseconds(1000));
  EXPECT_EQ(stored(), answer);
  again.finish(answer, TurnState::kComplete);
  EXPECT_EQ(stored(), answer);
}

TEST_F(Store, AThoughtIsWrittenAsItGrows) {
  const auto [id, question] = store_->start({"t", "", ""}, {"user", "question"});
  AnswerWriter writer(*store_, id, question);
  const AnswerWriter::Clock::time_point start{};
  Message answer{.role = "assistant", .model = "m"};
  const auto stored = [&] { return store_->load(id).turns.back().message; };
  writer.follow(answer, start);
  EXPECT_EQ(stored().role, "user");  // an answer without text is not stored yet
  answer.reasoning = "hm";
  writer.follow(answer, start);
  EXPECT_EQ(stored(), answer);
  answer.reasoning = "hm, so";
  answer.content = "the";
  writer.follow(answer, start + milliseconds(1000));
  EXPECT_EQ(stored(), answer);
  answer.content = "the end";
  answer.timings = Timings{.generated_tokens = 3};
  answer.tool_calls = {{"1", "f", "{}"}};
  writer.finish(answer, TurnState::kComplete);
  EXPECT_EQ(stored(), answer);
  EXPECT_THAT(found("hm, so"), ElementsAre("t"));
}

TEST_F(Store, TextThatWasAThoughtIsStoredAsOne) {
  const auto [id, question] = store_->start({"t", "", ""}, {"user", "question"});
  AnswerWriter writer(*store_, id, question);
  const AnswerWriter::Clock::time_point start{};
  const auto stored = [&] { return store_->load(id).turns.back().message; };
  writer.reclassify();
  writer.follow({"assistant"}, start);
  EXPECT_EQ(stored().role, "user");
  writer.follow({"assistant", "two and"}, start);
  writer.follow({"assistant", "two and two"}, start + milliseconds(1000));
  Message answer{.role = "assistant", .content = "four, in words", .reasoning = "two and two"};  // longer than before
  writer.reclassify();
  writer.follow(answer, start + milliseconds(2000));
  EXPECT_EQ(stored(), answer);
  answer.content += ": four";
  writer.follow(answer, start + milliseconds(3000));
  EXPECT_EQ(stored(), answer);
  answer = {.role = "assistant", .content = answer.reasoning + answer.content};
  writer.reclassify();
  writer.finish(answer, TurnState::kComplete);
  EXPECT_EQ(stored(), answer);
  EXPECT_THAT(found("two and twofour"), ElementsAre("t"));
}

TEST_F(Store, AnAnswerThatOnlyCallsAToolIsOne) {
  const auto [id, question] = store_->start({"t", "", ""}, {"user", "question"});
  AnswerWriter writer(*store_, id, question);
  const Message answer{.role = "assistant", .tool_calls = {{"1", "f", "{}"}}};
  writer.follow(answer, {});
  EXPECT_EQ(writer.turn(), 0);
  writer.finish(answer, TurnState::kComplete);
  EXPECT_EQ(store_->load(id).turns.back().message, answer);
}

TEST_F(Store, AnAnswerWithoutTextIsNone) {
  const auto [id, question] = store_->start({"t", "", ""}, {"user", "question"});
  AnswerWriter writer(*store_, id, question);
  writer.follow({"assistant"}, {});
  writer.finish({"assistant"}, TurnState::kStopped);
  EXPECT_EQ(writer.turn(), 0);
  EXPECT_THAT(texts(id), ElementsAre("question"));
}

}  // namespace
}  // namespace warpchat
