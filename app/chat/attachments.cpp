// Files are read when they are attached, so that the tokens counted are the tokens sent.
#include "app/chat/attachments.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

namespace warpchat {

Attachments::Attachments(StateStore& state, const ModelController& models, const std::function<void(Task)>& post)
    : state_(state),
      models_(models),
      reader_([this, post](FileReader::File file) { post([this, file = std::move(file)] { attach(file); }); }) {}

void Attachments::add(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  files_.push_back({++last_id_, {.path = path, .name = name, .is_read = false}, ""});
  show();
  reader_.read(last_id_, path);
}

// The file may belong to a conversation that is no longer shown.
void Attachments::attach(FileReader::File read) {
  read.fault.empty() ? state_.forget_errors_about(read.path) : state_.tell_error_about(read.path, read.fault);
  take_in(files_, read);
  for (auto& [conversation, files] : others_) take_in(files, read);
  show();
}

void Attachments::take_in(std::vector<File>& files, FileReader::File& read) {
  const auto file = std::ranges::find(files, read.id, &File::id);
  if (file == files.end()) return;
  if (!read.fault.empty()) return void(files.erase(file));
  file->text = std::move(read.text);
  file->shown.bytes = file->text.size();
  file->shown.is_read = true;
  count(*file);
}

void Attachments::drop(size_t index) {
  if (index >= files_.size()) return;
  reader_.cancel(files_[index].id);
  files_.erase(files_.begin() + static_cast<std::ptrdiff_t>(index));
  show();
}

void Attachments::cancel() {
  for (size_t i = files_.size(); i-- > 0;)
    if (!files_[i].shown.is_read) drop(i);
}

bool Attachments::are_read() const {
  return std::ranges::all_of(files_, [](const File& file) { return file.shown.is_read; });
}

void Attachments::count(File& file) const {
  if (file.shown.is_read)
    file.shown.n_tokens = models_.count(text_for_model({.role = "user", .files = {{file.shown.name, file.text}}}));
}

void Attachments::count() {
  for (File& file : files_) count(file);
  for (auto& [conversation, files] : others_)
    for (File& file : files) count(file);
  show();
}

std::vector<AttachedFile> Attachments::files() const {
  std::vector<AttachedFile> files;
  for (const File& file : files_)
    files.push_back({file.shown.name, file.text, static_cast<uint32_t>(file.shown.n_tokens)});
  return files;
}

void Attachments::clear() {
  files_.clear();
  show();
}

void Attachments::put_back(const std::vector<AttachedFile>& files, TurnId turn) {
  std::vector<File> back;
  for (const AttachedFile& file : files) {
    back.push_back({++last_id_, {.name = file.name, .bytes = file.text.size()}, file.text, turn});
    count(back.back());
  }
  files_.insert(files_.begin(), std::make_move_iterator(back.begin()), std::make_move_iterator(back.end()));
  show();
}

void Attachments::drop_files_of(TurnId turn) {
  if (std::erase_if(files_, [&](const File& file) { return turn != 0 && file.put_back_from == turn; }) > 0) show();
}

void Attachments::change_conversation(ConversationId from, ConversationId to) {
  if (from == to) return;
  if (!files_.empty()) others_[from] = std::exchange(files_, {});
  if (const auto theirs = others_.find(to); theirs != others_.end()) {
    files_ = std::move(theirs->second);
    others_.erase(theirs);
  }
  show();
}

void Attachments::show() {
  std::vector<Attachment> shown;
  for (const File& file : files_) shown.push_back(file.shown);
  if (shown != state_.now().attachments) state_.change(updates::SetAttachments{std::move(shown)});
}

}  // namespace warpchat
