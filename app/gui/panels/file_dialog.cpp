// Both dialogs answer the same question, and both answers end in the same actions.
#include "app/gui/panels/file_dialog.h"

#include <algorithm>

#include "app/platform/log.h"
#include "app/platform/output.h"
#include "app/platform/typed_path.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat::gui {

namespace {

using Purpose = FileDialog::Purpose;

FileQuestion question_of(Purpose purpose) {
  const FileFilter all{"All files", {}};
  switch (purpose) {
    case Purpose::kModel:
      return {.title = "Open a model",
              .button = "Open",
              .hint = "The GGUF file is used in place, not copied.",
              .filters = {{"Models", {".gguf"}}, all}};
    case Purpose::kImport:
      return {.title = "Import conversations",
              .button = "Import",
              .hint = "Markdown or JSON, also exports of other programs.",
              .filters = {{"Conversations", {".md", ".markdown", ".json", ".txt"}}, all}};
    case Purpose::kExport:
      return {.title = "Export conversation",
              .button = "Export",
              .hint = "Markdown: the visible conversation. JSON: all versions.",
              .filters = {{"Markdown", {".md", ".markdown"}}, {"JSON", {".json"}}},
              .saves = true};
    case Purpose::kAttach:
      return {.title = "Attach files",
              .button = "Attach",
              .hint = "They are sent with the next message. You can also drop files here.",
              .filters = {all},
              .several = true};
    case Purpose::kImportAssistants:
      return {.title = "Import assistants",
              .button = "Import",
              .hint = "An exported assistant, an Ollama Modelfile or presets of llama.cpp (INI).",
              .filters = {all}};
    case Purpose::kImportTools:
      return {.title = "Import MCP servers",
              .button = "Show",
              .hint = "An mcp.json; its servers are shown before they are started.",
              .filters = {{"JSON", {".json"}}, all}};
    case Purpose::kExportAssistant:
      return {.title = "Export assistant",
              .button = "Export",
              .hint = "The file can be imported again.",
              .filters = {{"JSON", {".json"}}},
              .saves = true};
  }
  return {};
}

// The name says the format, unless the user has chosen another filter than the one that was on.
std::string with_format(const std::string& path, const std::vector<FileFilter>& filters, size_t chosen) {
  const auto named =
      std::ranges::find_if(filters, [&](const FileFilter& filter) { return has_extension(path, filter); });
  if (has_extension(path, filters[chosen]) || (chosen == 0 && named != filters.end())) return path;
  const size_t stem = named == filters.end() ? path.size() : path.rfind('.');
  return path.substr(0, stem) + std::string(filters[chosen].extensions[0]);
}

}  // namespace

std::string export_name_for(std::string_view title, std::string_view extension) {
  constexpr size_t kLongestName = 60;
  std::string name;
  for (const char c : title.substr(0, kLongestName))
    name += c == '/' || c == '\\' || c == ':' || static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  while (!name.empty() && continues_character(name.back()) && title.size() > kLongestName) name.pop_back();
  if (title.size() > kLongestName && !name.empty() && static_cast<unsigned char>(name.back()) >= 0xC0) name.pop_back();
  while (name.ends_with(' ') || name.ends_with('.')) name.pop_back();
  while (name.starts_with(' ') || name.starts_with('.')) name.erase(0, 1);
  return (name.empty() ? "conversation" : name) + std::string(extension);
}

void FileDialog::ask(Purpose purpose, const OpenConversation& open, const std::string& window, Ui& ui) {
  purpose_ = purpose;
  conversation_ = open.id;
  question_ = question_of(purpose);
  question_.folder = recent_.empty() ? with_home_directory("~/") : recent_.front();
  exported_.clear();
  if (purpose == Purpose::kExport) question_.name = export_name_for(open.title);
  ask(window, ui);
}

void FileDialog::ask_to_export(std::vector<ConversationId> ids, const std::string& title, const std::string& window,
                               Ui& ui) {
  purpose_ = Purpose::kExport;
  question_ = question_of(purpose_);
  question_.folder = recent_.empty() ? with_home_directory("~/") : recent_.front();
  question_.name = export_name_for(title);
  if (ids.size() > 1) {
    question_.title = "Export " + counted(ids.size(), "conversation");
    question_.hint = "All versions of all messages; import reads the file again.";
    question_.filters = {{"JSON", {".json"}}};
    question_.name = "conversations.json";
  }
  exported_ = std::move(ids);
  ask(window, ui);
}

void FileDialog::ask_to_export_assistant(const std::string& name, const std::string& window, Ui& ui) {
  purpose_ = Purpose::kExportAssistant;
  question_ = question_of(purpose_);
  question_.folder = recent_.empty() ? with_home_directory("~/") : recent_.front();
  question_.name = export_name_for(name, ".json");
  assistant_ = name;
  ask(window, ui);
}

void FileDialog::ask(const std::string& window, Ui& ui) {
  browser_.close();
  if (uses_portal_ && FilePortal::may_be_there())
    portal_.ask(question_, window);
  else
    browse(ui);
}

void FileDialog::browse(Ui& ui) { browser_.open(question_, recent_, ui); }

bool FileDialog::take_news(Ui& ui) {
  const bool has_read = browser_.take_news();
  std::optional<PortalReply> reply = portal_.poll();
  if (!reply) return has_read;
  answer_ = std::move(reply->answer);
  if (reply->fault.empty()) return true;
  const std::string line =
      "using the window's own file dialog, because the desktop's failed: " + printable(reply->fault, 300);
  log_line(line);
  if (verbose_) write_error(line + "\n");
  uses_portal_ = false;
  answer_ = {};
  browse(ui);
  return true;
}

void FileDialog::draw(Frame& f) {
  if (!answer_.paths.empty()) apply(f, std::exchange(answer_, {}));
  if (std::optional<FileAnswer> answer = browser_.draw(f.ui)) apply(f, std::move(*answer));
}

void FileDialog::remember_folder_of(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  std::erase(recent_, folder);
  recent_.insert(recent_.begin(), folder);
  if (recent_.size() > kMaxRecentFolders) recent_.resize(kMaxRecentFolders);
}

void FileDialog::apply(Frame& f, FileAnswer answer) {
  for (std::string& path : answer.paths) {
    remember_folder_of(path);
    switch (purpose_) {
      case Purpose::kModel:
        f.actions.push(LoadModel{.path = std::move(path)});
        break;
      case Purpose::kImport:
        f.actions.push(ImportConversation{std::move(path)});
        break;
      case Purpose::kAttach:
        f.actions.push(AttachFile{std::move(path)});
        break;
      case Purpose::kImportAssistants:
        f.actions.push(ImportAssistants{std::move(path)});
        break;
      case Purpose::kImportTools:
        f.actions.push(ReadToolServers{std::move(path)});
        break;
      case Purpose::kExportAssistant: {
        const std::string file = with_format(path, question_.filters, answer.filter);
        f.actions.push(ExportAssistant{assistant_, file, answer.replaces && file == path});
        break;
      }
      case Purpose::kExport:
        if (exported_.empty() && conversation_ != 0 && f.state.open.id != conversation_)
          f.actions.push(OpenStored{conversation_});  // the desktop's dialog was slow
        const std::string named = with_format(path, question_.filters, answer.filter);
        f.actions.push(
            ExportConversation{named, answer.replaces && named == path, exported_});  // another was not asked about
        break;
    }
  }
  f.ui.set_focus("composer");
}

}  // namespace warpchat::gui
