// Exports of other programs: every known shape of each, what is left out, what is cut or wrong among what is right.
#include <gtest/gtest.h>

#include "app/formats/import_message.h"
#include "app/platform/text/timestamp.h"
#include "tests/app/imported.h"
#include "tests/support/error_of.h"

namespace warpchat {
namespace {

struct ExportCase {
  const char *name, *text, *system, *line, *left_out;
};

const ExportCase kExportCases[] = {
    // Claude
    {"claude_text_alone",
     R"([{"uuid":"c","name":"T","created_at":"2024-06-27T10:00:00.123456Z","updated_at":"2024-06-27T10:01:00.000000Z",
         "account":{"uuid":"x"},"chat_messages":[
         {"uuid":"m1","text":"hi","sender":"human","created_at":"2024-06-27T10:00:01Z","attachments":[],"files":[]},
         {"uuid":"m2","text":"hello","sender":"assistant","attachments":[],"files":[]}]}])",
     "", "user: hi | assistant: hello", ""},
    {"claude_content_parts",
     R"([{"name":"T","chat_messages":[
         {"uuid":"m1","text":"old","content":[{"type":"text","text":"hi","citations":[]}],"sender":"human"},
         {"uuid":"m2","text":"old","sender":"assistant","content":[
           {"type":"thinking","thinking":"hm","summaries":[{"summary":"s"}],"cut_off":false},
           {"type":"text","text":"a"},{"type":"tool_use","name":"search","input":{"q":1}},
           {"type":"tool_result","content":[{"type":"text","text":"found"}]},
           {"type":"token_budget"},{"type":"text","text":"b"}]}]}])",
     "", "user: hi | assistant (hm): a\n\nb", "left out: 1 tool call and 1 tool result"},
    {"claude_attachments",
     R"([{"name":"T","chat_messages":[{"uuid":"m1","text":"read","content":[],"sender":"human",
         "attachments":[{"file_name":"a.txt","file_size":3,"file_type":"txt","extracted_content":"one"},
                        {"file_name":"b.pdf","file_type":"pdf","extracted_content":""}],
         "files":[{"file_name":"a.txt"},{"file_name":"photo","file_kind":"image","type":"image"}]}]}])",
     "", "user: read [a.txt=one]", "left out: 1 picture and 1 file without text"},
    {"claude_branches",
     R"([{"name":"T","current_leaf_message_uuid":"m2","chat_messages":[
         {"uuid":"m1","parent_message_uuid":"00000000-0000-4000-8000-000000000000","text":"hi","sender":"human"},
         {"uuid":"m2","parent_message_uuid":"m1","text":"first","sender":"assistant"},
         {"uuid":"m3","parent_message_uuid":"m1","text":"second","sender":"assistant"}]}])",
     "", "user: hi | assistant: first", ""},
    {"claude_one_conversation", R"({"name":"T","chat_messages":[{"text":"hi","sender":"human"}]})", "", "user: hi", ""},
    // Open WebUI
    {"open_webui",
     R"json([{"id":"1","user_id":"u","title":"T","created_at":1763752323,"updated_at":1763752400,"chat":{"title":"T",
         "models":["m"],"system":"be brief","history":{"currentId":"d","messages":{
         "d":{"id":"d","parentId":"a","childrenIds":[],"role":"assistant","model":"qwen3",
              "content":"<details type=\"reasoning\" done=\"true\" duration=\"2\">\n<summary>Thought for 2 seconds</summary>\n&gt; is 1 &lt; 2?\n&gt; yes\n</details>\nSo it is.","done":true},
         "a":{"id":"a","parentId":null,"childrenIds":["b","d"],"role":"user","content":"is it?","timestamp":1763752324,
              "files":[{"type":"file","name":"n.md","file":{"filename":"n.md","data":{"content":"text"}}},
                       {"type":"image","url":"data:image/png;base64,AA"}]},
         "b":{"id":"b","parentId":"a","childrenIds":[],"role":"assistant","content":"other"}}},
         "messages":[{"role":"user","content":"is it?"}],"timestamp":1763752323000},"archived":false,"pinned":false}])json",
     "be brief", "user: is it? [n.md=text] | assistant (is 1 < 2?\nyes): So it is.", "left out: 1 picture"},
    {"open_webui_tool_calls",
     R"json([{"chat":{"title":"T","history":{"currentId":"b","messages":{
         "a":{"id":"a","parentId":null,"childrenIds":["b"],"role":"user","content":"hi"},
         "b":{"id":"b","parentId":"a","childrenIds":[],"role":"assistant","content":"Wait.\n<details type=\"tool_calls\" done=\"true\" name=\"clock\">\n<summary>Tool Executed</summary>\n</details>\nNoon."}}}}}])json",
     "", "user: hi | assistant: Wait.\n\nNoon.", "left out: 1 tool call"},
    {"open_webui_without_history",
     R"({"title":"T","chat":{"params":{"system":"s"},"messages":[{"role":"user","content":"hi"},
         {"role":"assistant","content":"yes"}]}})",
     "s", "user: hi | assistant: yes", ""},
    {"open_webui_inner_part",
     R"({"title":"T","history":{"currentId":"a","messages":{"a":{"id":"a","parentId":null,"childrenIds":[],
         "role":"user","content":"hi"}}}})",
     "", "user: hi", ""},
    // ShareGPT
    {"sharegpt", R"([{"id":"x_0","conversations":[{"from":"human","value":"hi"},{"from":"gpt","value":"yes"}]}])", "",
     "user: hi | assistant: yes", ""},
    {"sharegpt_roles",
     R"([{"system":"s","conversations":[{"from":"system","value":"t"},{"from":"user","value":"hi"},
         {"from":"function_call","value":"{}"},{"from":"observation","value":"{}"},{"from":"chatgpt","value":"yes"},
         {"from":"assistant","value":"so"},{"from":"narrator","value":"?"}]}])",
     "s\n\nt", "user: hi | assistant: yes | assistant: so",
     "left out: 1 tool call, 1 tool result and 1 message without a known role"},
    {"sharegpt_items", R"([{"id":"1","items":[{"from":"human","value":"hi"},{"from":"gpt","value":"yes"}]}])", "",
     "user: hi | assistant: yes", ""},
    {"sharegpt_lines",
     "{\"conversations\":[{\"from\":\"human\",\"value\":\"hi\"},{\"from\":\"bing\",\"value\":\"yes\"}]}\n", "",
     "user: hi | assistant: yes", ""},
    // LM Studio
    {"lm_studio",
     R"({"name":"T","pinned":false,"createdAt":1763752323120,"preset":"","tokenCount":9,"systemPrompt":"be brief",
         "messages":[{"versions":[{"type":"singleStep","role":"user","content":[{"type":"text","text":"hi"},
            {"type":"file","fileIdentifier":"1.png","fileType":"image","sizeBytes":7}]}],"currentlySelected":0},
          {"versions":[
            {"type":"multiStep","role":"assistant","senderInfo":{"senderName":"qwen3"},"steps":[
              {"type":"contentBlock","content":[{"type":"text","text":"not shown"}]}]},
            {"type":"multiStep","role":"assistant","senderInfo":{"senderName":"qwen3"},"steps":[
              {"type":"debugInfoBlock","debugInfo":"x"},
              {"type":"contentBlock","style":{"type":"thinking","ended":true,"title":"Thought for 1.00 seconds"},
               "content":[{"type":"text","text":"hm"}],"prefix":"<think>","suffix":"</think>"},
              {"type":"contentBlock","content":[{"type":"toolCallRequest","name":"clock","parameters":{}}]},
              {"type":"contentBlock","roleOverride":"tool","content":[{"type":"toolCallResult","content":"12"}]},
              {"type":"contentBlock","content":[{"type":"text","text":"Noon."}]}]}],"currentlySelected":1},
          {"versions":[{"type":"singleStep","role":"user","content":[{"type":"text","text":"so"}]}],
           "currentlySelected":0}],"clientInput":"","notes":[]})",
     "be brief", "user: hi | assistant (hm): Noon. | user: so", "left out: 1 picture, 1 tool call and 1 tool result"},
    {"lm_studio_prompt_elsewhere",
     R"({"name":"T","systemPrompt":"","perChatPredictionConfig":{"fields":[{"key":"llm.prediction.temperature","value":1},
         {"key":"llm.prediction.systemPrompt","value":"s"}]},"messages":[{"versions":[{"type":"singleStep","role":"user",
         "content":[{"type":"text","text":"hi"}]}],"currentlySelected":0}]})",
     "s", "user: hi", ""},
    // Messages
    {"json_lines", "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}\n", "",
     "user: a | assistant: b", ""},
    {"pictures", R"([{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{}},
         {"type":"input_audio"},{"type":"hologram"}]}])",
     "", "user: see", "left out: 1 picture, 1 sound recording and 1 part of an unknown kind"},
    {"tools",
     R"([{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"1"},{"id":"2"}]},
         {"role":"tool","content":"x"},{"role":"function","content":"y"},{"role":"assistant","content":"b"}])",
     "", "user: a | assistant: b", "left out: 2 tool calls and 2 tool results"},
    {"system_messages", R"([{"role":"system","content":"s"},{"role":"developer","content":"t"},
         {"role":"user","content":"a"},{"role":"system","content":"u"},{"role":"assistant","content":"b"}])",
     "s\n\nt", "user: a | assistant: b", "left out: 1 system message after the first message"},
    {"no_messages_among_others", R"([7,{"role":"user","content":"a"},{"content":"b"},{"role":"x","content":"c"}])", "",
     "user: a", "left out: 3 messages without a known role"},
    // ChatGPT
    {"chatgpt_citations",
     R"([{"title":"t","mapping":{"c":{"id":"c","parent":null,"children":[],"message":{"author":{"role":"assistant"},
         "content":{"content_type":"text","parts":["Paris\ue200cite\ue202turn0search3\ue201. \ue200entity\ue202[\"city\",\"Rome\"]\ue201, \ue200url\ue202here\ue202https://x\ue201 \ue200"]}}}}}])",
     "", "assistant: Paris. Rome, here \xEE\x88\x80", "left out: 1 citation mark"},
    {"chatgpt_searches_and_files",
     R"json([{"title":"t","mapping":{
         "a":{"parent":null,"children":["b"],"message":{"author":{"role":"user"},"metadata":{"attachments":[
           {"name":"x.pdf","mime_type":"application/pdf"},{"name":"y.png","mime_type":"image/png"}]},
           "content":{"content_type":"multimodal_text","parts":[{"content_type":"image_asset_pointer"},
           {"content_type":"audio_transcription","text":"said"},{"content_type":"audio_asset_pointer"}]}}},
         "b":{"parent":"a","children":["c"],"message":{"author":{"role":"assistant"},"recipient":"web",
           "content":{"content_type":"code","text":"search()"}}},
         "c":{"parent":"b","children":["d"],"message":{"author":{"role":"tool"},"content":{"content_type":"text","parts":["x"]}}},
         "d":{"parent":"c","children":[],"message":{"author":{"role":"assistant"},"recipient":"all",
           "content":{"content_type":"text","parts":["yes"]}}}}}])json",
     "", "user: said | assistant: yes",
     "left out: 1 picture, 1 sound recording, 1 file without text, 1 tool call and 1 tool result"},
    {"chatgpt_cut_within_a_thought",
     R"([{"title":"t","mapping":{"a":{"parent":null,"children":["b"],"message":{"author":{"role":"user"},
         "content":{"content_type":"text","parts":["why"]}}},"b":{"parent":"a","children":[],"message":{"author":
         {"role":"assistant"},"content":{"content_type":"thoughts","thoughts":[{"content":"hm"}]}}}},"current_node":"b"}])",
     "", "user: why | assistant (hm): ", ""},
    // Gemini
    {"gemini",
     R"json([{"header":"Gemini Apps","title":"Prompted what is 1 < 2?","titleUrl":"https://gemini.google.com/app",
         "time":"2025-05-02T12:34:56.789Z","products":["Gemini Apps"],"activityControls":["Gemini Apps Activity"],
         "attachedFiles":["a.pdf"],"imageFile":"b.png",
         "safeHtmlItem":[{"html":"<p>It is <strong>true</strong>:</p><ul><li>1 &lt; 2</li></ul><img src=\"x\">"},
                         {"html":"<p>Really.</p>"}]}])json",
     "", "user: what is 1 < 2? | assistant: It is **true**:\n\n- 1 < 2\n\nReally.",
     "left out: 2 pictures and 1 file without text"},
    {"gemini_without_answer",
     R"([{"header":"Bard","title":"Prompted hi","time":"2024-01-02T00:00:00Z","products":["Bard"]}])", "", "user: hi",
     ""},
    {"gemini_in_another_language",
     R"([{"header":"Gemini-Apps","title":"Gefragt: hallo","time":"2024-01-02T00:00:00Z",
         "safeHtmlItem":[{"html":"<p>Hallo!</p>"}]}])",
     "", "user: Gefragt: hallo | assistant: Hallo!", ""},
    {"gemini_among_other_activities",
     R"([{"header":"Search","title":"Searched for x","time":"2024-01-02T00:00:00Z","products":["Search"]},
         {"header":"Gemini Apps","title":"Gave feedback: Good response","time":"2024-01-02T00:00:00Z"},
         {"header":"Gemini Apps","title":"Prompted hi","time":"2024-01-02T00:00:00Z","safeHtmlItem":[{"html":"yes"}]}])",
     "", "user: hi | assistant: yes", "left out: 2 activities without a prompt"},
};

