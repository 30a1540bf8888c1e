// The parts of the MCP client that need no server: names, results, headers, lines, messages and secrets.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/mcp/json_rpc.h"
#include "app/mcp/line_reader.h"
#include "app/mcp/mcp_config.h"
#include "app/mcp/server_process.h"
#include "app/mcp/tool.h"
#include "app/mcp/transport.h"
#include "models/utf8.h"
#include "tests/support/error_of.h"
#include "tests/support/variable.h"

namespace warpchat {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

TEST(ToolNames, AreOfOneAlphabetAndDistinct) {
  ToolNames names;
  EXPECT_EQ(names.add("files", "read"), "files__read");
  EXPECT_EQ(names.add("Files", "read"), "Files__read_2") << "case does not tell names apart";
  EXPECT_EQ(names.add("files", "read"), "files__read") << "the same tool";
  EXPECT_EQ(names.add("a__b", "c"), "a__b__c");
  EXPECT_EQ(names.add("a", "b__c"), "a__b__c_2");
  EXPECT_EQ(names.add("m\u00fcsli", "x.y/z"), "m_sli__x_y_z");
  EXPECT_EQ(names.add("\xFF\xFE", "t"), "____t");
  const std::string longest = names.add("s", std::string(128, 'n'));
  EXPECT_EQ(longest, "s__" + std::string(61, 'n'));
  EXPECT_EQ(names.add("s", std::string(127, 'n')), longest.substr(0, 62) + "_2");
}

TEST(ToolNames, OfAHostileListTakeNoTime) {
  ToolNames names;
  for (int i = 0; i < 10'000; ++i) EXPECT_LE(names.add("s", std::string(200, 'x')).size(), 64u);
}

TEST(Results, AreCutBetweenCharacters) {
  const std::string text = "x" + std::string(kMaxResultBytes - 2, 'y') + "\u00e9z";  // e-acute lies on the limit
  const std::string cut = cut_result(text);
  EXPECT_TRUE(is_valid_utf8(cut));
  EXPECT_EQ(cut, text.substr(0, kMaxResultBytes - 1) + "\n[cut: the first 1,048,575 of 1,048,578 bytes]");
  EXPECT_EQ(cut_result(std::string(kMaxResultBytes, 'a')), std::string(kMaxResultBytes, 'a'));
}

TEST(Results, OfAnyShapeAreRead) {
  for (const char* text : {"{}", R"({"content": null})", R"({"content": []})"}) {
    const ToolResult result = read_result(json::parse(text));
    EXPECT_EQ(result.status, ToolStatus::kOk) << text;
    EXPECT_EQ(result.text, "") << text;
  }
  EXPECT_EQ(read_result(json::parse(R"({"structuredContent": null})")).text, "null");
  EXPECT_EQ(read_result(json::parse(R"({"content": [{"type": "text", "text": 3}]})")).text, "[unknown part text]");
  EXPECT_EQ(read_result(json::parse(R"({"content": [{"type": "resource"}], "structuredContent": 1})")).text,
            "[resource]");
  EXPECT_EQ(read_result(json::parse(R"({"content": {}})")).status, ToolStatus::kError);
  EXPECT_EQ(read_result(json::parse(R"({"isError": true})")).status, ToolStatus::kError);
}

TEST(HeaderParameters, AreFoundWherePropertiesLead) {
  const auto found = header_parameters_of(json::parse(R"({"type": "object", "properties": {
      "a": {"type": "string", "x-mcp-header": "A"}, "x-mcp-header": {"type": "string"},
      "b": {"type": "object", "properties": {"c": {"type": "integer", "x-mcp-header": "C"}}}}})"));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].header, "A");
  EXPECT_EQ(found[1].path, (std::vector<std::string>{"b", "c"}));
  const McpTool tool{.tool = "t", .header_parameters = found};
  EXPECT_EQ(call_headers(tool, json::parse(R"({"a": "", "b": {"c": 3.0}})")),
            (std::vector<std::string>{"Mcp-Name: t", "Mcp-Param-A;", "Mcp-Param-C: 3"}));
  EXPECT_EQ(call_headers(tool, json::parse(R"({"a": null, "b": [1]})")), std::vector<std::string>{"Mcp-Name: t"});
}

TEST(HeaderParameters, ThatMcpDoesNotAllowAreRefused) {
  for (
      const char* schema :
      {R"({"x-mcp-header": "A"})",
       R"({"properties": {"a": {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}}})",
       R"({"anyOf": [{"properties": {"a": {"type": "string", "x-mcp-header": "A"}}}]})",
       R"({"$defs": {"a": {"type": "string", "x-mcp-header": "A"}}})",
       R"({"properties": {"a": {"type": "number", "x-mcp-header": "A"}}})",
       R"({"properties": {"a": {"type": "string", "x-mcp-header": "A B"}}})",
       R"({"properties": {"a": {"type": "string", "x-mcp-header": ""}}})",
       R"({"properties": {"a": {"type": "string", "x-mcp-header": 1}}})",
       R"({"properties": {"a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}}})"})
    EXPECT_NE(error_of([&] { header_parameters_of(json::parse(schema)); }).find("x-mcp-header"), std::string::npos)
        << schema;
}

