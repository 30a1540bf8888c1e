// Files are read when they are attached, so that what is sent is what was counted.
#include "app/desk/attachments.h"

#include <filesystem>
#include <utility>

#include "app/text_input.h"

namespace warpchat {

namespace {

size_t n_tokens(const ModelDesk& models, const AttachedFile& file) {
  return models.count(text_for_model({.role = "user", .files = {file}}));
}

}  // namespace

void Attachments::add(const std::string& path) {
  try {
    const std::string text = read_regular_file(path, kMostAttachedBytes);
    require_text(text, path);
    if (text.empty()) throw Error(path + " is empty: there is nothing to attach");
    const std::string name = std::filesystem::path(path).filename().string();
    files_.push_back({{path, name, n_tokens(models_, {name, text})}, text});
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
  for (File& file : files_) file.shown.n_tokens = n_tokens(models_, {file.shown.name, file.text});
  show();
}

std::vector<AttachedFile> Attachments::files() const {
  std::vector<AttachedFile> files;
  for (const File& file : files_) files.push_back({file.shown.name, file.text});
  return files;
}

void Attachments::clear() {
  if (files_.empty()) return;
  files_.clear();
  show();
}

void Attachments::show() {
  std::vector<Attachment> shown;
  for (const File& file : files_) shown.push_back(file.shown);
  board_.change(updates::SetAttachments{std::move(shown)});
}

}  // namespace warpchat