TEST(Import, TakesTheTextOfEveryExport) {
  for (const ExportCase& c : kExportCases) {
    SCOPED_TRACE(c.name);
    const ImportedText imported = import_text(c.text);
    ASSERT_EQ(imported.trees.size(), 1u);
    EXPECT_EQ(imported.trees[0].system_prompt, c.system);
    EXPECT_EQ(line_of(imported.trees[0]), c.line);
    EXPECT_EQ(imported.left_out, c.left_out);
  }
}

const ExportCase& export_named(std::string_view name) {
  return *std::ranges::find_if(kExportCases, [&](const ExportCase& c) { return c.name == name; });
}

TEST(Import, KeepsTitlesTimesModelsAndVersions) {
  const ConversationTree claude = import_text(export_named("claude_text_alone").text).trees[0];
  EXPECT_EQ(claude.title, "T");
  EXPECT_EQ(timestamp(claude.created), "2024-06-27T10:00:00.123Z");
  EXPECT_EQ(timestamp(claude.updated), "2024-06-27T10:01:00.000Z");
  EXPECT_EQ(timestamp(claude.turns[0].created), "2024-06-27T10:00:01.000Z");
  EXPECT_EQ(claude.turns[1].created, claude.created);

  const ConversationTree branched = import_text(export_named("claude_branches").text).trees[0];
  ASSERT_EQ(branched.turns.size(), 3u);
  EXPECT_EQ(branched.turns[2].parent, 1);
  EXPECT_EQ(branched.turns[2].message.content, "second");

  const ConversationTree web = import_text(export_named("open_webui").text).trees[0];
  EXPECT_EQ(timestamp(web.created), "2025-11-21T19:12:03.000Z");
  EXPECT_EQ(timestamp(web.turns[0].created), "2025-11-21T19:12:04.000Z");
  ASSERT_EQ(web.turns.size(), 3u);
  EXPECT_EQ(web.turns[1].message.content, "other");
  EXPECT_EQ(web.turns[2].message.model, "qwen3");

  const ConversationTree studio = import_text(export_named("lm_studio").text).trees[0];
  EXPECT_EQ(timestamp(studio.created), "2025-11-21T19:12:03.120Z");
  ASSERT_EQ(studio.turns.size(), 4u);
  EXPECT_EQ(studio.turns[1].message.content, "not shown");
  EXPECT_EQ(studio.turns[2].parent, 1);
  EXPECT_EQ(studio.turns[2].message.model, "qwen3");
  EXPECT_EQ(studio.turns[3].parent, 3);

  const ConversationTree gemini = import_text(export_named("gemini").text).trees[0];
  EXPECT_EQ(gemini.title, "");
  EXPECT_EQ(timestamp(gemini.created), "2025-05-02T12:34:56.789Z");
  EXPECT_EQ(gemini.turns[1].created, gemini.created);
}