TEST(HeaderValues, ThatAreNotPlainAreEncoded) {
  EXPECT_EQ(header_value("read file"), "read file");
  EXPECT_EQ(header_value(" x"), "=?base64?IHg=?=");
  EXPECT_EQ(header_value("\u00e9"), "=?base64?w6k=?=");
  EXPECT_EQ(header_value("a\r\nb"), "=?base64?YQ0KYg==?=");
  EXPECT_EQ(header_value("=?base64?eA==?="), "=?base64?PT9iYXNlNjQ/ZUE9PT89?=");
}

TEST(Lines, ComeWholeFromPiecesOfAnySize) {
  for (size_t piece = 1; piece < 12; ++piece) {
    LineReader reader(4);
    std::vector<std::string> lines;
    const auto add = [&](std::string_view line, bool is_whole) {
      lines.push_back(std::string(line) + (is_whole ? "" : "..."));
    };
    const std::string text = "ab\n\nabcd\nabcdefgh\nx\nrest";
    for (size_t at = 0; at < text.size(); at += piece) reader.add(std::string_view(text).substr(at, piece), add);
    reader.finish(add);
    EXPECT_EQ(lines, (std::vector<std::string>{"ab", "", "abcd", "abcd...", "x", "rest"})) << piece;
  }
}

TEST(Messages, HaveAKind) {
  const auto kind = [](const char* text) { return kind_of(json::parse(text)); };
  EXPECT_EQ(kind(R"({"method": "ping", "id": 1})"), MessageKind::kRequest);
  EXPECT_EQ(kind(R"({"method": "ping", "id": null})"), MessageKind::kNotification);
  EXPECT_EQ(kind(R"({"id": "x", "result": {}})"), MessageKind::kResponse);
  EXPECT_EQ(kind(R"({"error": {}, "id": null})"), MessageKind::kResponse);
  EXPECT_EQ(kind("{}"), MessageKind::kNone);
  EXPECT_TRUE(answers(json::parse(R"({"id": 7, "result": 1})"), 7));
  EXPECT_FALSE(answers(json::parse(R"({"id": "7", "result": 1})"), 7));
  EXPECT_FALSE(answers(json::parse(R"({"id": 7, "method": "x"})"), 7));
}

TEST(Messages, OfABatchComeOneByOne) {
  int n = 0;
  read_messages(R"([{"id": 1, "result": {}}, {"method": "x"}])", [&](const json&) { ++n; });
  EXPECT_EQ(n, 2);
}

TEST(Messages, AreChecked) {
  EXPECT_EQ(error_of([] {
              checked_response({{"id", 1}});
            }),
            "it answers with a message that is no response of JSON-RPC");
  EXPECT_EQ(error_of([] {
              checked_response({{"id", 1}, {"error", "x"}});
            }),
            "it answers with a message that is no response of JSON-RPC");
  EXPECT_FALSE(checked_response({{"id", 1}, {"error", nullptr}, {"result", 1}}).has_error());
  EXPECT_EQ(error_text({{"code", -1}, {"message", "a\x1b[1m"}, {"data", "more"}}), "a\\x1b[1m: more");
  EXPECT_EQ(error_text({{"code", -5}}), "error -5 without a message");
  EXPECT_EQ(error_text(json(3)), "error 0 without a message");
}

TEST(Deadlines, MoveWithProgressUpToAMaximum) {
  Deadline deadline(1h);
  const auto first = deadline.end();
  deadline.extend();
  EXPECT_GT(deadline.end(), first);
  EXPECT_LT(deadline.end(), first + 1h);
  Deadline inner(deadline, 10h);
  EXPECT_EQ(inner.end(), deadline.end());
  Deadline over(0ms);
  EXPECT_TRUE(over.is_over());
  over.extend();
  EXPECT_TRUE(over.is_over());
}

TEST(Secrets, AreHiddenWithTheirWords) {
  McpServerConfig config;
  config.environment = {{"TOKEN", "hf_abcdefgh"}, {"DEBUG", "true"}, {"PATH", "/usr/local/bin"}};
  config.headers = {{"Authorization", "Bearer sk-12345678"}};
  const McpSecrets secrets(config);
  EXPECT_EQ(secrets.hide("Bearer sk-12345678, sk-12345678! hf_abcdefghhf_abcdefgh true /usr/local/bin"),
            "***, ***! ****** true /usr/local/bin");
}

TEST(Addresses, ShowNoSecrets) {
  McpServerConfig config;
  config.url = "https://user:password@example.org:8443/a/b?key=secret#c";
  EXPECT_EQ(config.address(), "https://example.org:8443/a/b");
  config.url = "http://example.org?key=secret";
  EXPECT_EQ(config.address(), "http://example.org");
  config = {.command = "npx", .arguments = {"--key", "secret"}};
  EXPECT_EQ(config.address(), "npx");
}

TEST(Environment, HasPathAndHomeAlways) {
  const Variable path("PATH", std::nullopt), home("HOME", std::nullopt), key("MY_KEY", "secret");
  McpServerConfig config;
  config.folder = "/tmp";
  const std::vector<std::string> variables = server_environment(config);
  const auto has = [&](const std::string& text) { return std::ranges::find(variables, text) != variables.end(); };
  EXPECT_TRUE(has("PATH=/usr/local/bin:/usr/bin:/bin"));
  EXPECT_TRUE(has("PWD=/tmp"));
  EXPECT_TRUE(std::ranges::any_of(variables, [](const std::string& text) { return text.starts_with("HOME=/"); }));
  EXPECT_FALSE(has("MY_KEY=secret"));
}

}  // namespace
}  // namespace warpchat
