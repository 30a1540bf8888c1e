// The list of all tools, and calls that run side by side.
#include "app/tools/tools.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>

#include "app/mcp/mcp_config.h"
#include "app/mcp/mcp_servers.h"
#include "app/mcp/tool.h"
#include "app/tools/built_in_tools.h"
#include "app/tools/tool_texts.h"

namespace warpchat {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

class Scripted : public ToolSource {  // "wait" ends when it is stopped, or when two calls wait
 public:
  explicit Scripted(std::vector<std::string> names) : names_(std::move(names)) {}
  std::vector<Tool> declarations() const override {
    std::vector<Tool> tools;
    for (const std::string& name : names_) tools.push_back({.name = name, .source = "scripted"});
    return tools;
  }
  ToolResult call(std::string_view name, const json& arguments, const ToolCallControl& control) override {
    if (name == "throws") throw std::runtime_error("no memory for this");
    if (name == "echo") return {ToolStatus::kOk, arguments.dump()};
    if (control.on_progress) control.on_progress({1, 2, "half"});
    ++n_waiting;
    const auto end = std::chrono::steady_clock::now() + 5s;
    while (!control.stop.stop_requested() && n_waiting < 2 && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(1ms);
    return control.stop.stop_requested() ? stopped_result() : ToolResult{ToolStatus::kOk, "both"};
  }
  std::atomic<int> n_waiting = 0;

 private:
  const std::vector<std::string> names_;
};

TEST(Tools, AreSortedAndFoundByName) {
  const auto one = std::make_shared<Scripted>(std::vector<std::string>{"wait", "echo", "b"});
  const auto two = std::make_shared<Scripted>(std::vector<std::string>{"a", "b", "C"});
  Tools tools({one, two});
  EXPECT_EQ(tools.names(), (std::vector<std::string>{"C", "a", "b", "echo", "wait"}));
  EXPECT_EQ(Tools({two, one}).names(), tools.names()) << "whatever came first";
  ASSERT_NE(tools.find("echo"), nullptr);
  EXPECT_EQ(tools.find("ech"), nullptr);
  EXPECT_EQ(tools.start("echo", {{"x", 1}})->wait().text, R"({"x":1})");
}

TEST(Tools, ThatAreUnknownAreNamed) {
  const auto source = std::make_shared<Scripted>(std::vector<std::string>{"wait", "echo"});
  Tools tools({source});
  const ToolResult result = tools.start("ech\x1b", json::object())->wait();
  EXPECT_EQ(result.status, ToolStatus::kError);
  EXPECT_EQ(result.text, "there is no tool 'ech\\x1b'; the tools are echo, wait");
  EXPECT_EQ(Tools({}).start("x", json::object())->wait().text, "there is no tool 'x'; there are no tools");
}

TEST(Tools, RunSideBySide) {
  const auto source = std::make_shared<Scripted>(std::vector<std::string>{"wait"});
  Tools tools({source});
  std::atomic<int> n_done = 0;
  std::atomic<int> n_progress = 0;
  const auto on_progress = [&](const ToolProgress& progress) { n_progress += progress.message == "half" ? 1 : 0; };
  const auto first = tools.start("wait", json::object(), on_progress, [&] { ++n_done; });
  EXPECT_FALSE(first->is_done());
  const auto second = tools.start("wait", json::object(), on_progress, [&] { ++n_done; });
  EXPECT_EQ(first->wait().text, "both");
  EXPECT_EQ(second->wait().text, "both");
  EXPECT_EQ(first->wait().text, "both") << "again";
  EXPECT_EQ(n_progress, 2);
}

TEST(Tools, AreStopped) {
  const auto source = std::make_shared<Scripted>(std::vector<std::string>{"wait"});
  Tools tools({source});
  const auto call = tools.start("wait", json::object());
  call->stop();
  EXPECT_EQ(call->wait().status, ToolStatus::kStopped);
  call->stop();
  const auto begin = std::chrono::steady_clock::now();
  source->n_waiting = 0;
  tools.start("wait", json::object()).reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 4s) << "the end of a call stops it";
}

TEST(Tools, ThatThrowGiveAResult) {
  const auto source = std::make_shared<Scripted>(std::vector<std::string>{"throws"});
  Tools tools({source});
  int n_done = 0;
  const auto call = tools.start("throws", json::object(), {}, [&] { ++n_done; });
  const ToolResult result = call->wait();
  EXPECT_EQ(result.status, ToolStatus::kError);
  EXPECT_EQ(result.text, "no memory for this");
}

TEST(Tools, OfServersAndOfTheProgramAreOneList) {
  Tools tools({std::make_shared<BuiltInTools>(std::vector<std::string>{}),
               std::make_shared<McpServers>(McpConfig{}, McpServer::OnNotice{})});
  EXPECT_EQ(tools.names(), (std::vector<std::string>{"warpchat__calculate", "warpchat__now"}));
  EXPECT_EQ(tools.start("warpchat__calculate", {{"expression", "6 * 7"}})->wait().text, "42");
}

TEST(ToolNames, OfTheProgramCannotBeTaken) {
  ToolNames names;
  EXPECT_EQ(names.add("warpchat", "read_file"), "mcp_warpchat__read_file");
  EXPECT_EQ(names.add("WarpChat", "read_file"), "mcp_WarpChat__read_file_2");
  EXPECT_EQ(names.add("warpchat_", "x"), "mcp_warpchat___x");
  EXPECT_EQ(names.add("warpchat__a", "b"), "mcp_warpchat__a__b");
  EXPECT_EQ(names.add("mcp_warpchat", "read_file"), "mcp_warpchat__read_file_3");
  EXPECT_EQ(names.add("warpchats", "x"), "warpchats__x");
  for (const char* server : {"warpchat", "warpchat\u0000", "WARPCHAT__", "warpchat__read_file"})
    for (const std::string& tool : {std::string("read_file"), std::string(100, 'x')}) {
      const std::string name = names.add(server, tool);
      EXPECT_FALSE(name.starts_with("warpchat__") || name.starts_with("WARPCHAT__")) << name;
      EXPECT_LE(name.size(), 64u);
    }
}

TEST(Configurations, OfServersHaveFingerprints) {
  const McpServerConfig config{.name = "files", .command = "npx", .arguments = {"-y", "x"}};
  const auto differs = [&](const std::function<void(McpServerConfig&)>& change) {
    McpServerConfig other = config;
    change(other);
    return other.fingerprint() != config.fingerprint();
  };
  EXPECT_FALSE(differs([](McpServerConfig&) {}));
  EXPECT_FALSE(differs([](McpServerConfig& other) { other.timeout = 5s; }));
  EXPECT_TRUE(differs([](McpServerConfig& other) { other.command = "npx2"; }));
  EXPECT_TRUE(differs([](McpServerConfig& other) { other.arguments = {"-y x"}; }));
  EXPECT_TRUE(differs([](McpServerConfig& other) { other.environment["PATH"] = "/tmp"; }));
  EXPECT_TRUE(differs([](McpServerConfig& other) { other.folder = "/"; }));
  EXPECT_TRUE(differs([](McpServerConfig& other) { other.url = "http://x"; }));
  EXPECT_TRUE(differs([](McpServerConfig& other) { other.headers["A"] = "b"; }));
}

TEST(Texts, SayWhatHappened) {
  EXPECT_EQ(denied_result("files__write").status, ToolStatus::kDenied);
  EXPECT_NE(denied_result("files__write").text.find("the user denied the call of files__write"), std::string::npos);
  EXPECT_EQ(unreadable_result("its arguments are no object").status, ToolStatus::kError);
  EXPECT_NE(round_limit_result(16).text.find("16 rounds"), std::string::npos);
  const std::vector<std::string> many(10'000, "some__tool");
  EXPECT_LT(unknown_tool_result("x", many).text.size(), 5000u);
}

}  // namespace
}  // namespace warpchat
