// ChatGPT: {"title", "create_time", "mapping": {ID: {"message": null or {"author": {"role"}, "create_time", "content":
//   {"content_type", "parts"}, "recipient", "metadata"}, "parent", "children": [ID]}}, "current_node": ID}
// Claude: {"name", "created_at", "chat_messages": [{"uuid", "sender", "text", "content": [{"type", "text"}],
//   "attachments": [{"file_name", "extracted_content"}], "files", "parent_message_uuid"}], "current_leaf_message_uuid"}
// Open WebUI: {"created_at", "chat": {"title", "system", "history": {"messages": {ID: {"parentId", "childrenIds",
//   "role", "content", "timestamp", "model", "files"}}, "currentId"}, "messages": [the shown ones]}}
// ShareGPT: {"system", "conversations": [{"from", "value"}]}
// LM Studio: {"name", "createdAt", "systemPrompt", "messages": [{"currentlySelected", "versions": [{"role", "content":
//   [PART]} or {"role", "steps": [{"type": "contentBlock", "style": {"type": "thinking"}, "content": [PART]}]}]}]}
// Gemini: Google Takeout, "My Activity": [{"header": "Gemini Apps", "title": "Prompted PROMPT", "time", "products":
//   ["Gemini Apps"], "safeHtmlItem": [{"html": ANSWER}], "attachedFiles": [NAME], "imageFile": NAME}]. Which activities
//   are of one conversation is not told, so each is one. Unverified against a real export: the keys of files, and
//   titles in other languages than English, whose first words stay.
#include "app/formats/import_formats.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "app/formats/conversation_json.h"
#include "app/formats/html_text.h"
#include "app/formats/import_message.h"
#include "app/formats/import_tree.h"
#include "engine/untrusted_json.h"
#include "models/ascii.h"

