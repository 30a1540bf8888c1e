// Conversations to Markdown and JSON and back, with any text; files of other programs; damaged files.
#include "app/formats/transfer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "app/platform/text/timestamp.h"
#include "app/platform/text_input.h"
#include "models/error.h"
#include "models/utf8.h"
#include "tests/app/imported.h"
#include "tests/store/store_folder.h"
#include "tests/support/error_of.h"

namespace warpchat {
namespace {

constexpr StoreTime kThen = 1'763'752'323'120;  // 2025-11-21T19:12:03.120Z

Turn turn(TurnId id, TurnId parent, const std::string& text, TurnState state = TurnState::kComplete) {
  return {id, parent, {id % 2 == 1 ? "user" : "assistant", text}, state, kThen + id};
}

ConversationTree line(const std::vector<std::string>& texts) {
  ConversationTree tree{"a title", "be brief", "/models/m.gguf", kThen, kThen + 9, {}, 0};
  for (const std::string& text : texts) {
    tree.turns.push_back(turn(tree.shown + 1, tree.shown, text));
    ++tree.shown;
  }
  return tree;
}

// 1 - 2 - 3 - 4
//   \ 5   \ 6 (shown)
ConversationTree branched() {
  ConversationTree tree = line({"one", "1", "two", "2"});
  tree.turns.push_back(turn(5, 0, "eins"));
  tree.turns.push_back(turn(6, 3, "II", TurnState::kStopped));
  tree.shown = 6;
  return tree;
}

ConversationTree parse_conversation(std::string_view text, const std::string& name) {
  const std::vector<ConversationTree> trees = import_text(text, name).trees;
  EXPECT_EQ(trees.size(), 1u) << name;
  return trees.at(0);
}

TEST(Transfer, JsonCarriesAllBranches) {
  ConversationTree tree = branched();
  EXPECT_EQ(parse_conversation(to_json(tree), "a.json"), tree);
  tree.shown = 5;
  EXPECT_EQ(parse_conversation(to_json(tree), "a.json"), tree);
  tree.shown = 0;  // everything is undone
  EXPECT_EQ(parse_conversation(to_json(tree), "a.json"), tree);
}

TEST(Transfer, JsonHasTheShownBranchWhereOthersLook) {
  const auto messages = nlohmann::json::parse(to_json(branched()))["messages"];
  ASSERT_EQ(messages.size(), 5u);
  EXPECT_EQ(messages[0]["role"], "system");
  EXPECT_EQ(messages[0]["content"], "be brief");
  EXPECT_EQ(messages[1]["role"], "user");
  EXPECT_EQ(messages[4]["content"], "II");
}

TEST(Transfer, WhatStreamsCountsAsStopped) {
  ConversationTree tree = line({"one", "1"});
  tree.turns[1].state = TurnState::kOpen;
  EXPECT_EQ(parse_conversation(to_json(tree), "a").turns[1].state, TurnState::kStopped);
  EXPECT_EQ(parse_conversation(to_markdown(tree), "a").turns[1].state, TurnState::kStopped);
}

TEST(Transfer, MarkdownCarriesTheShownBranch) {
  const ConversationTree tree = branched();
  ConversationTree shown = line({"one", "1", "two", "II"});
  shown.turns[3].state = TurnState::kStopped;
  shown.turns[3].created = tree.turns[5].created;
  EXPECT_EQ(parse_conversation(to_markdown(tree), "a.md"), shown);
}

TEST(Transfer, MarkdownReadsLikeADocument) {
  EXPECT_EQ(to_markdown(line({"Hi #1", "# Hello\n"})),
            "# a title\n\n"
            "<!-- warpchat conversation {\"version\":2,\"model\":\"/models/m.gguf\","
            "\"created\":\"2025-11-21T19:12:03.120Z\",\"updated\":\"2025-11-21T19:12:03.129Z\"} -->\n\n"
            "<!-- warpchat system {} -->\n## System\n\nbe brief\n\n"
            "<!-- warpchat user {\"created\":\"2025-11-21T19:12:03.121Z\"} -->\n## You\n\nHi #1\n\n"
            "<!-- warpchat assistant {\"created\":\"2025-11-21T19:12:03.122Z\"} -->\n## m\n\n# Hello\n\n");
}

// A message with every field.
ConversationTree furnished() {
  ConversationTree tree = line({"summarise", "an answer", "and now?", "shorter"});
  tree.turns[0].message.files = {{"a <b> & \"c\".txt", "one\n```\ntwo\n"}, {"empty.md", ""}};
  tree.turns[1].message.reasoning = "hm\n\n</details>";
  tree.turns[1].message.model = "qwen3-4b.gguf";
  tree.turns[1].message.timings = Timings{12, 3, 4, 0.5, 0.25, 0.125};
  tree.turns[3].message.reasoning = "go on";
  tree.turns[3].message.model = "qwen2.5-7b";
  tree.turns[3].message.endpoint = "http://host:8000/v1";
  tree.turns[3].message.tool_calls = {{"1", "weather", "{\"city\": \"-->\"}"}};
  tree.turns.push_back({5, 4, {.role = "tool", .content = "21 °C", .tool_call_id = "1"}, TurnState::kComplete, kThen});
  tree.turns.push_back({6, 5, {.role = "assistant", .reasoning = "cut in thou"}, TurnState::kStopped, kThen});
  tree.shown = 6;
  return tree;
}

TEST(Transfer, AllOfAMessageComesBack) {
  EXPECT_EQ(parse_conversation(to_json(furnished()), "a"), furnished());
  EXPECT_EQ(parse_conversation(to_markdown(furnished()), "a"), furnished());
}

TEST(Transfer, JsonHasMessagesInTheirOneForm) {
  const auto root = nlohmann::ordered_json::parse(to_json(furnished()));
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(message_from_json(root["messages"][i + 1]), furnished().turns[i].message) << i;
}

TEST(Transfer, MarkdownFoldsThoughtsAndFilesAndSaysWhoAnswered) {
  ConversationTree tree = line({"read", "yes"});
  tree.system_prompt.clear();
  tree.turns[0].message.files = {{"a<b>.txt", "text\n"}};
  tree.turns[1].message.reasoning = "hm";
  tree.turns[1].message.model = "qwen2.5-7b";
  EXPECT_EQ(to_markdown(tree),
            "# a title\n\n"
            "<!-- warpchat conversation {\"version\":2,\"model\":\"/models/m.gguf\","
            "\"created\":\"2025-11-21T19:12:03.120Z\",\"updated\":\"2025-11-21T19:12:03.129Z\"} -->\n\n"
            "<!-- warpchat user {\"created\":\"2025-11-21T19:12:03.121Z\",\"folded\":1} -->\n## You\n\n"
            "<!-- warpchat file {\"name\":\"a<b\\u003e.txt\",\"fenced\":true} -->\n"
            "<details><summary>a&#60;b&#62;.txt</summary>\n\n```text\ntext\n\n```\n\n"
            "<!-- warpchat end {} -->\n</details>\n\nread\n\n"
            "<!-- warpchat assistant {\"created\":\"2025-11-21T19:12:03.122Z\",\"model\":\"qwen2.5-7b\",\"folded\":1} "
            "-->\n## qwen2.5-7b\n\n"
            "<!-- warpchat thought {} -->\n<details><summary>Thought</summary>\n\nhm\n\n"
            "<!-- warpchat end {} -->\n</details>\n\nyes\n");
}

// Files of version 1, with thoughts inside the answer's text.
TEST(Transfer, OlderFilesAreRead) {
  ConversationTree expected = line({"why", "because", "so"});
  expected.turns[1].message.reasoning = "hm";
  EXPECT_EQ(parse_conversation(R"({"format": "warpchat conversation", "version": 1, "title": "a title",
      "model": "/models/m.gguf", "created": "2025-11-21T19:12:03.120Z", "updated": "2025-11-21T19:12:03.129Z",
      "messages": [{"role": "system", "content": "be brief"},
        {"role": "user", "content": "why", "id": 1, "created": "2025-11-21T19:12:03.121Z"},
        {"role": "assistant", "content": "<think>\nhm\n</think>\n\nbecause", "id": 2,
         "created": "2025-11-21T19:12:03.122Z"},
        {"role": "user", "content": "so", "id": 3, "created": "2025-11-21T19:12:03.123Z"}], "branches": []})",
                               "a"),
            expected);
  EXPECT_EQ(parse_conversation("# a title\n\n"
                               "<!-- warpchat conversation {\"version\":1,\"model\":\"/models/m.gguf\","
                               "\"created\":\"2025-11-21T19:12:03.120Z\",\"updated\":\"2025-11-21T19:12:03.129Z\"} -->"
                               "\n\n<!-- warpchat system {} -->\n## System\n\nbe brief\n\n"
                               "<!-- warpchat user {\"created\":\"2025-11-21T19:12:03.121Z\"} -->\n## You\n\nwhy\n\n"
                               "<!-- warpchat assistant {\"created\":\"2025-11-21T19:12:03.122Z\"} -->\n## m\n\n"
                               "<think>\nhm\n</think>\n\nbecause\n\n"
                               "<!-- warpchat user {\"created\":\"2025-11-21T19:12:03.123Z\"} -->\n## You\n\nso\n",
                               "a"),
            expected);
}