TEST(Import, EachActivityOfGeminiIsAConversation) {
  const ImportedText imported = import_text(
      R"([{"header":"Gemini Apps","title":"Prompted second","time":"2024-01-02T00:00:02Z","safeHtmlItem":[{"html":"2"}]},
          {"header":"Gemini Apps","title":"Prompted first","time":"2024-01-02T00:00:01Z","safeHtmlItem":[{"html":"1"}]}])");
  ASSERT_EQ(imported.trees.size(), 2u);
  EXPECT_EQ(line_of(imported.trees[0]), "user: first | assistant: 1");
  EXPECT_EQ(line_of(imported.trees[1]), "user: second | assistant: 2");
}

TEST(Import, ActivitiesWithoutPromptsAreNoConversations) {
  EXPECT_EQ(
      error_of([] { import_text(R"([{"header":"Search","title":"Searched for x","time":"2024-01-02T00:00:00Z"}])"); }),
      "f: no message found; left out: 1 activity without a prompt");
}

TEST(Import, InLinesOneEndsWithItsLine) {
  for (const char* middle : {R"({"messages":[{"role":"user")", R"({"messages":[{"role":"user)", "]", "x"}) {
    const ImportedText imported =
        import_text("{\"messages\":[{\"role\":\"user\",\"content\":\"1\"}]}\n" + std::string(middle) +
                    "\n{\"messages\":[{\"role\":\"user\",\"content\":\"3\"}]}\n");
    EXPECT_EQ(imported.trees.size(), 2u) << middle;
    EXPECT_NE(imported.left_out, "") << middle;
  }
}

