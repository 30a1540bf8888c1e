// Scenarios as a table: a user's actions, then the expected state and store. After each scenario, all updates applied
// to a fresh state must give the controller's own state.
#include "app/chat/chat_controller.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <memory>

#include "app/chat/titling.h"
#include "app/settings/settings_file.h"
#include "tests/chat/chat_bench.h"

namespace warpchat {
namespace {

struct Scenario {
  const char* name;
  void (*steps)(Bench&);
  const char *shown, *stored;
  const char* says = "";  // in one of the notices
};

const Scenario kScenarios[] = {
    {"sent", [](Bench& b) { b.ask("one"), b.ask("two"); }, "one > answer 1 > two > answer 2",
     "one > answer 1 > two > answer 2"},
    {"thoughts_are_parted",
     [](Bench& b) {
       b.responder->answers = {{{thought("why"), text("because")}, EndReason::kEndOfText}};
       b.ask("one");
     },
     "one > [why] because", "one > [why] because"},
    {"a_thought_that_is_found_at_its_end",
     [](Bench& b) {
       b.responder->answers = {going_on({text("two and two\n"), Reclassified{true}, text("four")})};
       b.ask("one");
       EXPECT_EQ(b.shown(), "one > [two and two] four (streams)");
       EXPECT_TRUE(b.message(1).thinking_seconds.has_value());
       b.stop();
       b.responder->answers = {{{text(", or"), Reclassified{false}, text(" five")}, EndReason::kEndOfText}};
       b.submit(ContinueAnswer{b.last()}), b.settle();
     },
     "one > two and twofour, or five", "one > two and twofour, or five"},
    {"stopped",
     [](Bench& b) {
       b.responder->answers = {going_on({text("half")})};
       b.ask("one"), b.stop();
     },
     "one > half (stopped)", "one > half (stopped)"},
    {"stopped_while_it_reads",
     [](Bench& b) {
       b.responder->answers = {going_on({PromptProgress{3, 9}})};
       b.ask("one"), b.stop();
     },
     "one", "one", "stopped while reading the prompt, at 3 of 9 tokens; the next try continues from there"},
    {"regenerated", [](Bench& b) { b.ask("one"), b.submit(Regenerate{b.last()}), b.settle(); }, "one > answer 2 2/2",
     "one > answer 2 /2"},
    {"regenerate_fails",
     [](Bench& b) {
       b.ask("one");
       b.responder->answers = {failing()};
       b.submit(Regenerate{b.last()}), b.settle();
     },
     "one > answer 1", "one > answer 1", "it broke"},
    {"regenerate_is_refused",
     [](Bench& b) {
       b.ask("one");
       b.responder->refuse_from = 1;
       b.submit(Regenerate{b.last()}), b.settle();
       ASSERT_TRUE(b.state().refusal);
       EXPECT_EQ(b.state().refusal->message, b.last()) << "there it is shown";
       EXPECT_FALSE(b.state().refusal->can_drop);
     },
     "one > answer 1", "one > answer 1"},
    {"regenerate_is_stopped_before_its_first_text",
     [](Bench& b) {
       b.ask("one");
       b.responder->answers = {going_on({})};
       b.submit(Regenerate{b.last()}), b.settle();
       EXPECT_EQ(b.shown(), "one >  (streams)");
       b.stop();
     },
     "one > answer 1", "one > answer 1"},
    {"edited",
     [](Bench& b) {
       b.ask("one"), b.submit(EditMessage{b.message(0).key, "uno"}), b.settle();
     },
     "uno 2/2 > answer 2", "uno /2 > answer 2"},
    {"edit_is_stopped_before_its_first_text",  // the typed text is a version
     [](Bench& b) {
       b.ask("one"), b.ask("two");
       b.responder->answers = {going_on({})};
       b.submit(EditMessage{b.message(2).key, "zwei"}), b.settle(), b.stop();
       b.ask("three");
     },
     "one > answer 1 > two 1/2 > answer 2 > three > answer 4", "one > answer 1 > two /2 > answer 2 > three > answer 4"},
    {"edit_fails",
     [](Bench& b) {
       b.ask("one");
       b.responder->answers = {failing()};
       b.submit(EditMessage{b.message(0).key, "uno"}), b.settle();
     },
     "one 1/2 > answer 1", "one /2 > answer 1", "it broke"},
    {"edit_is_refused",
     [](Bench& b) {
       b.ask("one");
       b.responder->refuse_from = 4;
       b.submit(EditMessage{b.message(0).key, "too long"}), b.settle();
       EXPECT_EQ(b.state().refused_sends, 1u);
       EXPECT_EQ(b.state().taken_sends, 1u);
       EXPECT_EQ(b.state().refusal->message, 0u) << "the typed text is still in the composer";
     },
     "one > answer 1", "one > answer 1"},
    {"send_fails",
     [](Bench& b) {
       b.responder->answers = {failing()};
       b.ask("one");
       EXPECT_EQ(b.message(1).failure, "it broke");
       EXPECT_TRUE(b.state().notices.empty()) << "it is shown in place of the answer";
     },
     "one >  (failed)", "one"},
    {"a_failure_stays_with_its_message",
     [](Bench& b) {
       b.responder->answers = {failing()};
       std::ofstream(b.path("notes.txt")) << "notes";
       b.submit(AttachFile{b.path("notes.txt")});
       b.ask("one");
       const ConversationId id = b.state().open.id;
       const Message before = b.message(0);
       b.submit(NewConversation{}), b.settle();
       b.submit(OpenStored{id}), b.settle();
       EXPECT_EQ(b.message(1).failure, "it broke");
       EXPECT_EQ(b.message(0).files, before.files);
     },
     "one >  (failed)", "one"},
    {"a_failure_is_replaced_by_the_next",
     [](Bench& b) {
       b.responder->answers = {failing(), {{}, EndReason::kFailed, "it broke again"}};
       b.ask("one");
       b.submit(Regenerate{b.last()}), b.settle();
       EXPECT_TRUE(b.state().notices.empty()) << "it is shown in place of the answer";
       const ConversationId id = b.state().open.id;
       b.submit(NewConversation{}), b.settle();
       b.submit(OpenStored{id}), b.settle();
       EXPECT_EQ(b.message(1).failure, "it broke again");
     },
     "one >  (failed)", "one"},
    {"a_failure_ends_with_an_answer",
     [](Bench& b) {
       b.responder->answers = {failing()};
       b.ask("one");
       b.submit(Regenerate{b.last()}), b.settle();
       const auto store = ConversationStore::open(b.path("warpchat")).store;
       EXPECT_EQ(store->load(b.state().open.id).turns.at(0).message.failure, "");
     },
     "one > answer 2", "one > answer 2"},
    {"a_failure_ends_with_another_try",
     [](Bench& b) {
       b.responder->answers = {failing(), going_on({})};
       b.ask("one");
       b.submit(Regenerate{b.last()}), b.settle(), b.stop();
       const ConversationId id = b.state().open.id;
       b.submit(NewConversation{}), b.settle();
       b.submit(OpenStored{id}), b.settle();
     },
     "one", "one"},
    {"the_conversation_goes_on_after_a_failure",
     [](Bench& b) {
       b.responder->answers = {failing()};
       b.ask("one"), b.ask("two");
       b.submit(Undo{}), b.settle();
       EXPECT_EQ(b.message(1).failure, "it broke") << "it is the last message again";
       b.ask("three");
     },
     "one > three 2/2 > answer 3", "one > three /2 > answer 3"},
    {"an_edit_of_a_failed_message_fails",  // there is no answer to return to
     [](Bench& b) {
       b.responder->answers = {failing(), failing()};
       b.ask("one");
       b.submit(EditMessage{b.message(0).key, "uno"}), b.settle();
     },
     "uno 2/2 >  (failed)", "uno /2"},
    {"an_empty_answer",
     [](Bench& b) {
       b.responder->answers = {{{}, EndReason::kEndOfText}};
       b.ask("one");
       EXPECT_EQ(b.message(1).failure, "the model returned an empty answer");
     },
     "one >  (failed)", "one"},
    {"a_broken_answer_says_why_when_it_is_read_again",
     [](Bench& b) {
       b.responder->answers = {failing({text("half")})};
       b.ask("one");
       const ConversationId id = b.state().open.id;
       const auto store = ConversationStore::open(b.path("warpchat")).store;
       EXPECT_EQ(store->load(id).turns.at(1).message.failure, "it broke");
       b.submit(Fork{b.last()}), b.settle();
       EXPECT_EQ(b.message(1).failure, "it broke");
       b.submit(OpenStored{id}), b.settle();
     },
     "one > half (failed)", "one > half (stopped)"},
    {"its_answer_cannot_begin",
     [](Bench& b) {
       b.responder->begins = [] { throw Error("there is no thread"); };
       b.ask("one");
       EXPECT_EQ(b.message(1).failure, "there is no thread");
       b.responder->begins = [] {};
       b.ask("two");
     },
     "one > two > answer 1", "one > two > answer 1"},
    {"send_fails_while_another_conversation_is_shown",
     [](Bench& b) {
       b.responder->answers = {failing()};
       b.submit(Send{"one"}), b.submit(NewConversation{}), b.settle();
     },
     "", "", "'one': it broke"},
    {"failed_half_way",
     [](Bench& b) {
       b.responder->answers = {failing({text("half")})};
       b.ask("one");
       EXPECT_EQ(b.message(1).failure, "it broke");
       EXPECT_TRUE(b.state().notices.empty());
     },
     "one > half (failed)", "one > half (stopped)"},
    {"send_is_refused_for_its_length",
     [](Bench& b) {
       b.ask("one");
       b.responder->refuse_from = 100;
       std::ofstream(b.path("notes.txt")) << "notes";
       b.submit(AttachFile{b.path("notes.txt")});
       b.ask(std::string(200, 'x'));
       EXPECT_EQ(b.state().taken_sends, 1u);
       EXPECT_EQ(b.state().refused_sends, 1u);
       EXPECT_EQ(b.state().attachments.size(), 1u) << "they are still to be sent";
       ASSERT_TRUE(b.state().refusal);
       EXPECT_GT(b.state().refusal->tokens, 200u);
       EXPECT_EQ(b.state().refusal->context, 100u);
       EXPECT_FALSE(b.state().refusal->can_drop) << "it is too long by itself";
       EXPECT_EQ(b.state().refusal->larger_context, 0u) << "none is known";
       EXPECT_TRUE(b.state().notices.empty()) << "it is shown at the message";
     },
     "one > answer 1", "one > answer 1"},
    {"the_oldest_turns_are_dropped",
     [](Bench& b) {
       b.ask("one"), b.ask("two"), b.ask("three");
       b.responder->refuse_from = 25;
       b.ask("four");
       ASSERT_TRUE(b.state().refusal);
       EXPECT_TRUE(b.state().refusal->can_drop);
       b.submit(DropOldest{}), b.ask("four");
       EXPECT_FALSE(b.state().refusal);
       EXPECT_EQ(b.responder->seen.back().front().content, "three");
       EXPECT_EQ(b.state().open.unseen_turns, 2u);
       EXPECT_EQ(n_unseen_messages(b.state().open), 4u);
     },
     "one > answer 1 > two > answer 2 > three > answer 3 > four > answer 4",
     "one > answer 1 > two > answer 2 > three > answer 3 > four > answer 4"},
    {"an_answer_is_made_again_without_the_oldest_turns",
     [](Bench& b) {
       b.ask("one"), b.ask("two");
       b.responder->refuse_from = 14;
       b.submit(Regenerate{b.last()}), b.settle();
       EXPECT_EQ(b.state().refusal->message, b.last());
       EXPECT_TRUE(remedies_at(b.state(), b.message(3)).can_drop);
       b.submit(DropOldest{}), b.submit(Regenerate{b.last()}), b.settle();
       EXPECT_EQ(b.state().open.unseen_turns, 1u);
       EXPECT_FALSE(remedies_at(b.state(), b.message(3)).any());
     },
     "one > answer 1 > two > answer 3 2/2", "one > answer 1 > two > answer 3 /2"},
    {"cut_by_the_context_and_continued_without_the_oldest_turns",
     [](Bench& b) {
       b.ask("one");
       b.responder->answers = {{{text("half")}, EndReason::kContextFull}, {{text(", whole")}, EndReason::kEndOfText}};
       b.ask("two");
       EXPECT_TRUE(remedies_at(b.state(), b.message(3)).can_drop);
       EXPECT_FALSE(remedies_at(b.state(), b.message(1)).any());
       b.responder->refuse_from = 10;
       b.submit(ContinueAnswer{b.last()}), b.settle();
       EXPECT_EQ(b.state().refusal->message, b.last());
       EXPECT_TRUE(b.state().refusal->continues);
       b.submit(DropOldest{}), b.submit(ContinueAnswer{b.last()}), b.settle();
     },
     "one > answer 1 > two > half, whole", "one > answer 1 > two > half, whole"},
    {"dropping_the_oldest_turns_is_a_conversations_choice",
     [](Bench& b) {
       b.ask("one"), b.ask("two");
       const ConversationId first = b.state().open.id;
       b.submit(DropOldest{}), b.submit(NewConversation{}), b.settle();
       EXPECT_FALSE(b.state().open.drops_oldest);
       b.ask("uno");
       b.submit(OpenStored{first}), b.settle();
       EXPECT_TRUE(b.state().open.drops_oldest);
       b.submit(ShowVersion{b.last(), b.message(3).turn}), b.settle();
       EXPECT_TRUE(b.state().open.drops_oldest) << "read again";
       b.responder->refuse_from = 20;
       b.ask("three");
       EXPECT_EQ(b.state().open.unseen_turns, 1u);
       b.submit(Fork{b.last()}), b.settle();
       EXPECT_TRUE(b.state().open.drops_oldest) << "a copy continues from the same state";
       b.submit(OpenStored{first}), b.settle();
       b.submit(DropOldest{false}), b.settle();
       EXPECT_EQ(b.state().open.unseen_turns, 0u);
       b.ask("four");
       EXPECT_TRUE(b.state().refusal);
     },
     "one > answer 1 > two > answer 2 > three > answer 4", "one > answer 1 > two > answer 2 > three > answer 4"},
    {"what_waited_is_refused_for_its_length",  // it was accepted, and is part of the conversation
     [](Bench& b) {
       b.responder->answers = {going_on({text("first")})};
       b.ask("one");
       const ConversationId first = b.state().open.id;
       b.submit(NewConversation{}), b.settle();
       b.responder->refuse_from = 4;
       b.ask("two, and long");
       EXPECT_EQ(b.state().taken_sends, 2u);
       const ConversationId second = b.state().open.id;
       b.submit(OpenStored{first}), b.settle(), b.stop();
       b.submit(OpenStored{second}), b.settle();
       b.submit(Regenerate{b.last()}), b.settle();
       EXPECT_EQ(b.state().refusal->message, b.last());
     },
     "two, and long", "two, and long"},
    {"nothing_begins",
     [](Bench& b) {
       b.responder->fault = "it does not begin";
       b.ask("one");
       EXPECT_EQ(b.state().refused_sends, 1u);
       EXPECT_TRUE(b.state().conversations.empty());
     },
     "", "", "it does not begin"},
    {"continued",
     [](Bench& b) {
       b.responder->answers = {going_on({text("one half")}), {{text(", the other")}, EndReason::kEndOfText}};
       b.ask("one"), b.stop();
       const ChatMessage before = b.message(1);
       b.submit(ContinueAnswer{b.last()}), b.settle();
       EXPECT_EQ(b.message(1).key, before.key);
       EXPECT_EQ(b.message(1).turn, before.turn);
       EXPECT_EQ(b.message(1).tokens.size(), 2u);
       EXPECT_EQ(b.message(1).timings->generated_tokens, 2u);
       EXPECT_EQ(b.responder->seen.back().back().content, "one half");
     },
     "one > one half, the other", "one > one half, the other"},
    {"continued_for_nothing",
     [](Bench& b) {
       b.responder->answers = {going_on({text("half")}), failing()};
       b.ask("one"), b.stop();
       b.submit(ContinueAnswer{b.last()}), b.settle();
       EXPECT_EQ(b.message(1).failure, "it broke");
       EXPECT_TRUE(b.state().notices.empty());
     },
     "one > half (failed)", "one > half (stopped)"},
    {"a_thought_is_continued",
     [](Bench& b) {
       b.responder->answers = {going_on({thought("hm")}), {{thought("m"), text("so")}, EndReason::kEndOfText}};
       b.ask("one"), b.stop();
       b.submit(ContinueAnswer{b.last()}), b.settle();
     },
     "one > [hmm] so", "one > [hmm] so"},
    {"cut_at_the_most_tokens",
     [](Bench& b) {
       b.responder->answers = {{{text("half")}, EndReason::kTokenLimit}};
       b.ask("one");
     },
     "one > half (cut)", "one > half"},
    {"cut_by_the_context",
     [](Bench& b) {
       b.responder->answers = {{{text("half")}, EndReason::kContextFull}};
       b.ask("one");
       EXPECT_EQ(b.message(1).cut, AnswerCut::kContextFull);
     },
     "one > half (cut)", "one > half"},
    {"cut_and_opened_again",  // there it can be continued, too
     [](Bench& b) {
       b.responder->answers = {{{text("half")}, EndReason::kTokenLimit}};
       b.ask("one");
       const ConversationId id = b.state().open.id;
       b.submit(NewConversation{}), b.settle();
       b.submit(OpenStored{id}), b.settle();
       EXPECT_EQ(b.message(1).cut, AnswerCut::kTokenLimit);
       b.responder->answers = {{{text(", whole")}, EndReason::kEndOfText}};
       b.submit(ContinueAnswer{b.last()}), b.settle();
       b.submit(NewConversation{}), b.submit(OpenStored{id}), b.settle();
     },
     "one > half, whole", "one > half, whole"},
    {"settings_of_one_answer_are_not_the_next_ones",
     [](Bench& b) {
       AnswerSettings once = settings_of(b.state());
       once.sampling.temperature = 0.125f, once.max_tokens = 7;
       const AnswerSettings before = settings_of(b.state());
       b.ask("one"), b.submit(Regenerate{b.last(), once}), b.settle();
       EXPECT_EQ(b.responder->options_seen.back().sampling.temperature, 0.125f);
       EXPECT_EQ(b.responder->options_seen.back().max_tokens, 7);
       EXPECT_EQ(settings_of(b.state()), before);
       b.submit(Regenerate{b.last()}), b.settle();
       EXPECT_EQ(b.responder->options_seen.back().sampling.temperature, before.sampling.temperature);
     },
     "one > answer 3 3/3", "one > answer 3 /3"},
    {"what_is_set_belongs_to_its_conversation",
     [](Bench& b) {
       const auto temperature = [&] { return settings_of(b.state()).sampling.temperature; };
       const float built_in = temperature();
       b.submit(SetChoice{"temp", {.temperature = 0.125f}}), b.ask("one");
       const ConversationId id = b.state().open.id;
       EXPECT_EQ(b.responder->options_seen.back().sampling.temperature, 0.125f);
       b.submit(NewConversation{}), b.settle();
       EXPECT_EQ(temperature(), built_in);
       b.submit(OpenStored{id}), b.settle();
       EXPECT_EQ(temperature(), 0.125f);
       b.submit(Fork{b.last()}), b.settle();
       EXPECT_EQ(temperature(), 0.125f) << "a copy has it, too";
       b.submit(SetChoice{"temp", {}}), b.settle();
       EXPECT_EQ(temperature(), built_in) << "back to the default";
       b.submit(OpenStored{id}), b.settle();
     },
     "one > answer 1", "one > answer 1"},
    {"the_settings_file_is_for_conversations_without_own_values",
     [](Bench& b) {
       const auto limit = [&] { return settings_of(b.state()).max_tokens; };
       b.submit(SetChoice{"n-predict", {.n_predict = 7}}), b.ask("one");
       const ConversationId id = b.state().open.id;
       b.submit(SetChoice{"n-predict", {.n_predict = 5}, /*for_new=*/true});
       b.submit(SetSystemPrompt{"be kind", /*for_new=*/true}), b.settle();
       EXPECT_EQ(limit(), 7);
       b.submit(NewConversation{}), b.settle();
       EXPECT_EQ(limit(), 5);
       EXPECT_EQ(b.state().open.system_prompt, "be kind");
       b.submit(OpenStored{id}), b.settle();
       EXPECT_EQ(b.state().open.system_prompt, "");
       EXPECT_EQ(SettingsFile::load().values().dump(), R"({"n-predict":5,"system-prompt":"be kind"})");
       b.submit(SetChoice{"n-predict", {}, /*for_new=*/true}), b.submit(SetSystemPrompt{"", /*for_new=*/true});
       b.settle();
       EXPECT_EQ(SettingsFile::load().values().dump(), "{}");
     },
     "one > answer 1", "one > answer 1"},
    {"undone", [](Bench& b) { b.ask("one"), b.ask("two"), b.submit(Undo{}), b.settle(); }, "one > answer 1",
     "one > answer 1", "your last message was taken back"},
    {"undone_and_shown_again",
     [](Bench& b) {
       b.ask("one"), b.ask("two"), b.submit(Undo{}), b.settle();
       const NoticeItem undo = b.state().notices.back();
       EXPECT_EQ(undo.action_label, "Undo");
       b.submit(NewConversation{}), b.settle();
       b.submit(OpenStored{undo.restores.front()}), b.submit(ShowVersion{0, undo.shows}), b.settle();
     },
     "one > answer 1 > two > answer 2", "one > answer 1 > two > answer 2"},
    {"nothing_is_undone",
     [](Bench& b) {
       b.submit(Undo{}), b.settle();
       EXPECT_TRUE(b.state().notices.empty());
     },
     "", ""},
    {"undone_while_it_streams",
     [](Bench& b) {
       b.ask("one");
       b.responder->answers = {going_on({text("half")})};
       b.ask("two"), b.submit(Undo{}), b.settle();
     },
     "one > answer 1", "one > answer 1"},
    {"all_undone_and_begun_again", [](Bench& b) { b.ask("one"), b.submit(Undo{}), b.settle(), b.ask("uno"); },
     "uno 2/2 > answer 2", "uno /2 > answer 2"},
    {"versions",
     [](Bench& b) {
       b.ask("one"), b.submit(Regenerate{b.last()}), b.settle();
       b.submit(ShowVersion{b.last(), b.message(1).siblings[0]}), b.settle();
     },
     "one > answer 1 1/2", "one > answer 1 /2"},
    {"forked",
     [](Bench& b) {
       b.ask("one"), b.ask("two");
       const ConversationId first = b.state().open.id;
       b.submit(Fork{b.message(1).key}), b.settle();
       EXPECT_NE(b.state().open.id, first);
       EXPECT_EQ(b.state().open.title, "one (copy)");
       EXPECT_EQ(b.state().conversations.size(), 2u);
       b.ask("three");
     },
     "one > answer 1 > three > answer 3", "one > answer 1 > three > answer 3"},
    {"sending_stops_the_answer",
     [](Bench& b) {
       b.responder->answers = {going_on({text("half")})};
       b.ask("one"), b.ask("two");
     },
     "one > half (stopped) > two > answer 2", "one > half (stopped) > two > answer 2"},
    {"two_are_answered_at_once",
     [](Bench& b) {
       b.responder->known.at_once = 2;
       b.responder->answers = {going_on({text("first")}), going_on({text("second")})};
       b.ask("one");
       const ConversationId first = b.state().open.id;
       b.submit(NewConversation{}), b.settle();
       b.ask("two");
       EXPECT_EQ(b.shown(), "two > second (streams)");
       EXPECT_EQ(b.state().answering, std::vector<ConversationId>{first});
       EXPECT_EQ(b.responder->n_running, 2u);
       b.submit(OpenStored{first}), b.settle();
       EXPECT_EQ(b.shown(), "one > first (streams)");
       b.stop();
       EXPECT_EQ(b.responder->n_running, 1u);
     },
     "one > first (stopped)", "one > first (stopped)"},
    {"the_second_waits_where_there_is_room_for_one",
     [](Bench& b) {
       b.responder->answers = {going_on({text("first")})};
       b.ask("one");
       const ConversationId first = b.state().open.id;
       b.submit(NewConversation{}), b.settle();
       b.ask("two");
       const ConversationId second = b.state().open.id;
       EXPECT_EQ(b.state().open.phase, AnswerPhase::kWaiting);
       EXPECT_EQ(b.state().taken_sends, 2u);
       EXPECT_EQ(b.stored(), "two");
       b.submit(OpenStored{first}), b.settle(), b.stop();
       b.submit(OpenStored{second}), b.settle();
     },
     "two > answer 2", "two > answer 2", "'one' is still being answered"},
    {"an_answer_ends_while_another_conversation_is_shown",
     [](Bench& b) {
       b.responder->answers = {{{text("done")}, EndReason::kEndOfText}};
       b.submit(Send{"one"});
       b.submit(NewConversation{}), b.settle();
       EXPECT_TRUE(b.state().answering.empty());
       const ConversationId id = b.state().conversations.at(0).id;
       EXPECT_EQ(b.state().unread, std::vector<ConversationId>{id});
       b.submit(OpenStored{id}), b.settle();
       EXPECT_TRUE(b.state().unread.empty());
     },
     "one > done", "one > done", "'one' has been answered"},
    {"what_streams_is_thrown_away",
     [](Bench& b) {
       b.responder->answers = {going_on({text("half")})};
       b.ask("one"), b.submit(ThrowAway{{b.state().open.id}}), b.settle();
       EXPECT_EQ(b.responder->n_running, 0u);
       EXPECT_EQ(b.shown(), "");
       b.submit(TakeFromTrash{{b.state().trash.at(0).id}}), b.settle();
     },
     "one > half (stopped)", "one > half (stopped)"},
    {"thrown_away_by_another_program_and_written_to",
     [](Bench& b) {
       b.ask("one");
       ConversationStore::open(b.path("warpchat")).store->throw_away(b.state().open.id);
       b.ask("two");
       EXPECT_TRUE(b.state().trash.empty());
       EXPECT_EQ(b.state().conversations.size(), 1u);
     },
     "one > answer 1 > two > answer 2", "one > answer 1 > two > answer 2",
     "this conversation was in the trash; it is restored"},
    {"thrown_away_by_another_program_and_answered_again",
     [](Bench& b) {
       b.ask("one");
       ConversationStore::open(b.path("warpchat")).store->throw_away(b.state().open.id);
       b.submit(Regenerate{b.last()}), b.settle();
       EXPECT_TRUE(b.state().trash.empty());
     },
     "one > answer 2 2/2", "one > answer 2 /2", "this conversation was in the trash; it is restored"},
    {"renamed_while_it_streams",
     [](Bench& b) {
       b.responder->answers = {going_on({text("half")})};
       b.ask("one"), b.submit(Rename{b.state().open.id, "first"}), b.settle();
       EXPECT_EQ(b.state().open.title, "first");
       EXPECT_EQ(b.shown(), "one > half (streams)");
       b.stop();
     },
     "one > half (stopped)", "one > half (stopped)"},
    {"the_context_grows_as_it_streams",
     [](Bench& b) {
       b.responder->answers = {going_on({Usage{20, 0}, text("a"), text("b"), text("c")})};
       b.ask("one");
       EXPECT_EQ(b.state().open.context_used, 23u);
       b.stop();
     },
     "one > abc (stopped)", "one > abc (stopped)"},
    {"who_answered_is_known",
     [](Bench& b) {
       b.responder->known.endpoint = "http://far.example/v1";
       b.ask("one");
       EXPECT_EQ(b.message(1).model, "/models/scripted.gguf");
       EXPECT_EQ(b.message(1).endpoint, "http://far.example/v1");
       b.submit(NewConversation{}), b.submit(OpenStored{b.state().conversations.at(0).id}), b.settle();
       EXPECT_EQ(b.message(1).endpoint, "http://far.example/v1");
       ASSERT_TRUE(b.message(1).timings) << "as the store has them";
     },
     "one > answer 1", "one > answer 1"},
    {"files_go_with_a_message_and_its_edits",
     [](Bench& b) {
       std::ofstream(b.path("notes.txt")) << "buy milk";
       b.submit(AttachFile{b.path("notes.txt")});
       b.ask("read it");
       EXPECT_TRUE(b.state().attachments.empty());
       b.submit(EditMessage{b.message(0).key, "sum it up"}), b.settle();
       EXPECT_EQ(text_for_model(b.responder->seen.back().back()), "notes.txt:\n\n```\nbuy milk\n```\n\nsum it up");
     },
     "sum it up 2/2 > answer 2", "sum it up /2 > answer 2"},
    {"files_stay_with_their_conversation",
     [](Bench& b) {
       b.ask("one");
       const ConversationId first = b.state().open.id;
       std::ofstream(b.path("notes.txt")) << "buy milk";
       std::ofstream(b.path("other.txt")) << "more";
       b.submit(AttachFile{b.path("notes.txt")}), b.submit(NewConversation{}),
           b.settle();  // it may not have been read yet
       EXPECT_TRUE(b.state().attachments.empty());
       b.submit(AttachFile{b.path("other.txt")}), b.settle();
       b.submit(OpenStored{first}), b.settle();
       ASSERT_EQ(b.state().attachments.size(), 1u);
       EXPECT_EQ(b.state().attachments[0].name, "notes.txt");
       EXPECT_EQ(b.state().attachments[0].bytes, 8u);
       b.submit(NewConversation{}), b.settle();
       EXPECT_EQ(b.state().attachments.at(0).name, "other.txt");
       b.submit(DropAttachment{0}), b.submit(OpenStored{first}), b.ask("two");
       EXPECT_EQ(b.responder->seen.back().back().files.at(0).text, "buy milk");
     },
     "one > answer 1 > two > answer 2", "one > answer 1 > two > answer 2"},
    {"what_is_no_text_is_not_attached",
     [](Bench& b) {
       std::ofstream(b.path("tool")) << std::string(
           "\x7F"
           "ELF\0",
           5);
       b.submit(AttachFile{b.path("tool")}), b.settle();
       EXPECT_TRUE(b.state().attachments.empty());
       EXPECT_FALSE(b.controller->busy());
     },
     "", "", "/tool: it is a binary file; only text can be read"},
    {"titled_by_the_model",  // it reads the conversation as the next message would
     [](Bench& b) {
       b.name_by_model();
       b.responder->answers = {{{text("because")}, EndReason::kEndOfText},
                               {{text("**Title:** \"A Rea"), text("son\"\n"), text("And more")}}};
       b.ask("why");
       EXPECT_EQ(b.state().open.title, "A Reason");
       EXPECT_EQ(b.state().conversations.at(0).title, "A Reason");
       ASSERT_EQ(b.responder->seen.size(), 2u);
       EXPECT_EQ(b.responder->seen[1].size(), 3u);
       EXPECT_EQ(b.responder->seen[1][1].content, "because");
       EXPECT_EQ(b.responder->options_seen[1].sampling.temperature, 0);
       EXPECT_EQ(b.responder->n_running, 0u);
       b.responder->answers = {{{text("therefore")}, EndReason::kEndOfText}};
       b.ask("how");
       EXPECT_EQ(b.responder->seen.size(), 3u) << "one title a conversation";
       EXPECT_EQ(b.responder->seen[2].back().content, "how");
     },
     "why > because > how > therefore", "why > because > how > therefore"},
    {"a_title_is_no_line_of_a_thought",
     [](Bench& b) {
       b.name_by_model();
       b.responder->known.opens_thoughts = true;
       b.responder->answers = {
           {{text("because")}, EndReason::kEndOfText},
           {{text("A title is short\n"), Reclassified{true}, text("A Reason\n")}, EndReason::kEndOfText}};
       b.ask("why");
       EXPECT_EQ(b.state().open.title, "A Reason");
     },
     "why > because", "why > because"},
    {"a_title_of_the_user_stays",
     [](Bench& b) {
       b.name_by_model();
       b.responder->answers = {{{text("because")}, EndReason::kEndOfText}, going_on({text("A Reason")})};
       b.ask("why");
       b.submit(Rename{b.state().open.id, "mine"});
       b.responder->answers = {};
       b.submit(SetChoice{"temp", {}}), b.settle();
       EXPECT_EQ(b.state().open.title, "mine");
       b.submit(Fork{b.last()}), b.ask("how");
       EXPECT_EQ(b.state().open.title, "mine (copy)");
     },
     "why > because > how > answer 3", "why > because > how > answer 3"},
    {"a_title_gives_way_to_the_next_message_and_is_asked_for_after_it",
     [](Bench& b) {
       b.name_by_model();
       b.responder->answers = {{{text("because")}, EndReason::kEndOfText},
                               going_on({text("A Rea")}),
                               {{text("therefore")}, EndReason::kEndOfText},
                               {{text("A Reason")}, EndReason::kEndOfText}};
       b.ask("why");
       EXPECT_EQ(b.responder->n_running, 1u);
       EXPECT_FALSE(b.controller->busy()) << "a title does not count as busy";
       b.ask("how");
       EXPECT_EQ(b.state().open.title, "A Reason");
       EXPECT_EQ(b.responder->seen.at(3).size(), 5u);
     },
     "why > because > how > therefore", "why > because > how > therefore"},
    {"no_title_comes",  // the first line stays the title
     [](Bench& b) {
       b.name_by_model();
       for (const Answer& title : {failing(), Answer{{thought("hm"), text("Title")}, EndReason::kEndOfText},
                                   Answer{{text("a text that goes on")}, EndReason::kTokenLimit}}) {
         b.submit(NewConversation{});
         b.responder->answers = {{{text("because")}, EndReason::kEndOfText}, title};
         b.ask("why");
         EXPECT_EQ(b.state().open.title, "why");
         EXPECT_EQ(b.responder->n_running, 0u);
         EXPECT_TRUE(b.state().notices.empty());
       }
     },
     "why > because", "why > because"},
    {"a_title_comes_while_another_conversation_is_shown",
     [](Bench& b) {
       b.name_by_model();
       b.responder->answers = {{{text("because")}, EndReason::kEndOfText}, {{text("A Reason")}, EndReason::kEndOfText}};
       b.submit(Send{"why"}), b.submit(NewConversation{}), b.settle();
       EXPECT_EQ(b.state().conversations.at(0).title, "A Reason");
     },
     "", ""},
    {"calls_of_tools_grow",
     [](Bench& b) {
       b.responder->answers = {
           {{ToolCallDelta{0, "c1", "add", "{\"a\":"}, ToolCallDelta{0, "", "", "1}"}}, EndReason::kEndOfText}};
       b.ask("one");
       EXPECT_EQ(b.message(1).tool_calls, (std::vector<ToolCall>{{"c1", "add", "{\"a\":1}"}}));
     },
     "one > ", "one > "},
};

TEST(ChatController, DoesWhatTheTableSays) {
  for (const Scenario& scenario : kScenarios) {
    SCOPED_TRACE(scenario.name);
    Bench bench;
    scenario.steps(bench);
    EXPECT_EQ(bench.shown(), scenario.shown);
    EXPECT_EQ(bench.stored(), scenario.stored);
    std::string notices;
    for (const NoticeItem& notice : bench.state().notices) notices += notice.text + "\n";
    EXPECT_NE(notices.find(scenario.says), std::string::npos) << notices;
    EXPECT_TRUE(bench.replayed == bench.state()) << "its updates give another state";
  }
}

}  // namespace
}  // namespace warpchat