struct TextCase {
  const char* name;
  std::string text;
  bool fenced;
};
const TextCase kTexts[] = {
    {"empty", "", false},
    {"line_ends_at_both_edges", "\n\n  a\n\n\n", false},
    {"our_heading", "## You\n\nhello\n\n## m\n", false},
    {"our_mark", "<!-- warpchat user {} -->\n## You\n\nnot me", true},
    {"our_mark_behind_blank_line", "a\n\n<!-- warpchat user {} -->\n\n", true},
    {"our_mark_escaped_already", "\\<!-- warpchat user {} -->\n\\\\<!-- warpchat", false},
    {"our_mark_in_code", "```\n<!-- warpchat user {} -->\n```", false},
    {"backslashes", "\\\n\\\\", false},
    {"closed_code", "```c++\nint x;\n```\ndone", false},
    {"code_left_open", "Look:\n```\nint x;", true},
    {"longer_code_left_open", "`````\n```\n", true},
    {"tilde_code_left_open", "~~~\n```\n```", true},
    {"comment_left_open", "a\n<!-- b", true},
    {"comment_in_code", "```\n<!-- b\n```", false},
    {"carriage_returns", "a\r\nb\r", false},
    {"zero_byte", std::string("a\0b", 3), false},
    {"other_scripts", "日本語 \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb العربية", false},
    {"thought", "<think>\nhm\n</think>\n\nyes", false},
};