// Several in one array, in one value per line, below a key.
TEST(Import, TakesAllOfAFile) {
  const std::string one = R"({"title":"one","conversations":[{"from":"human","value":"1"}]})",
                    two = R"({"name":"two","chat_messages":[{"text":"2","sender":"human"}]})";
  for (const std::string& text :
       {"[" + one + "," + two + "]", one + "\n" + two + "\n", one + " " + two, "[" + one + "]\n[" + two + "]",
        "{\"conversations\":[" + one + "," + two + "]}", "{\"chats\":[" + one + "," + two + "]}"}) {
    const ImportedText imported = import_text(text);
    ASSERT_EQ(imported.trees.size(), 2u) << text;
    EXPECT_EQ(imported.trees[0].title + imported.trees[1].title, "onetwo") << text;
    EXPECT_EQ(imported.left_out, "") << text;
  }
}

struct WrongCase {
  const char* name;
  std::string middle, left_out;  // between two conversations that are right
};

TEST(Import, OneThatIsWrongDoesNotLoseTheOthers) {
  const WrongCase cases[] = {
      {"syntax", R"({"messages":[{"role":"user","content":x}]})",
       "conversation 2: line 2, column 39: invalid JSON; the file may be cut off or damaged"},
      {"bracket", R"({"messages":[{"role":"user"}})",
       "conversation 2: line 2, column 29: invalid JSON; the file may be cut off or damaged"},
      {"bytes", "{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}",
       "byte 86 is not valid UTF-8; convert the text to UTF-8 first"},
      {"depth", "{\"messages\":" + std::string(100, '[') + std::string(100, ']') + "}",
       "conversation 2: its JSON is nested deeper than 64 levels"},
      {"number", R"({"messages":[],"x":1e400})", "conversation 2: a number in its JSON is out of range"},
      {"mapping", R"({"mapping":7})", "conversation 2 has no object as 'mapping'"},
      {"other_kind", R"({"a":1})", "conversation 2 has no 'messages'"},
      {"own", R"({"format":"warpchat conversation","version":2,"messages":[{"role":"user"}]})",
       "conversation 2: messages[0] has no text as 'content'"},
  };
  const std::string one = R"({"messages":[{"role":"user","content":"1"}]})",
                    three = R"({"messages":[{"role":"user","content":"3"}]})";
  for (const WrongCase& c : cases) {
    SCOPED_TRACE(c.name);
    for (const bool lines : {false, true}) {
      const std::string text =
          lines ? one + "\n" + c.middle + "\n" + three : "[" + one + ",\n" + c.middle + ",\n" + three + "]";
      const ImportedText imported = import_text(text);
      ASSERT_EQ(imported.trees.size(), 2u) << lines;
      EXPECT_EQ(line_of(imported.trees[0]) + line_of(imported.trees[1]), "user: 1user: 3");
      EXPECT_NE(imported.left_out, "");
      if (lines) continue;
      EXPECT_EQ(imported.left_out, c.left_out);
    }
  }
}