namespace warpchat {

namespace {

using Json = nlohmann::json;

// Title and times, which all of them have under some name.
ConversationTree facts_of(const Json& conversation) {
  ConversationTree tree;
  tree.title = text_of(member(conversation, "title"));
  if (tree.title.empty()) tree.title = text_of(member(conversation, "name"));
  tree.created = time_in(conversation, {"create_time", "created_at", "createdAt", "timestamp"}, store_time_now());
  tree.updated = time_in(conversation, {"update_time", "updated_at", "updatedAt"}, tree.created);
  return tree;
}

StoreTime created_in(const Json& message, const ConversationTree& tree) {
  return time_in(message, {"create_time", "created_at", "createdAt", "timestamp"}, tree.created);
}

std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> texts;
  if (!list.is_array()) return texts;
  for (const Json& item : list)
    if (item.is_string()) texts.push_back(item.get<std::string>());
  return texts;
}

// ---- ChatGPT

// Between U+E200 and U+E201 stand a name and values, parted by U+E202. "entity" has the words ["city", "Paris"], "url"
// words and address; all others point to sources that the export lacks.
std::string shown_mark(std::string_view mark, ImportNotes& notes) {
  constexpr std::string_view kParts = "\xEE\x88\x82";
  const size_t split = std::min(mark.find(kParts), mark.size());
  const std::string_view name = mark.substr(0, split);
  const std::string_view rest = mark.substr(std::min(split + kParts.size(), mark.size()));
  if (name == "url") return std::string(rest.substr(0, rest.find(kParts)));
  if (name == "entity") {
    const Json words = try_parse_untrusted_json(rest);
    if (words.is_array() && words.size() > 1 && words[1].is_string()) return words[1].get<std::string>();
  }
  notes.leave_out(LeftOut::kCitation);
  return "";
}

std::string without_marks(std::string_view text, ImportNotes& notes) {
  constexpr std::string_view kOpens = "\xEE\x88\x80", kCloses = "\xEE\x88\x81";
  std::string plain;
  for (;;) {
    const size_t begin = text.find(kOpens);
    const size_t end = begin == std::string_view::npos ? begin : text.find(kCloses, begin);
    plain += text.substr(0, end == std::string_view::npos ? end : begin);
    if (end == std::string_view::npos) return plain;
    plain += shown_mark(text.substr(begin + kOpens.size(), end - begin - kOpens.size()), notes);
    text.remove_prefix(end + kCloses.size());
  }
}

// Sound has a transcription beside it.
void read_chatgpt_parts(const Json& content, Message& message, ImportNotes& notes) {
  Message parts;
  if (const Json& list = member(content, "parts"); list.is_array())
    for (const Json& part : list) {
      const Json& text = part.is_string() ? part : member(part, "text");
      text.is_string() ? append_paragraph(parts.content, text.get_ref<const std::string&>())
                       : read_parts(part, parts, notes);
    }
  message.content = without_marks(parts.content, notes);
}

void read_chatgpt_thoughts(const Json& content, Message& message) {
  const Json& thoughts = member(content, "thoughts");
  if (!thoughts.is_array()) return;
  for (const Json& thought : thoughts) append_paragraph(message.reasoning, text_of(member(thought, "content")));
}

// Searches and programs are messages to or from a tool.
Message read_chatgpt_message(const Json& node, ImportNotes& notes) {
  const Json &content = member(node, "content"), &metadata = member(node, "metadata");
  const std::string type = text_of(member(content, "content_type"));
  const Json& recipient = member(node, "recipient");
  Message message{.role = text_of(member(member(node, "author"), "role"))};
  if (member(metadata, "is_visually_hidden_from_conversation") == true || content.is_null()) return message;
  if (message.role == "assistant") message.model = text_of(member(metadata, "model_slug"));
  if (type == "thoughts") {
    read_chatgpt_thoughts(content, message);
  } else if (message.role == "tool") {
    notes.leave_out(LeftOut::kToolResult);
  } else if (type == "code" || (recipient.is_string() && recipient != "all")) {
    notes.leave_out(LeftOut::kToolCall);
  } else if (type == "text" || type == "multimodal_text") {
    read_chatgpt_parts(content, message, notes);
    if (const Json& files = member(metadata, "attachments"); files.is_array())
      for (const Json& file : files)
        if (!text_of(member(file, "mime_type")).starts_with("image/")) notes.leave_out(LeftOut::kFile);
  }
  return message;
}

ConversationTree read_chatgpt(const Json& conversation, bool is_cut, ImportNotes& notes) {
  const Json& mapping = member(conversation, "mapping");
  if (!mapping.is_object()) throw TransferError("", "", "has no object as 'mapping'");
  ConversationTree tree = facts_of(conversation);
  std::vector<ImportNode> nodes;
  for (const auto& [id, node] : mapping.items()) {
    if (is_cut && member(node, "message").is_object() && !node.contains("parent")) continue;  // the cut is within it
    const Json& message = member(node, "message");
    nodes.push_back({id, text_of(member(node, "parent")), texts_of(member(node, "children")),
                     read_chatgpt_message(message, notes), time_of(member(message, "create_time"), 0)});
  }
  grow_tree(tree, std::move(nodes), text_of(member(conversation, "current_node")), notes);
  return tree;
}

// ---- Claude

ConversationTree read_claude(const Json& conversation, ImportNotes& notes) {
  const Json& messages = member(conversation, "chat_messages");
  if (!messages.is_array()) throw TransferError("", "", "has no array as 'chat_messages'");
  ConversationTree tree = facts_of(conversation);
  std::vector<ImportNode> nodes;
  std::unordered_map<std::string, size_t> index;  // by id
  for (const Json& message : messages) {
    ImportNode node{.id = text_of(member(message, "uuid")), .message = read_foreign_message(message, notes)};
    node.created = created_in(message, tree);
    node.parent = text_of(member(message, "parent_message_uuid"));
    if (node.id.empty() || index.contains(node.id)) node.id = "message " + std::to_string(nodes.size());
    if (node.parent.empty() && !nodes.empty()) node.parent = nodes.back().id;  // older exports are in order
    if (const auto parent = index.find(node.parent); parent != index.end())
      nodes[parent->second].children.push_back(node.id);
    index.emplace(node.id, nodes.size());
    nodes.push_back(std::move(node));
  }
  grow_tree(tree, std::move(nodes), text_of(member(conversation, "current_leaf_message_uuid")), notes);
  return tree;
}

// ---- Open WebUI

// The lines of a quote, without the summary above it.
std::string quoted_lines(std::string_view block) {
  constexpr std::string_view kSummaryEnd = "</summary>";
  if (const size_t end = block.find(kSummaryEnd); end != std::string_view::npos)
    block.remove_prefix(end + kSummaryEnd.size());
  const std::string text = without_entities(trimmed(block));
  std::string lines;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.starts_with("> ")) line.remove_prefix(2);
    if (line == ">") line = "";
    lines += (lines.empty() ? "" : "\n") + std::string(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

// Reasoning and tool calls stand in an answer's text as <details type="reasoning" ...>...</details>.
void part_details(Message& message, ImportNotes& notes) {
  constexpr std::string_view kOpens = "<details type=\"", kCloses = "</details>";
  const std::string whole = std::exchange(message.content, "");
  std::string_view text = whole;
  for (;;) {
    const size_t begin = std::min(text.find(kOpens), text.size());
    append_paragraph(message.content, trimmed(text.substr(0, begin)));
    text.remove_prefix(begin);
    if (text.empty()) return;
    const size_t end = std::min(text.find(kCloses), text.size());
    const std::string_view block = text.substr(0, end), type = block.substr(kOpens.size());
    if (type.starts_with("reasoning\""))
      append_paragraph(message.reasoning, quoted_lines(block.substr(std::min(block.find('>') + 1, block.size()))));
    else
      notes.leave_out(LeftOut::kToolCall);
    text.remove_prefix(std::min(end + kCloses.size(), text.size()));
  }
}

Message read_open_webui_message(const Json& node, ImportNotes& notes) {
  Message message = read_foreign_message(node, notes);
  if (message.role == "assistant" && message.content.find("<details type=\"") != std::string::npos)
    part_details(message, notes);
  return message;
}

ConversationTree read_open_webui(const Json& conversation, ImportNotes& notes) {
  const Json& inner = member(conversation, "chat");
  const Json& chat = inner.is_object() ? inner : conversation;
  const Json& history = member(member(chat, "history"), "messages");
  ConversationTree tree = facts_of(chat);
  tree.created = time_in(conversation, {"created_at"}, tree.created);
  tree.updated = time_in(conversation, {"updated_at"}, std::max(tree.updated, tree.created));
  tree.system_prompt = text_of(member(chat, "system"));
  if (tree.system_prompt.empty()) tree.system_prompt = text_of(member(member(chat, "params"), "system"));
  if (!history.is_object()) {  // older ones have the shown messages alone
    const Json& messages = member(chat, "messages");
    if (!messages.is_array()) throw TransferError("", "", "has no object as 'history' and no array as 'messages'");
    for (const Json& message : messages)
      append_message(tree, read_open_webui_message(message, notes), created_in(message, tree), notes);
    return tree;
  }
  std::vector<ImportNode> nodes;
  for (const auto& [id, node] : history.items())
    nodes.push_back({id, text_of(member(node, "parentId")), texts_of(member(node, "childrenIds")),
                     read_open_webui_message(node, notes), created_in(node, tree)});
  grow_tree(tree, std::move(nodes), text_of(member(member(chat, "history"), "currentId")), notes);
  return tree;
}

// ---- LM Studio

Message read_lm_studio_version(const Json& version, ImportNotes& notes) {
  Message message = read_foreign_message(version, notes);
  const Json& steps = member(version, "steps");
  if (message.role.empty() || !steps.is_array()) return message;
  message.model = text_of(member(member(version, "senderInfo"), "senderName"));
  for (const Json& step : steps) {
    if (member(step, "type") != "contentBlock") continue;
    Message block;
    read_parts(member(step, "content"), block, notes);
    const bool is_thought = member(member(step, "style"), "type") == "thinking";
    append_paragraph(is_thought ? message.reasoning : message.content, block.content);
    append_paragraph(message.reasoning, block.reasoning);
  }
  if (message.role == "assistant" && message.reasoning.empty()) part_reasoning(message);
  return message;
}

bool has_versions(const Json& messages) {
  return messages.is_array() && !messages.empty() && member(messages.front(), "versions").is_array();
}

// The versions of a message follow the selected version of the one before.
ConversationTree read_lm_studio(const Json& conversation, ImportNotes& notes) {
  ConversationTree tree = facts_of(conversation);
  tree.system_prompt = text_of(member(conversation, "systemPrompt"));
  if (const Json& fields = member(member(conversation, "perChatPredictionConfig"), "fields"); fields.is_array())
    for (const Json& field : fields)
      if (tree.system_prompt.empty() && member(field, "key") == "llm.prediction.systemPrompt")
        tree.system_prompt = text_of(member(field, "value"));
  for (const Json& message : member(conversation, "messages")) {
    const Json &versions = member(message, "versions"), &selected = member(message, "currentlySelected");
    if (!versions.is_array()) {
      notes.leave_out(LeftOut::kMessage);
      continue;
    }
    const TurnId parent = tree.shown;
    TurnId shown = parent;
    for (size_t i = 0; i < versions.size(); ++i) {
      tree.shown = parent;
      append_message(tree, read_lm_studio_version(versions[i], notes), tree.created, notes);
      if (shown == parent || (selected.is_number_integer() && selected == i)) shown = tree.shown;
    }
    tree.shown = shown;
  }
  return tree;
}

// ---- Gemini

// An entry of "My Activity", of whatever product.
bool is_activity(const Json& value) {
  return member(value, "header").is_string() && member(value, "title").is_string() && member(value, "time").is_string();
}

bool is_of_gemini(const Json& activity) {
  std::vector<std::string> names = texts_of(member(activity, "products"));
  names.push_back(text_of(member(activity, "header")));
  return std::ranges::any_of(names, [](const std::string& name) {
    return name.find("Gemini") != std::string::npos || name.find("Bard") != std::string::npos;
  });
}

Message read_gemini_answer(const Json& activity, ImportNotes& notes) {
  Message answer{.role = "assistant"};
  const Json& items = member(activity, "safeHtmlItem");
  if (!items.is_array()) return answer;
  for (const Json& item : items) {
    const HtmlText text = text_of_html(text_of(member(item, "html")));
    append_paragraph(answer.content, text.markdown);
    notes.leave_out(LeftOut::kPicture, text.n_pictures);
  }
  return answer;
}

ConversationTree read_gemini(const Json& activity, ImportNotes& notes) {
  constexpr std::string_view kPrompted = "Prompted ";
  ConversationTree tree;
  tree.created = tree.updated = time_in(activity, {"time"}, store_time_now());
  std::string prompt = text_of(member(activity, "title"));
  const bool is_prompt = prompt.starts_with(kPrompted);
  if (is_prompt) prompt.erase(0, kPrompted.size());
  Message answer = read_gemini_answer(activity, notes);
  if (!is_of_gemini(activity) || (!is_prompt && answer.content.empty())) {
    notes.leave_out(LeftOut::kActivity);
    return tree;
  }
  if (member(activity, "imageFile").is_string()) notes.leave_out(LeftOut::kPicture);
  if (const Json& files = member(activity, "attachedFiles"); files.is_array())
    notes.leave_out(LeftOut::kFile, files.size());
  append_message(tree, {.role = "user", .content = std::move(prompt)}, tree.created, notes);
  if (!answer.content.empty()) append_message(tree, std::move(answer), tree.created, notes);
  return tree;
}

// ---- Lists of messages

ConversationTree read_list(const Json& conversation, const Json& messages, ImportNotes& notes) {
  ConversationTree tree = facts_of(conversation);
  tree.system_prompt = text_of(member(conversation, "system"));
  for (const Json& message : messages)
    append_message(tree, read_foreign_message(message, notes), created_in(message, tree), notes);
  return tree;
}

}  // namespace

const Json& conversations_in(const Json& value) {
  for (const char* key : {"conversations", "chats"}) {
    const Json& list = member(value, key);
    if (list.is_array() && !list.empty() && list.front().is_object() && !is_foreign_message(list.front())) return list;
  }
  return member(Json(), "");
}

bool is_foreign_conversation(const Json& value) {
  constexpr const char* kKeys[] = {"mapping",  "chat_messages", "chat",         "history",
                                   "messages", "conversations", "conversation", "items"};
  return is_activity(value) ||
         std::ranges::any_of(kKeys, [&](const char* key) { return !member(value, key).is_null(); });
}

ConversationTree read_foreign_conversation(const Json& value, bool is_cut, ImportNotes& notes) {
  if (!member(value, "mapping").is_null()) return read_chatgpt(value, is_cut, notes);
  if (!member(value, "chat_messages").is_null()) return read_claude(value, notes);
  if (member(value, "chat").is_object() || member(value, "history").is_object()) return read_open_webui(value, notes);
  if (has_versions(member(value, "messages"))) return read_lm_studio(value, notes);
  if (is_activity(value)) return read_gemini(value, notes);
  for (const char* key : {"messages", "conversations", "conversation", "items"})
    if (const Json& list = member(value, key); list.is_array()) return read_list(value, list, notes);
  throw TransferError("", "", "has no array as 'messages'");
}

}  // namespace warpchat