TEST(Transfer, AnyTextComesBack) {
  for (const TextCase& c : kTexts) {
    ConversationTree tree = line({c.text, c.text, "end"});
    if (!c.text.empty()) tree.system_prompt = c.text;
    const std::string markdown = to_markdown(tree);
    EXPECT_EQ(parse_conversation(markdown, "a"), tree) << c.name;
    ConversationTree folded = tree;
    folded.turns[0].message.files = {{c.text, c.text}, {"b", c.text}};
    folded.turns[1].message.reasoning = c.text;
    EXPECT_EQ(parse_conversation(to_markdown(folded), "a"), folded) << c.name;
    EXPECT_EQ(parse_conversation(to_json(folded), "a"), folded) << c.name;
    EXPECT_EQ(markdown.find("\"fenced\":true") != std::string::npos, c.fenced) << c.name;
    EXPECT_EQ(parse_conversation(to_json(tree), "a"), tree) << c.name;
  }
}

TEST(Transfer, AnyTitleAndModelComesBack) {
  for (const char* name : {"", " ", "#", "a #", " a ", "*a* _b_ `c` [d](e) <f> & &amp; &#10; \\ \\* ~g~ |h| $i$",
                           "two\nlines\r", "-->", "日本語"}) {
    ConversationTree tree = line({"a"});
    tree.title = tree.model = name;
    EXPECT_EQ(parse_conversation(to_markdown(tree), "a"), tree) << name;
    EXPECT_EQ(parse_conversation(to_json(tree), "a"), tree) << name;
  }
}

// Dangerous pieces of text, in random order.
std::string random_text(std::mt19937& generator) {
  static const std::vector<std::string> kPieces = {"\n",
                                                   "\n\n",
                                                   "<!-- warpchat ",
                                                   "user",
                                                   " {}",
                                                   " -->",
                                                   "## ",
                                                   "You",
                                                   "# ",
                                                   "```",
                                                   "~~~~",
                                                   "`",
                                                   "\\",
                                                   "<!--",
                                                   "-->",
                                                   " ",
                                                   "\r",
                                                   "\t",
                                                   "é",
                                                   "日",
                                                   "text",
                                                   "end",
                                                   "</details>",
                                                   "<details><summary>",
                                                   ">",
                                                   "</p>",
                                                   "<pre",
                                                   "&#",
                                                   "{\"fenced\":true}"};
  std::string text;
  for (size_t n = generator() % 20; n-- > 0;) text += kPieces[generator() % kPieces.size()];
  return text;
}

TEST(Transfer, RandomConversationsComeBack) {
  std::mt19937 generator(7);
  for (int round = 0; round < 3000; ++round) {
    ConversationTree tree = line({random_text(generator), random_text(generator), random_text(generator)});
    tree.title = random_text(generator);
    tree.system_prompt = random_text(generator);
    tree.model = random_text(generator);
    tree.turns[1].message.reasoning = random_text(generator);
    tree.turns[1].message.model = random_text(generator);
    tree.turns[2].message.files = {{random_text(generator), random_text(generator)}};
    ASSERT_EQ(parse_conversation(to_markdown(tree), "a"), tree) << to_markdown(tree);
    for (TurnId id = 4; id < 9; ++id)
      tree.turns.push_back(
          turn(id, static_cast<TurnId>(generator() % static_cast<unsigned>(id)), random_text(generator)));
    tree.shown = static_cast<TurnId>(generator() % 9);
    ASSERT_EQ(parse_conversation(to_json(tree), "a"), tree) << to_json(tree);
  }
}