TEST(Import, ManyFaultsAreCounted) {
  std::string text = R"([{"messages":[{"role":"user","content":"1"}]})";
  for (int i = 0; i < 1000; ++i) text += ",{\"mapping\":7}";
  EXPECT_EQ(
      import_text(text + "]").left_out,
      "conversation 2 has no object as 'mapping'; conversation 3 has no object as 'mapping'; conversation 4 has no "
      "object as 'mapping'; and 997 more faults");
}

// Whatever is whole before the cut is taken, and the notes or the error tell of the rest.
TEST(Import, CutFilesGiveTheirBeginning) {
  for (const ExportCase& c : kExportCases) {
    SCOPED_TRACE(c.name);
    const std::string whole = std::string(c.text), line = line_of(import_text(whole).trees[0]);
    size_t most = 0;
    for (size_t n = 1; n + 1 < whole.size(); ++n) {
      ImportedText imported;
      const std::string fault = error_of([&] { imported = import_text(std::string_view(whole).substr(0, n)); });
      if (imported.trees.empty()) {
        EXPECT_TRUE(fault.starts_with("f: ")) << n << ": " << fault;
        continue;
      }
      const bool is_between_lines = whole[n - 1] == '\n' || whole[n] == '\n';
      EXPECT_TRUE(imported.left_out != "" || is_between_lines) << n << " of " << whole.size();
      size_t n_messages = 0;
      for (const ConversationTree& tree : imported.trees) n_messages += tree.turns.size();
      most = std::max(most, n_messages);
    }
    EXPECT_GE(most, import_text(whole).trees[0].turns.size() - 1) << line;
  }
}

