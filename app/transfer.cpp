// Reads and writes the files of both formats, and imports into the store.
#include "app/transfer.h"

#include <algorithm>
#include <filesystem>

#include "app/conversation_foreign.h"
#include "app/conversation_json.h"
#include "app/conversation_markdown.h"
#include "app/output.h"
#include "app/signals.h"
#include "app/text_input.h"
#include "models/ascii.h"

namespace warpchat {

namespace {

constexpr uint64_t kMaxImportBytes = 256'000'000;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string text_for(const ConversationTree& tree, const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".json") return to_json(tree);
  if (extension == ".md" || extension == ".markdown") return to_markdown(tree);
  throw Error("cannot export to " + path + ": its name must end in .md or .json");
}

// Rejects files that are often mistaken for a conversation.
void require_no_wrapping(std::string_view text, const std::string& name) {
  constexpr std::string_view kZip = "PK\x03\x04", kPage = "<!doctype html", kPageToo = "<html";
  if (text.starts_with(kZip)) throw Error(name + " is a ZIP archive; unpack it and import its conversations.json");
  const std::string start = lower_case(text.substr(0, kPage.size()));
  if (start.starts_with(kPage) || start.starts_with(kPageToo))
    throw Error(name + " is a web page; import the Markdown or JSON file from the same export");
}

std::vector<ConversationTree> read_json(std::string_view text, const std::string& name) {
  nlohmann::ordered_json root = parse_json(text, name);
  if (is_chatgpt_export(root)) return read_chatgpt_export(root, name);
  return {read_json_conversation(std::move(root), name)};
}

std::vector<ConversationTree> read_markdown(std::string_view text, const std::string& name) {
  if (is_own_markdown(text)) return {read_markdown_conversation(text, name)};
  require_text(text, name);
  return {read_any_markdown(text)};
}

}  // namespace

std::vector<ConversationTree> parse_conversations(std::string_view text, const std::string& name) {
  require_no_wrapping(text, name);
  require_utf8(text, name);
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) throw Error(name + ": the file is empty");
  const bool json = (text[first] == '{' || text[first] == '[') && !name.ends_with(".md");  // Markdown: a link
  std::vector<ConversationTree> trees = json ? read_json(text, name) : read_markdown(text, name);
  std::erase_if(trees, [](const ConversationTree& tree) { return tree.turns.empty() && tree.system_prompt.empty(); });
  if (trees.empty()) throw Error(name + ": no message found");
  std::ranges::stable_sort(trees, {}, &ConversationTree::updated);
  return trees;
}

void export_conversation(const ConversationTree& tree, const std::string& path, bool replace) {
  const std::string text = text_for(tree, path);
  std::error_code error;
  if (!replace && std::filesystem::exists(path, error)) throw Error(path + " already exists; choose another name");
  write_file(path, text);
}

std::vector<ConversationId> import_conversations(ConversationStore& store, const std::string& path) {
  std::vector<ConversationId> ids;
  const std::vector<ConversationTree> trees = parse_conversations(read_regular_file(path, kMaxImportBytes), path);
  for (size_t i = 0; i < trees.size() && !has_interrupt(); ++i) ids.push_back(store.insert(trees[i]));
  if (ids.empty()) throw Error("stopped; nothing was imported");
  return ids;
}

}  // namespace warpchat