TEST(Transfer, AnEditorsLineEndsAreTakenBack) {
  const ConversationTree tree = line({"one\ntwo", "3"});
  std::string markdown;
  for (const char c : to_markdown(tree)) markdown += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(parse_conversation("\xEF\xBB\xBF" + markdown, "a"), tree);
}

struct ForeignCase {
  const char *name, *text, *system;
  std::vector<std::string> roles, texts;
};
const ForeignCase kForeign[] = {
    {"array",
     R"([{"role":"user","content":"a"},{"role":"assistant","content":"b"}])",
     "",
     {"user", "assistant"},
     {"a", "b"}},
    {"system_in_front", R"([{"role":"system","content":"s"},{"role":"user","content":"a"}])", "s", {"user"}, {"a"}},
    {"request",
     R"({"model":"gpt","created":17,"title":null,"messages":[{"role":"user","content":"a","id":"x"}]})",
     "",
     {"user"},
     {"a"}},
    {"parts",
     R"([{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}])",
     "",
     {"user"},
     {"a\n\nb"}},
    {"thoughts",
     R"([{"role":"user","content":"a"},{"role":"assistant","content":"<think>x</think>\n\nb","timings":7}])",
     "",
     {"user", "assistant"},
     {"a", "b"}},
    {"other_names_of_roles",
     R"([{"role":"developer","content":"s"},{"role":"human","content":"a"},{"role":"model","content":"b"}])",
     "s",
     {"user", "assistant"},
     {"a", "b"}},
};

void expect_taken(const ForeignCase& c, const std::string& name) {
  SCOPED_TRACE(c.name);
  const ConversationTree tree = parse_conversation(c.text, name);
  EXPECT_EQ(tree.system_prompt, c.system);
  std::vector<std::string> roles, texts;
  for (const Turn& turn : shown_branch(tree)) {
    roles.push_back(turn.message.role);
    texts.push_back(turn.message.content);
    EXPECT_GT(turn.created, kThen);
  }
  EXPECT_EQ(roles, c.roles);
  EXPECT_EQ(texts, c.texts);
}

TEST(Transfer, TakesWhatOtherProgramsWrite) {
  for (const ForeignCase& c : kForeign) expect_taken(c, "a");
}

TEST(Transfer, TakesThoughtsOfOtherPrograms) {
  for (const char* key : {"reasoning", "reasoning_content"}) {
    const std::string file = "[{\"role\":\"assistant\",\"content\":\"b\",\"" + std::string(key) + "\":\"hm\"}]";
    EXPECT_EQ(parse_conversation(file, "a").turns[0].message.reasoning, "hm") << key;
  }
  EXPECT_EQ(parse_conversation(kForeign[4].text, "a").turns[1].message.reasoning, "x");
}

// Exports of other programs, handwritten files, and copies of web pages.
const ForeignCase kForeignMarkdown[] = {
    {"no_structure", "Dear diary\n\n- today\n", "", {"user"}, {"Dear diary\n\n- today"}},
    {"headings_that_are_none",
     "# Plan\n\n## You and I\n\na\n\n## Answers\n\nb\n",
     "",
     {"user"},
     {"# Plan\n\n## You and I\n\na\n\n## Answers\n\nb"}},
    {"one_side", "## Question\n\na\n", "", {"user"}, {"## Question\n\na"}},
    {"headings",
     "# A talk\n\n**Created:** 1/2/2025\n\n## User\n\nHi\n\n---\n\n## Assistant\n\n# Hello\n\n- you\n\n---\n",
     "",
     {"user", "assistant"},
     {"Hi", "# Hello\n\n- you"}},
    {"copied_from_the_page",
     "##### You said:\nwhy\n###### ChatGPT said:\nbecause\n\n##### You said:\nso\n",
     "",
     {"user", "assistant", "user"},
     {"why", "because", "so"}},
    {"prompt_and_response",
     "## Prompt:\n1/2/2025, 10:31:00\n\na\n\n## Response:\nb\n",
     "",
     {"user", "assistant"},
     {"1/2/2025, 10:31:00\n\na", "b"}},
    {"decorated",
     "### \xF0\x9F\x91\xA4 **You** (10:31)\na\n### \xF0\x9F\xA4\x96 GPT-4o\nb",
     "",
     {"user", "assistant"},
     {"a", "b"}},
    {"bold",
     "**You:** a\n\n**ChatGPT**: b\nc\n\n**User:**\n\nd **Me:** e",
     "",
     {"user", "assistant", "user"},
     {"a", "b\nc", "d **Me:** e"}},
    {"words", "You said:\na\nChatGPT said:\nb: c\nnot you: d", "", {"user", "assistant"}, {"a", "b: c\nnot you: d"}},
    {"system", "## System\ns\n## User\na\n## Assistant\nb", "s", {"user", "assistant"}, {"a", "b"}},
    {"labels_in_code",
     "## User\na\n````\n```\n## Assistant\n````\n## Assistant\nb",
     "",
     {"user", "assistant"},
     {"a\n````\n```\n## Assistant\n````", "b"}},
    {"line_ends_of_windows", "User: a\r\nAssistant: b\r\n", "", {"user", "assistant"}, {"a", "b"}},
    {"a_link_first", "[a](b)\n", "", {"user"}, {"[a](b)"}},
};

