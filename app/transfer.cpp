// Files around the two formats, and the store behind them.
#include "app/transfer.h"

#include <filesystem>

#include "app/conversation_json.h"
#include "app/conversation_markdown.h"
#include "app/output.h"
#include "app/text_input.h"

namespace warpchat {

namespace {

constexpr uint64_t kMostFileBytes = 64'000'000;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string text_for(const ConversationTree& tree, const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".json") return to_json(tree);
  if (extension == ".md" || extension == ".markdown") return to_markdown(tree);
  throw Error("cannot export to " + path + ": its name must end in .md or .json");
}

}  // namespace

ConversationTree parse_conversation(std::string_view text, const std::string& name) {
  require_utf8(text, name);
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) throw Error(name + ": the file is empty");
  const bool json = text[first] == '{' || text[first] == '[';
  ConversationTree tree = json ? read_json_conversation(text, name) : read_markdown_conversation(text, name);
  if (tree.turns.empty() && tree.system_prompt.empty()) throw Error(name + ": there is no message in it");
  return tree;
}

void export_conversation(const ConversationTree& tree, const std::string& path) {
  const std::string text = text_for(tree, path);
  std::error_code error;
  if (std::filesystem::exists(path, error)) throw Error(path + " exists already; choose another name");
  write_file(path, text);
}

void export_conversation(const ConversationStore& store, ConversationId conversation, const std::string& path) {
  export_conversation(store.tree(conversation), path);
}

ConversationId import_conversation(ConversationStore& store, const std::string& path) {
  return store.insert(parse_conversation(read_regular_file(path, kMostFileBytes), path));
}

}  // namespace warpchat
