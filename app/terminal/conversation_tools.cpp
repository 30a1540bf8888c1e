// Tools in a conversation: the question before a call, the list of tools, and the folders that are open to them.
#include <algorithm>

#include "app/formats/shown_call.h"
#include "app/mcp/mcp_config.h"
#include "app/platform/output.h"
#include "app/terminal/call_question.h"
#include "app/terminal/conversation.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr size_t kMaxToolName = 200, kMaxSentence = 2000;  // bytes of foreign texts

std::string meaning_of(Permission permission) {
  switch (permission) {
    case Permission::kAsk:
      return "you are asked about each call";
    case Permission::kConversation:
      return "calls are allowed in this conversation";
    case Permission::kAlways:
      return "calls are always allowed, until the tool changes";
    case Permission::kNever:
      return "calls are never allowed";
  }
  return "";
}

std::string tool_text(const OfferedTool& tool) { return described_tool(tool.name, tool.description, tool.schema); }

}  // namespace

// Ctrl-C stops the answer.
bool Conversation::decide_call() {
  const ToolCall* asked = messages().empty() ? nullptr : asked_call(messages().back());
  if (asked == nullptr) return false;
  const ChatMessage& message = messages().back();
  const uint64_t key = message.key;
  CallQuestion question{*asked, message.why_asked, ""};
  const std::vector<OfferedTool>& all = controller_.now().tools.tools;
  if (const auto tool = std::ranges::find(all, asked->name, &OfferedTool::name); tool != all.end())
    question.tool = tool_text(*tool);
  const CallAnswer answer = ask_about_call(question, [this](const std::string& text, std::string_view letters) {
    return reader_.ask_key(text, letters, /*at_end=*/'n');
  });
  if (answer == CallAnswer::kStop) return controller_.submit(Stop{}), false;
  const bool lasts = answer == CallAnswer::kInConversation;
  controller_.submit(DecideCall{key, question.call.id, answer != CallAnswer::kNo,
                                lasts ? Permission::kConversation : Permission::kAsk});
  return true;
}

// "NAME PERMISSION", or either, or nothing.
void Conversation::tools(const std::string& wanted) {
  if (!act(ListTools{})) return;
  if (wanted.empty()) return list_tools();
  const size_t blank = wanted.find(' ');
  const std::string name = wanted.substr(0, blank);
  const auto& all = controller_.now().tools.tools;
  const auto tool = std::ranges::find(all, name, &OfferedTool::name);
  if (tool == all.end()) throw Error("there is no tool " + printable(name) + "; /tools lists them");
  if (blank == std::string::npos) {
    write_text(tool_text(*tool));
    return say("(" + meaning_of(tool->permission) + ")");
  }
  const std::string word(trimmed(std::string_view(wanted).substr(blank)));
  for (const Permission permission :
       {Permission::kAsk, Permission::kConversation, Permission::kAlways, Permission::kNever}) {
    if (word != name_of(permission)) continue;
    if (act(SetToolPermission{name, permission})) say(name + ": " + meaning_of(permission));
    return;
  }
  throw Error("'" + printable(word) + "' is no permission; it is ask, conversation, always or never");
}

void Conversation::list_tools() const {
  const OfferedTools& offered = controller_.now().tools;
  std::string servers, lines;
  for (const ToolServerLine& server : offered.servers)
    servers += "  " + printable(server.name, kMaxToolName) + "\t" + printable(server.condition, kMaxSentence) + "\t" +
               printable(server.address, kMaxToolName) + "\n";
  for (const OfferedTool& tool : offered.tools)
    lines +=
        "  " + tool.name + "\t" + std::string(name_of(tool.permission)) + "\t" + first_line(tool.description) + "\n";
  if (!servers.empty()) write_text("MCP servers\n" + servers);
  if (!lines.empty()) write_text(std::string(servers.empty() ? "" : "\n") + "Tools\n" + lines);
  if (!offered.folders.empty()) list_folders();
  if (lines.empty())
    return say("there are no tools; " + mcp_config_file() + " may name MCP servers, and /open DIR opens a folder");
  if (offered.tokens > 0) say("(they take " + counted(offered.tokens, "token") + " of each prompt)");
  say("(/tools NAME shows one; with ask, conversation, always or never it sets whether you are asked)");
}

void Conversation::list_folders() const {
  const std::vector<std::string>& folders = controller_.now().tools.folders;
  if (folders.empty())
    throw Error("no folder is open; /open DIR opens one, which the model may read with your approval");
  std::string lines;
  for (const std::string& folder : folders) lines += "  " + printable(folder, kMaxToolName) + "\n";
  write_text("Open folders\n" + lines);
}

void Conversation::open_folder(const std::string& folder) {
  const size_t n_before = controller_.now().tools.folders.size();
  if (!act(OpenFolder{folder}) || controller_.now().tools.folders.size() == n_before) return;
  say("the model may read " + printable(controller_.now().tools.folders.back(), kMaxToolName) +
      " and search it; you are asked before each call");
}

}  // namespace warpchat
