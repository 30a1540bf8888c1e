// Files are read when they are attached, so that what is sent is what was counted.
#include "app/gui/worker/attachments.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/text_input.h"

namespace warpchat::gui {

namespace {

size_t longest_run(const std::string& text, char wanted) {
  size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == wanted ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

}  // namespace

std::string as_code_block(const std::string& name, const std::string& text) {
  const std::string fence(std::max<size_t>(3, longest_run(text, '`') + 1), '`');
  return name + ":\n\n" + fence + "\n" + text + (text.ends_with('\n') ? "" : "\n") + fence + "\n";
}

void Attachments::add(const std::string& path) {
  try {
    const std::string text = read_regular_file(path, kMostAttachedBytes);
    require_utf8(text, path);
    if (text.empty()) throw Error(path + " is empty: there is nothing to attach");
    const std::string name = std::filesystem::path(path).filename().string();
    File file{{path, name, 0}, as_code_block(name, text)};
    file.shown.n_tokens = models_.count(file.text);
    files_.push_back(std::move(file));
    show();
  } catch (const std::exception& error) {
    board_.tell_error(error.what());
  }
}

void Attachments::drop(size_t index) {
  if (index >= files_.size()) return;
  files_.erase(files_.begin() + static_cast<std::ptrdiff_t>(index));
  show();
}

void Attachments::count() {
  if (files_.empty()) return;
  for (File& file : files_) file.shown.n_tokens = models_.count(file.text);
  show();
}

std::string Attachments::put_before(const std::string& message) {
  std::string text;
  for (const File& file : files_) text += file.text + "\n";
  if (!files_.empty()) {
    files_.clear();
    show();
  }
  return text + message;
}

void Attachments::show() {
  std::vector<Attachment> shown;
  for (const File& file : files_) shown.push_back(file.shown);
  board_.change(updates::set_attachments(std::move(shown)));
}

}  // namespace warpchat::gui