TEST(Transfer, TakesAnyMarkdown) {
  for (const ForeignCase& c : kForeignMarkdown) expect_taken(c, "a.md");
  EXPECT_EQ(parse_conversation(kForeignMarkdown[3].text, "a").title, "A talk");
  EXPECT_EQ(parse_conversation("Dear diary", "a").title, "") << "it follows the first message";
}

TEST(Transfer, OwnFilesNeedNoTimes) {
  for (const char* file :
       {R"({"format":"warpchat conversation","version":2,"messages":[{"role":"user","content":"a","id":1}]})",
        R"({"format":"warpchat conversation","version":2,"created":null,"messages":[{"role":"user","content":"a","id":1,
            "created":null}],"branches":[]})",
        "# a\n\n<!-- warpchat conversation {\"version\":2} -->\n\n<!-- warpchat user {} -->\n## You\n\na\n"}) {
    const ConversationTree tree = parse_conversation(file, "a");
    ASSERT_EQ(tree.turns.size(), 1u);
    EXPECT_EQ(tree.turns[0].message.content, "a");
    EXPECT_GT(tree.turns[0].created, kThen);
    EXPECT_GT(tree.updated, kThen);
  }
}

// ChatGPT's export: the newest conversation first; nodes without messages, hidden ones, tool calls and thoughts; an
// answer that was generated twice.
constexpr const char* kChatGptExport = R"json([
  {"title": "Second", "create_time": 1763752400.5, "update_time": 1763752500, "current_node": "u",
   "mapping": {"u": {"id": "u", "parent": null, "children": [], "message":
     {"author": {"role": "user"}, "create_time": null, "content": {"content_type": "text", "parts": ["hi"]}}}}},
  {"title": "First", "create_time": 1763752323.12, "update_time": 1763752400.25, "current_node": "a2", "mapping": {
   "root": {"id": "root", "message": null, "parent": null, "children": ["s"]},
   "s": {"message": {"author": {"role": "system"}, "content": {"content_type": "text", "parts": [""]}},
         "parent": "root", "children": ["hidden"]},
   "hidden": {"message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["about me"]},
              "metadata": {"is_visually_hidden_from_conversation": true}}, "parent": "s", "children": ["u1"]},
   "u1": {"message": {"author": {"role": "user"}, "create_time": 1763752324.5, "content":
          {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}, "what is", "this?"]}},
          "parent": "hidden", "children": ["a1", "t"]},
   "a1": {"message": {"author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["A cat."]},
          "recipient": "all"}, "parent": "u1", "children": []},
   "t": {"message": {"author": {"role": "assistant"}, "content": {"content_type": "thoughts", "thoughts":
         [{"summary": "Looking", "content": "hm"}, {"content": "ears"}]}}, "parent": "u1", "children": ["p"]},
   "p": {"message": {"author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["Let me see."]},
         "recipient": "all", "metadata": {"model_slug": "gpt-4o"}}, "parent": "t", "children": ["call"]},
   "call": {"message": {"author": {"role": "assistant"}, "content": {"content_type": "code", "text": "look()"},
            "recipient": "python"}, "parent": "p", "children": ["result"]},
   "result": {"message": {"author": {"role": "tool"}, "content": {"content_type": "text", "parts": ["dog"]}},
              "parent": "call", "children": ["a2"]},
   "a2": {"message": {"author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["A dog."]},
          "recipient": "all"}, "parent": "result", "children": []}}},
  {"title": "Empty", "mapping": {"root": {"message": null, "children": []}}}])json";

TEST(Transfer, TakesChatGptsExport) {
  const std::vector<ConversationTree> trees = import_text(kChatGptExport, "a").trees;
  ASSERT_EQ(trees.size(), 2u);
  EXPECT_EQ(trees[1].title, "Second");
  EXPECT_EQ(trees[1].turns.at(0).created, 1'763'752'400'500) << "the conversation's, because the message has none";
  const ConversationTree& tree = trees[0];
  EXPECT_EQ(tree.title, "First");
  EXPECT_EQ(tree.system_prompt, "");
  EXPECT_EQ(tree.created, kThen);
  EXPECT_EQ(tree.updated, 1'763'752'400'250);
  ASSERT_EQ(tree.turns.size(), 3u);
  EXPECT_EQ(tree.turns[0].message.content, "what is\n\nthis?");
  EXPECT_EQ(tree.turns[0].created, 1'763'752'324'500);
  EXPECT_EQ(tree.turns[1].message.content, "A cat.");
  EXPECT_EQ(tree.turns[1].parent, 1);
  EXPECT_EQ(tree.turns[2].parent, 1);
  EXPECT_EQ(tree.turns[2].message.content, "Let me see.\n\nA dog.");
  EXPECT_EQ(tree.turns[2].message.reasoning, "hm\n\nears");
  EXPECT_EQ(tree.turns[2].message.model, "gpt-4o");
  EXPECT_EQ(tree.shown, 3);
}

