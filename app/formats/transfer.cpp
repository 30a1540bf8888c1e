// Reads and writes the files of both formats, and imports into the store.
#include "app/formats/transfer.h"

#include <algorithm>
#include <filesystem>

#include "app/formats/conversation_json.h"
#include "app/formats/conversation_markdown.h"
#include "app/formats/import_formats.h"
#include "app/formats/import_message.h"
#include "app/formats/import_tree.h"
#include "app/platform/output.h"
#include "app/platform/signals.h"
#include "app/platform/text_input.h"
#include "engine/json_elements.h"
#include "engine/store/known_conversations.h"
#include "models/ascii.h"
#include "models/out_of_memory.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

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

// A file that is cut off may end within a character.
std::string_view without_cut_character(std::string_view text) {
  const size_t end = std::min(find_invalid_utf8(text), text.size());
  const bool is_cut = end < text.size() && first_character(text.substr(end)).state == Utf8State::kIncomplete;
  return is_cut ? text.substr(0, end) : text;
}

class JsonImport {
 public:
  JsonImport(std::string_view text, const ImportListener& listener, ImportNotes& notes)
      : text_(text), listener_(listener), notes_(notes) {}

  void run() {
    JsonElements elements(text_);
    is_list_ = elements.is_list();
    while (const auto element = elements.next()) {
      if (listener_.is_stopped()) return;
      throw_if_out_of_memory();
      ++n_elements_;
      read(*element);
      listener_.progress(static_cast<double>(element->at + element->text.size()) / static_cast<double>(text_.size()));
    }
    if (elements.ends_in_array() && !is_cut_)
      notes_.add_fault([] { return std::string("the file ends before its list does"); });
    deliver(std::exchange(loose_, {}));
  }

 private:
  std::string place() const {
    if (!is_list_) return "";
    return (loose_.turns.empty() ? "conversation " : "message ") + grouped(n_elements_);
  }

  void read(const JsonElements::Element& element) {
    try {
      if (element.is_whole) return read_value(parse_file_json(element.text), false);
      is_cut_ = true;
      const std::string closed = close_cut_json(element.text);
      if (closed.empty() || !read_cut(closed)) parse_file_json(element.text);  // tells where it is cut
    } catch (const JsonError& error) {
      notes_.add_fault([&] { return clause_of(error, element); });
    } catch (const TransferError& error) {
      notes_.add_fault([&] { return error.clause(place()); });
    }
  }

  std::string clause_of(const JsonError& error, const JsonElements::Element& element) const {
    if (const size_t invalid = find_invalid_utf8(element.text); invalid != std::string_view::npos)
      return "byte " + grouped(element.at + invalid) + " is not valid UTF-8; convert the text to UTF-8 first";
    if (!error.is_syntax) return (is_list_ ? place() + ": " : "") + error.what();
    return transfer_error(error, text_, element.at, "").clause(place());
  }

  // False: nothing of it is whole.
  bool read_cut(const std::string& closed) {
    const size_t before = n_turns_ + loose_.turns.size();
    try {
      read_value(parse_file_json(closed), true);
    } catch (const TransferError&) {
      return false;
    }
    const size_t n_whole = n_turns_ + loose_.turns.size() - before;
    if (n_whole == 0) return false;
    notes_.add_fault([&] {
      return "the file ends within " + (is_list_ ? place() : "the conversation") + ", after " +
             counted(n_whole, "whole message");
    });
    return true;
  }

  void read_value(const nlohmann::json& value, bool is_cut) {
    if (is_own_json(value)) return deliver(read_json_conversation(value, "", is_cut));
    const nlohmann::json& inside = conversations_in(value);
    if (inside.is_null() && !is_foreign_conversation(value)) return add_loose(value);
    if (inside.is_null()) return deliver(read_foreign_conversation(value, is_cut, notes_));
    for (const nlohmann::json& conversation : inside) {
      if (listener_.is_stopped()) return;
      deliver(is_own_json(conversation) ? read_json_conversation(conversation, "")
                                        : read_foreign_conversation(conversation, is_cut, notes_));
    }
  }

  // Messages that no conversation holds are one.
  void add_loose(const nlohmann::json& value) {
    const bool has_begun = is_foreign_message(value) || !loose_.turns.empty();
    if (!has_begun && value.is_object()) throw TransferError("", "", "has no 'messages'");
    if (loose_.created == 0) loose_.created = loose_.updated = store_time_now();
    const StoreTime created = time_in(value, {"created_at", "createdAt", "timestamp"}, loose_.created);
    append_message(loose_, read_foreign_message(value, notes_), created, notes_);
  }