TEST(Import, SaysWhereAFileIsCut) {
  const std::string one = R"({"messages":[{"role":"user","content":"1"}]})",
                    two = R"({"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b)";
  EXPECT_EQ(import_text("[" + one + "," + two).left_out, "the file ends within conversation 2, after 1 whole message");
  EXPECT_EQ(import_text(two).left_out, "the file ends within the conversation, after 1 whole message");
  EXPECT_EQ(import_text("[" + one + ",").left_out, "the file ends before its list does");
  EXPECT_EQ(import_text("[" + one + ", {\"mess").left_out,
            "conversation 2: line 1, column 54: invalid JSON; the file may be cut off or damaged");
  EXPECT_EQ(import_text("[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"user\",\"content\":\"caf\xc3").left_out,
            "message 2: line 1, column 61: invalid JSON; the file may be cut off or damaged");
}

TEST(Import, TimesOfEveryUnitAndOffset) {
  constexpr StoreTime kTime = 1'763'752'323'120;
  for (const char* text : {"1763752323.12", "1763752323120", "1763752323120000", "1763752323120000123",
                           "\"2025-11-21T19:12:03.12Z\"", "\"2025-11-21T19:12:03.120999+00:00\"",
                           "\"2025-11-21 20:42:03.120+01:30\"", "\"2025-11-21T14:12:03.1200-05:00\""})
    EXPECT_EQ(time_of(nlohmann::json::parse(text), 0), kTime) << text;
  for (const char* text : {"0", "-1", "null", "\"\"", "\"now\"", "\"2025-13-01T00:00:00Z\"", "[]"})
    EXPECT_EQ(time_of(nlohmann::json::parse(text), 7), 7) << text;
}

// Thoughts and branches in the thousands: what is written is not more than what was read.
TEST(Import, ThoughtsAreNotMultiplied) {
  constexpr int kNodes = 5'000;
  std::string text = R"([{"title":"t","mapping":{)";
  for (int i = 0; i < kNodes; ++i) {
    const std::string id = std::to_string(i), leaf = "l" + id;
    text +=
        (i == 0 ? "\"" : ",\"") + id + "\":{\"parent\":" + (i == 0 ? "null" : "\"" + std::to_string(i - 1) + "\"") +
        ",\"children\":[\"" + std::to_string(i + 1) + "\",\"" + leaf +
        "\"],\"message\":{\"author\":{\"role\":\"assistant\"},\"content\":{\"content_type\":\"thoughts\",\"thoughts\":"
        "[{\"content\":\"some thought\"}]}}},\"" +
        leaf + "\":{\"parent\":\"" + id +
        "\",\"children\":[],\"message\":{\"author\":{\"role\":\"assistant\"},\"content\":{\"content_type\":\"text\","
        "\"parts\":[\"x\"]}}}";
  }
  size_t n_bytes = 0;
  const ImportedText imported = import_text(text + "}}]");
  for (const Turn& turn : imported.trees.at(0).turns)
    n_bytes += turn.message.content.size() + turn.message.reasoning.size();
  EXPECT_GE(n_bytes, size_t{kNodes});
  EXPECT_LT(n_bytes, text.size());
}

TEST(Import, CanBeStopped) {
  std::string text = "[";
  for (int i = 0; i < 100; ++i) text += R"({"messages":[{"role":"user","content":"a"}]},)";
  size_t n_taken = 0;
  double progress = 0;
  read_conversations(text, "f",
                     {.on_conversation = [&](const ConversationTree&) { ++n_taken; },
                      .progress = [&](double part) { progress = part; },
                      .is_stopped = [&] { return n_taken == 30; }});
  EXPECT_EQ(n_taken, 30u);
  EXPECT_NEAR(progress, 0.3, 0.02);
}

}  // namespace
}  // namespace warpchat