// Any mapping: cycles, unknown nodes, other types.
TEST(Transfer, ChangedMappingsNeverCrash) {
  EXPECT_EQ(import_text(R"({"mapping":{"a":{"parent":"b","children":["b"]},"b":{"parent":"a","children":["a"]},
      "c":{"children":["c","d","d",7,null],"message":{"author":{"role":"user"},"content":{"content_type":"text",
      "parts":["x",null,7]}}}}})",
                        "a")
                .trees.at(0)
                .turns.size(),
            1u);
  std::mt19937 generator(5);
  const std::string whole = kChatGptExport;
  for (int round = 0; round < 3'000; ++round) {
    std::string changed = whole;
    for (int n = 0; n < 3; ++n) changed[generator() % changed.size()] = "\"{}[]:, 0an"[generator() % 11];
    try {
      for (const ConversationTree& tree : import_text(changed).trees) shown_branch(tree);
    } catch (const Error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("f: ")) << error.what();
    }
  }
}

struct DamageCase {
  const char *name, *text, *sentence;
};
const DamageCase kDamages[] = {
    {"empty", " \n", "f: the file is empty"},
    {"no_messages", "[]", "f: no message found"},
    {"no_utf8", "[\"\xff\"]", "f: byte 2 is not valid UTF-8; convert the text to UTF-8 first"},
    {"cut_json", "[{\"role\":\n \"us",
     "f: conversation 1: line 2, column 5: invalid JSON; the file may be cut off or damaged"},
    {"other_json", "{\"a\":1}", "f: has no 'messages'"},
    {"no_array", "{\"messages\":1}", "f: has no array as 'messages'"},
    {"no_object", "[1]", "f: no message found; left out: 1 message without a known role"},
    {"no_role", R"([{"content":"a"}])", "f: conversation 1 has no 'messages'"},
    {"tool", R"([{"role":"tool","content":"a"}])", "f: no message found; left out: 1 tool result"},
    {"no_content", R"([{"role":"user","content":null}])", "f: no message found"},
    {"picture", R"([{"role":"user","content":[{"type":"image_url"}]}])", "f: no message found; left out: 1 picture"},
    {"wrong_type",
     R"({"format":"warpchat conversation","version":2,"created":"2025-11-21T19:12:03Z","updated":"2025-11-21T19:12:03Z",
         "messages":[{"role":"user","content":"a","timings":7}]})",
     "f: messages[0] cannot be read: a message's \"timings\" must be an object"},
    {"version_zero", R"({"format":"warpchat conversation","version":0,"messages":[]})", "f: has a 'version' below 1"},
    {"late_system",
     R"({"format":"warpchat conversation","version":2,"messages":[{"role":"user","content":"a","id":1},
         {"role":"system","content":"b"}]})",
     "f: messages[1] is a system message, which can only be the first one"},
    {"unknown_role", R"({"format":"warpchat conversation","version":2,"messages":[{"role":"x","content":"a","id":1}]})",
     "f: messages[0] has the unknown role 'x'"},
    {"zip", "PK\x03\x04\n", "f is a ZIP archive; unpack it and import its conversations.json"},
    {"web_page", "<!DOCTYPE html>\n<p>a", "f is a web page; import the Markdown or JSON file from the same export"},
    {"mapping", R"([{"mapping":{"a":{"message":null}}},{"mapping":7}])",
     "f: conversation 2 has no object as 'mapping'"},
    {"no_message_in_a_mapping", R"([{"mapping":{"a":{"message":null}}}])", "f: no message found"},
    {"no_conversation_mark", "# a\n\n<!-- warpchat user {} -->\n", "f: line 3: expected the mark 'conversation'"},
    {"cut_mark", "# a\n\n<!-- warpchat conversation {}",
     "f: line 3: expected a line like '<!-- warpchat user {...} -->'; this is a Warpchat export that was "
     "changed or cut off"},
    {"bad_mark", "# a\n\n<!-- warpchat conversation {] -->\n", "f: line 3: the mark has invalid JSON"},
    {"no_end_of_a_thought",
     "# a\n\n<!-- warpchat conversation {\"version\":2,\"created\":\"2025-11-21T19:12:03Z\","
     "\"updated\":\"2025-11-21T19:12:03Z\"} -->\n\n<!-- warpchat assistant {\"created\":\"2025-11-21T19:12:03Z\","
     "\"folded\":1} -->\n## m\n\n<!-- warpchat thought {} -->\n<details><summary>x</summary>\n\nhm\n",
     "f: line 13: expected a line like '<!-- warpchat user {...} -->'; this is a Warpchat export that was "
     "changed or cut off"},
    {"bad_folded",
     "# a\n\n<!-- warpchat conversation {\"version\":2,\"created\":\"2025-11-21T19:12:03Z\","
     "\"updated\":\"2025-11-21T19:12:03Z\"} -->\n\n<!-- warpchat assistant {\"created\":\"2025-11-21T19:12:03Z\","
     "\"folded\":-1} -->\n## m\n\nhm\n",
     "f: line 6: the mark has no whole number as 'folded'"},
    {"bad_time", "# a\n\n<!-- warpchat conversation {\"version\":1,\"created\":\"1st\"} -->\n",
     "f: line 3 has no time like 2026-11-21T19:12:03.120Z as 'created'"},
    {"newer", "# a\n\n<!-- warpchat conversation {\"version\":3} -->\n",
     "f: line 3 is from a newer version of Warpchat (format 3, this one reads 2); update Warpchat"},
};