  void deliver(ConversationTree tree) {
    n_turns_ += tree.turns.size();
    if (!tree.turns.empty() || !tree.system_prompt.empty()) listener_.on_conversation(std::move(tree));
  }

  std::string_view text_;
  const ImportListener& listener_;
  ImportNotes& notes_;
  ConversationTree loose_;
  size_t n_elements_ = 0, n_turns_ = 0;
  bool is_list_ = false, is_cut_ = false;
};

void read_markdown(std::string_view text, const std::string& name, const ImportListener& listener) {
  const bool is_own = is_own_markdown(text);
  is_own ? require_utf8(text, name) : require_text(text, name);
  ConversationTree tree = is_own ? read_markdown_conversation(text, name) : read_any_markdown(text);
  if (!tree.turns.empty() || !tree.system_prompt.empty()) listener.on_conversation(std::move(tree));
}

}  // namespace

ImportNotes read_conversations(std::string_view text, const std::string& name, const ImportListener& listener) {
  require_no_wrapping(text, name);
  text = without_byte_order_mark(text);
  if (trimmed(text).empty()) throw Error(name + ": the file is empty");
  size_t n_taken = 0;
  ImportListener counting = listener;
  counting.on_conversation = [&](ConversationTree tree) {
    ++n_taken;
    listener.on_conversation(std::move(tree));
  };
  ImportNotes notes;
  const char first = trimmed(text).front();
  if ((first == '{' || first == '[') && !name.ends_with(".md"))  // Markdown: a link
    JsonImport(without_cut_character(text), counting, notes).run();
  else
    read_markdown(text, name, counting);
  if (n_taken > 0 || listener.is_stopped()) return notes;
  const std::string why = notes.sentence();
  throw Error(name + ": " + (why.empty() || why.starts_with("left out") ? "no message found" : "") +
              (why.starts_with("left out") ? "; " : "") + why);
}

void export_conversation(const ConversationTree& tree, const std::string& path, bool replace) {
  const std::string text = text_for(tree, path);
  require_free(path, replace);
  write_file(path, text, OutputFile::Readers::kOwnerOrDevice);
}

size_t export_conversations(const ConversationStore& store, const std::vector<ConversationId>& ids,
                            const std::string& path, bool replace, const std::function<void(double)>& progress,
                            const std::function<bool()>& is_stopped) {
  if (ids.size() == 1) return export_conversation(store.tree(ids.front()), path, replace), 1;
  if (std::filesystem::path(path).extension() != ".json")
    throw Error("cannot export " + counted(ids.size(), "conversation") + " to " + path +
                ": several go to one JSON file; end its name in .json");
  require_free(path, replace);
  OutputFile file(path, OutputFile::Readers::kOwnerOrDevice);
  const auto write = [&](std::string_view text) { file.write(text.data(), text.size()); };
  for (size_t i = 0; i < ids.size(); ++i) {
    if (has_interrupt() || is_stopped()) return 0;
    throw_if_out_of_memory();
    write(i == 0 ? "[\n" : ",\n");
    write(trimmed(to_json(store.tree(ids[i]))));
    progress(static_cast<double>(i + 1) / static_cast<double>(ids.size()));
  }
  write("\n]\n");
  file.finish();
  return ids.size();
}

void import_conversations(ConversationStore& store, const std::string& path, Imported& imported,
                          const std::function<void(double)>& progress, const std::function<bool()>& is_stopped) {
  const auto stops = [&] { return has_interrupt() || is_stopped(); };
  KnownConversations known(store);
  StoreTime newest = 0;
  const auto store_one = [&](const ConversationTree& tree) {
    ConversationId id = known.find(tree);
    if (id != 0) {
      ++imported.n_known;
    } else {
      id = store.insert(tree, stops);
      if (id == 0) return;  // stopped
      imported.ids.push_back(id);
    }
    if (tree.updated >= newest) newest = tree.updated, imported.newest = id;
  };
  const std::string text = read_regular_file(path, kMaxImportBytes);
  imported.left_out = read_conversations(text, path, {store_one, progress, stops}).sentence();
}

}  // namespace warpchat
