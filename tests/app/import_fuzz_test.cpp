// Changed exports of every program, and texts that look like them: an error names the file, what is imported is not
// more than the file has, and it survives an export and an import.
#include <gtest/gtest.h>

#include "engine/json_elements.h"
#include "models/text_format.h"
#include "tests/app/imported.h"
#include "tests/support/error_of.h"
#include "tests/support/fuzz_text.h"

namespace warpchat {
namespace {

constexpr std::string_view
    kFuzzedExports[] =
        {
            R"([{"title":"T","create_time":1763752323.1,"current_node":"d","mapping":{"r":{"message":null,"parent":null,"children":["a"]},"a":{"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["hi"]}},"parent":"r","children":["b","d"]},"b":{"message":{"author":{"role":"assistant"},"content":{"content_type":"thoughts","thoughts":[{"content":"hm"}]}},"parent":"a","children":["c"]},"c":{"message":{"author":{"role":"assistant"},"content":{"content_type":"text","parts":["yes"]},"metadata":{"model_slug":"m"}},"parent":"b","children":[]},"d":{"message":{"author":{"role":"assistant"},"content":{"content_type":"text","parts":["no"]}},"parent":"a","children":[]}}}])",
            R"([{"uuid":"c","name":"T","created_at":"2024-06-27T10:00:00.123456Z","chat_messages":[{"uuid":"m","text":"hi","content":[{"type":"text","text":"hi"}],"sender":"human","attachments":[{"file_name":"a.txt","extracted_content":"one"}]},{"uuid":"n","parent_message_uuid":"m","content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use"},{"type":"text","text":"yes"}],"sender":"assistant"}]}])",
            R"([{"id":"1","created_at":1763752323,"chat":{"title":"T","system":"s","history":{"currentId":"b","messages":{"a":{"id":"a","parentId":null,"childrenIds":["b"],"role":"user","content":"hi","files":[{"type":"file","name":"n","file":{"data":{"content":"t"}}}]},"b":{"id":"b","parentId":"a","childrenIds":[],"role":"assistant","content":"<details type=\"reasoning\" done=\"true\">\n<summary>x</summary>\n> hm\n</details>\nyes"}}}}}])",
            R"([{"id":"x","conversations":[{"from":"system","value":"s"},{"from":"human","value":"hi"},{"from":"gpt","value":"yes"}]}])",
            R"({"name":"T","createdAt":1763752323120,"systemPrompt":"s","messages":[{"versions":[{"type":"singleStep","role":"user","content":[{"type":"text","text":"hi"}]}],"currentlySelected":0},{"versions":[{"role":"assistant","steps":[{"type":"contentBlock","content":[{"type":"text","text":"no"}]}]},{"role":"assistant","steps":[{"type":"contentBlock","style":{"type":"thinking"},"content":[{"type":"text","text":"hm"}]},{"type":"contentBlock","content":[{"type":"text","text":"yes"}]}]}],"currentlySelected":1}]})",
            R"([{"header":"Gemini Apps","title":"Prompted hi","time":"2025-05-02T12:34:56.789Z","safeHtmlItem":[{"html":"<h2>A</h2><p>yes <b>no</b></p><ol><li>1<ul><li>a &amp; b</li></ul></li></ol><pre><code>x\n</code></pre><table><tr><td>c</td></tr></table><blockquote><p>q</p></blockquote>"}]}])",
            "{\"role\":\"user\",\"content\":\"hi\"}\n{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":"
            "\"yes\"}]"
            "}\n",
            R"({"format":"warpchat conversation","version":2,"title":"T","model":"m","created":"2025-11-21T19:12:03.120Z","updated":"2025-11-21T19:12:03.129Z","messages":[{"role":"system","content":"s"},{"role":"user","content":"hi","id":1,"created":"2025-11-21T19:12:03.121Z"},{"role":"assistant","content":"yes","reasoning":"hm","timings":{"prompt_tokens":1},"id":2,"created":"2025-11-21T19:12:03.122Z"}],"branches":[{"role":"assistant","content":"no","id":3,"parent":1,"created":"2025-11-21T19:12:03.123Z"}]})",
            "# T\n\n<!-- warpchat conversation {\"version\":2} -->\n\n<!-- warpchat user {} -->\n## You\n\nhi\n\n"
            "<!-- warpchat assistant {\"folded\":1} -->\n## m\n\n<!-- warpchat thought {} "
            "-->\n<details><summary>Thought</summary>\n\nhm\n\n"
            "<!-- warpchat end {} -->\n</details>\n\nyes\n",
            "# T\n\n## User\n\nhi\n\n## Assistant\n\n```\n## User\n```\n\nyes\n",
};