std::string fault_of(const std::string& text) {
  return error_of([&] { import_text(text); });
}

TEST(Transfer, DamageIsOneSentence) {
  for (const DamageCase& c : kDamages) EXPECT_EQ(fault_of(c.text), c.sentence) << c.name;
  EXPECT_EQ(fault_of(std::string(100'000, '[')), "f: conversation 1: its JSON is nested deeper than 64 levels");
  std::string many = "{\"a\":[0";
  for (int i = 0; i < 5'000'000; ++i) many += ",0";
  EXPECT_EQ(fault_of(many + "]}"), "f: its JSON has more than 5,000,000 values");
}

TEST(Transfer, TreesThatAreNoneAreRefused) {
  const auto with = [](const char* what, TurnId value) {
    auto json = nlohmann::json::parse(to_json(branched()));
    json["branches"][0][what] = value;
    return fault_of(json.dump());
  };
  EXPECT_EQ(with("id", 6), "f: the message with the id 6 has an id below 1 or one that is used twice");
  EXPECT_EQ(with("id", 0), "f: the message with the id 0 has an id below 1 or one that is used twice");
  EXPECT_EQ(with("parent", 5), "f: the message with the id 4 follows the message 5, whose id is not smaller");
  EXPECT_EQ(with("parent", 3), "no error");
}

// A cut file is refused or gives the conversation's beginning; changed bytes do no other harm.
TEST(Transfer, CutAndChangedFilesNeverCrash) {
  ConversationTree tree = line({"one\n```\ntwo", "1", "<!-- warpchat user {} -->"});
  tree.turns[1].message = furnished().turns[1].message;
  tree.turns[2].message.files = {{"a", "b"}};
  std::mt19937 generator(3);
  for (const std::string& whole : {to_json(tree), to_markdown(tree)}) {
    size_t most = 0;
    for (size_t n = 0; n < whole.size(); ++n) {
      ImportedText cut;
      const std::string fault = error_of([&] { cut = import_text(whole.substr(0, n)); });
      if (whole[0] == '{' && n + 2 < whole.size()) {
        EXPECT_TRUE(fault.starts_with("f: ") || !cut.left_out.empty()) << n;
        for (const ConversationTree& begun : cut.trees) {
          ASSERT_LE(begun.turns.size(), tree.turns.size());
          EXPECT_TRUE(std::equal(begun.turns.begin(), begun.turns.end(), tree.turns.begin())) << n;
          most = std::max(most, begun.turns.size());
        }
      }
      std::string changed = whole;
      changed[n] = static_cast<char>(generator());
      fault_of(changed);
    }
    EXPECT_EQ(most, whole[0] == '{' ? tree.turns.size() : 0);
  }
}

class TransferFiles : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string written(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  static Imported import_into(ConversationStore& store, const std::string& file) {
    Imported imported;
    import_conversations(store, file, imported);
    return imported;
  }

  StoreFolder folder_;
  std::unique_ptr<ConversationStore> store_ = ConversationStore::open(folder_.path()).store;
};

TEST_F(TransferFiles, AStoredConversationGoesOutAndComesBack) {
  const ConversationId first = store_->insert(branched());
  export_conversation(store_->tree(first), path("a.json"));
  export_conversation(store_->tree(first), path("a.md"));
  EXPECT_EQ(std::filesystem::status(path("a.md")).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  store_->throw_away(first);
  const ConversationId second = import_into(*store_, path("a.md")).newest;
  EXPECT_NE(first, second);
  EXPECT_EQ(store_->load(second).summary.title, "a title");
  EXPECT_EQ(store_->load(second).turns.back().message.content, "II");
  const ConversationId third = import_into(*store_, path("a.json")).newest;
  EXPECT_NE(second, third) << "it has more branches";
  EXPECT_EQ(to_json(store_->tree(third)), to_json(branched()));
  EXPECT_EQ(store_->search("eins").size(), 1u);
}

TEST_F(TransferFiles, AllConversationsOfAnExportAreStored) {
  const Imported imported = import_into(*store_, written("conversations.json", kChatGptExport));
  ASSERT_EQ(imported.ids.size(), 2u);
  EXPECT_EQ(imported.n_known, 0u);
  EXPECT_EQ(store_->load(imported.newest).summary.title, "Second");
  EXPECT_EQ(store_->list()[0].title, "Second");
  EXPECT_EQ(store_->branch(store_->tree(imported.ids[1]).shown).back().message.content, "Let me see.\n\nA dog.");
}

TEST_F(TransferFiles, WhatIsThereIsNotStoredAgain) {
  const std::string file = written("conversations.json", kChatGptExport);
  const Imported first = import_into(*store_, file), second = import_into(*store_, file);
  EXPECT_TRUE(second.ids.empty());
  EXPECT_EQ(second.n_known, 2u);
  EXPECT_EQ(second.newest, first.newest);
  store_->throw_away(first.ids[0]);
  EXPECT_EQ(import_into(*store_, file).ids.size(), 1u) << "what is in the trash counts for nothing";
  const std::string twice = R"({"messages":[{"role":"user","content":"a"}]})";
  EXPECT_EQ(import_into(*store_, written("twice.json", "[" + twice + "," + twice + "]")).ids.size(), 2u)
      << "each of a file that is new, such as two that differ in their titles";
}

TEST_F(TransferFiles, ATitleThatIsNotSaidFollowsTheFirstMessage) {
  const ConversationId id = import_into(*store_, written("a.json", R"([{"role":"user","content":"hi\nyou"}])")).newest;
  EXPECT_EQ(store_->load(id).summary.title, "hi");
  store_->retitle(id, "new");
  EXPECT_EQ(store_->load(id).summary.title, "new");
}

TEST_F(TransferFiles, NothingIsOverwrittenOrLeftBehind) {
  const std::string file = written("a.md", "mine");
  EXPECT_THROW(export_conversation(branched(), file), Error);
  EXPECT_EQ(read_file(file), "mine");
  export_conversation(branched(), path("b.md"));
  export_conversation(line({"other"}), path("b.md"), /*replace=*/true);
  EXPECT_NE(read_file(path("b.md")).find("other"), std::string::npos);
  EXPECT_THROW(export_conversation(branched(), path("a.txt")), Error);
  EXPECT_THROW(export_conversation(branched(), path("no/folder.md")), Error);
  EXPECT_FALSE(std::filesystem::exists(path("a.txt")));
  EXPECT_THROW(import_into(*store_, written("b.json", "[")), Error);
  EXPECT_THROW(import_into(*store_, folder_.path()), Error);
  EXPECT_THROW(import_into(*store_, "/dev/zero"), Error);
  EXPECT_TRUE(store_->list().empty());
}

TEST_F(TransferFiles, WhatIsTooLargeIsNotRead) {
  const std::string file = written("a.json", "[");
  std::filesystem::resize_file(file, 256'000'001);
  try {
    import_into(*store_, file);
    ADD_FAILURE() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), "cannot read " + file + ": it has 256,000,001 bytes; the limit is 256,000,000 bytes");
  }
}

TEST(Timestamp, IsReadAsItIsWritten) {
  EXPECT_EQ(timestamp(kThen), "2025-11-21T19:12:03.120Z");
  for (const StoreTime time : {StoreTime{0}, StoreTime{951'782'400'000}, kThen, StoreTime{253'402'300'799'999}})
    EXPECT_EQ(parse_timestamp(timestamp(time)), time);
  EXPECT_EQ(parse_timestamp("2025-11-21T19:12:03Z"), kThen - 120);
  for (const char* wrong : {"", "2025-11-21", "2025-02-29T00:00:00Z", "2025-11-21T24:00:00Z", "2025-11-21T19:12:03",
                            "1969-12-31T23:59:59Z", "2025-11-21T19:12:03.1Z"})
    EXPECT_EQ(parse_timestamp(wrong), std::nullopt) << wrong;
}

TEST(TextInput, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(replace_invalid_utf8("a\xff日\xe6"), "a\xEF\xBF\xBD日\xEF\xBF\xBD");
  EXPECT_EQ(replace_invalid_utf8("aé日"), "aé日");
}

}  // namespace
}  // namespace warpchat