// What JSON and the formats are made of.
constexpr std::string_view kImportPieces[] = {"{",
                                              "}",
                                              "[",
                                              "]",
                                              ",",
                                              ":",
                                              "\n",
                                              "\"",
                                              "\\",
                                              "null",
                                              "1",
                                              "1e400",
                                              "true",
                                              "\"a\"",
                                              "\"b\"",
                                              "\"hi\"",
                                              "\"\\ud83d\"",
                                              "\"\\u0000\"",
                                              "\"mapping\":",
                                              "\"chat_messages\":",
                                              "\"chat\":",
                                              "\"history\":",
                                              "\"messages\":",
                                              "\"conversations\":",
                                              "\"versions\":",
                                              "\"header\":\"Gemini\",",
                                              "\"title\":\"Prompted a\",",
                                              "\"time\":\"2024-01-02T00:00:00Z\",",
                                              "\"safeHtmlItem\":",
                                              "{\"html\":\"<ul><li><p>a<b>\"}",
                                              "\"role\":\"user\",",
                                              "\"from\":\"gpt\",",
                                              "\"content\":",
                                              "\"value\":",
                                              "\"children\":",
                                              "\"parent\":",
                                              "\"parts\":",
                                              "\"format\":\"warpchat conversation\",",
                                              "\"version\":2,",
                                              "\"id\":1,",
                                              "{\"role\":\"user\",\"content\":\"a\"}",
                                              "\xff",
                                              "## User\n",
                                              "<!-- warpchat user {} -->\n",
                                              "**You:**"};

size_t bytes_of(const ConversationTree& tree) {
  size_t n = tree.system_prompt.size();
  for (const Turn& turn : tree.turns) {
    n += turn.message.content.size() + turn.message.reasoning.size();
    for (const AttachedFile& file : turn.message.files) n += file.name.size() + file.text.size();
  }
  return n;
}

// What the exports carry of a tree, to compare.
void expect_survives(const ConversationTree& tree) {
  const ImportedText json = import_text(to_json(tree), "a.json");
  ASSERT_EQ(json.trees.size(), 1u);
  EXPECT_EQ(json.left_out, "");
  EXPECT_EQ(to_json(json.trees[0]), to_json(tree));
  if (shown_branch(tree).empty() && tree.system_prompt.empty()) return;  // Markdown has the shown branch alone
  const ImportedText markdown = import_text(to_markdown(tree), "a.md");
  ASSERT_EQ(markdown.trees.size(), 1u);
  EXPECT_EQ(line_of(markdown.trees[0]), line_of(tree));
}

// An import reads each byte a bounded number of times, and what it makes of it is not more than a few times as much:
// paragraphs get empty lines between them.
void check_import(const std::string& text) {
  JsonElements elements(text);
  while (elements.next()) continue;
  EXPECT_LE(elements.n_read(), 2 * text.size());
  ImportedText imported;
  size_t n_bytes = 0, n_turns = 0;
  const std::string fault = error_of([&] { imported = import_text(text); });
  EXPECT_TRUE(fault == "no error" || fault.starts_with("f: ")) << fault;
  EXPECT_TRUE(is_valid_utf8(fault) && is_valid_utf8(imported.left_out)) << fault;
  for (const ConversationTree& tree : imported.trees) {
    n_bytes += bytes_of(tree);
    n_turns += tree.turns.size();
    expect_survives(tree);
  }
  EXPECT_LE(n_bytes, 3 * text.size());
  EXPECT_LE(n_turns, text.size());
}

TEST(ImportFuzz, ChangedExports) {
  FuzzText fuzz(4);
  for (size_t round = 0; round < fuzz_rounds(1500, 100'000); ++round) {
    std::string text(kFuzzedExports[round % std::size(kFuzzedExports)]);
    for (size_t n = fuzz.below(3); n-- > 0;) text = fuzz.changed(std::move(text), "\"{}[]:,0an\\\n ");
    check_import(text);
    if (testing::Test::HasFailure()) FAIL() << "round " << round << ":\n" << printable(text, 8000);
  }
}

TEST(ImportFuzz, TextsThatLookLikeExports) {
  FuzzText fuzz(5);
  for (size_t round = 0; round < fuzz_rounds(1500, 100'000); ++round) {
    const std::string text = fuzz.of(kImportPieces, 2000);
    check_import(text);
    if (testing::Test::HasFailure()) FAIL() << "round " << round << ":\n" << printable(text, 8000);
  }
}

}  // namespace
}  // namespace warpchat
