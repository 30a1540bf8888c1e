// Each of the two files has a lock file beside it, because the file itself is replaced.
#include "app/model_choice/model_book.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/platform/directories.h"
#include "app/platform/log.h"
#include "app/platform/output.h"
#include "app/platform/text_input.h"
#include "app/platform/typed_path.h"
#include "engine/untrusted_json.h"
#include "models/error.h"
#include "models/text_format.h"

namespace warpchat {

namespace fs = std::filesystem;

namespace {

using nlohmann::ordered_json;

constexpr uint64_t kMaxModelBookBytes = 1 << 20;
constexpr size_t kMaxOpened = 50, kLongestAlias = 64, kLongestPath = 4096;

// Held while a file is read and written again. Where it cannot be had, the file is written all the same: a lost entry
// is better than a refusal.
class BookLock {
 public:
  explicit BookLock(const std::string& file)
      : descriptor_(open((file + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
    constexpr std::chrono::milliseconds kBetweenTries{20};
    constexpr int kTries = 250;
    for (int i = 0; i < kTries && descriptor_ >= 0; ++i) {
      if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR)) return;
      std::this_thread::sleep_for(kBetweenTries);
    }
  }
  ~BookLock() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  BookLock(const BookLock&) = delete;
  BookLock& operator=(const BookLock&) = delete;

 private:
  int descriptor_;
};

bool is_folder_text(const std::string& text) { return text.starts_with('/') || text == "~" || text.starts_with("~/"); }

struct BookFile {
  ordered_json json = ordered_json::object();
  ModelBook book;
};

void note_fault(ModelBook& book, const std::string& fault) {
  if (book.fault.empty()) book.fault = "in " + model_book_path() + ", " + fault;
}

void read_folders(const ordered_json& value, ModelBook& book) {
  if (!value.is_array()) return note_fault(book, "'folders' is not a list of folders, so it is ignored");
  for (const ordered_json& folder : value) {
    if (folder.is_string() && is_folder_text(folder.get<std::string>()))
      book.folders.push_back(folder);
    else
      note_fault(book, "the folder " + printable(folder.dump(-1, ' ', false, ordered_json::error_handler_t::replace)) +
                           " is not a path from / or ~, so it is ignored");
  }
}

void read_aliases(const ordered_json& value, ModelBook& book) {
  if (!value.is_object()) return note_fault(book, "'aliases' is not an object with names, so it is ignored");
  for (const auto& [name, target] : value.items()) {
    if (is_alias(name) && target.is_string() && !target.get<std::string>().empty())
      book.aliases[name] = target;
    else
      note_fault(book, "the alias '" + printable(name) + "' is not a name with a model, so it is ignored");
  }
}

BookFile read_book_file(const std::string& path) {
  BookFile file;
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return file;
  std::string text;
  try {
    text = read_regular_file(path, kMaxModelBookBytes);
    ordered_json json = parse_untrusted_json<ordered_json>(text);
    if (!json.is_object()) throw Error("it is not a JSON object");
    file.json = std::move(json);
  } catch (const JsonError& error) {
    const auto line = 1 + std::ranges::count(text.substr(0, error.byte), '\n');
    file.book.fault =
        path + " is ignored: " + error.what() + ", line " + std::to_string(line) + "; repair or delete it";
    return file;
  } catch (const Error& error) {
    file.book.fault = path + " is ignored: " + error.what() + "; repair or delete it";
    return file;
  }
  if (const auto folders = file.json.find("folders"); folders != file.json.end()) read_folders(*folders, file.book);
  if (const auto aliases = file.json.find("aliases"); aliases != file.json.end()) read_aliases(*aliases, file.book);
  return file;
}

std::string opened_file() { return state_directory() + "/opened_models"; }

std::vector<std::string> read_opened() {
  std::vector<std::string> paths;
  std::ifstream file(opened_file());
  for (std::string line; paths.size() < kMaxOpened && std::getline(file, line);)
    if (line.starts_with('/') && line.size() <= kLongestPath) paths.push_back(line);
  return paths;
}

void change_opened(const std::function<void(std::vector<std::string>&)>& change) try {
  if (!make_private_directory(state_directory())) return;
  const BookLock lock(opened_file());
  std::vector<std::string> paths = read_opened();
  const std::vector<std::string> before = paths;
  change(paths);
  if (paths == before) return;
  if (paths.size() > kMaxOpened) paths.resize(kMaxOpened);
  std::string text;
  for (const std::string& path : paths) text += path + "\n";
  write_file(opened_file(), text, OutputFile::Readers::kOwner);
} catch (const Error& fault) {
  log_line(fault.what());
}

}  // namespace

std::string model_book_path() { return config_directory() + "/models.json"; }

ModelBook read_model_book() try {
  return read_book_file(model_book_path()).book;
} catch (const Error& error) {  // there is no home directory
  return {.folders = {}, .aliases = {}, .fault = error.what()};
}

void change_model_book(const std::function<void(ModelBook&)>& change) {
  if (!make_private_directory(config_directory())) throw Error("cannot create " + config_directory());
  const BookLock lock(model_book_path());
  BookFile file = read_book_file(model_book_path());
  if (!file.book.fault.empty()) throw Error("nothing was changed: " + file.book.fault);
  change(file.book);
  file.json["folders"] = file.book.folders;
  file.json["aliases"] = ordered_json::object();
  for (const auto& [name, target] : file.book.aliases) file.json["aliases"][name] = target;
  write_file(model_book_path(), file.json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

void add_model_folder(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error))
    throw Error(printable(path, 400) + " is not a folder; name one that has model files in it");
  change_model_book([&](ModelBook& book) {
    const bool is_known = std::ranges::any_of(book.folders, [&](const std::string& known) {
      return fs::equivalent(with_home_directory(known), path, error);
    });
    if (is_known) throw Error(printable(path, 400) + " is searched for models already");
    book.folders.push_back(path);
  });
}

bool is_alias(const std::string& text) {
  return !text.empty() && text.size() <= kLongestAlias && text.front() != '-' && text.front() != '.' &&
         text.find_first_of(" \t\r\n/\\") == std::string::npos && printable(text, kLongestAlias) == text;
}

std::vector<std::string> opened_models() try {
  std::vector<std::string> paths = read_opened();
  std::error_code error;
  std::erase_if(paths, [&](const std::string& path) { return !fs::is_regular_file(path, error); });
  return paths;
} catch (const Error&) {  // there is no home directory
  return {};
}

void note_opened_model(const std::string& path) {
  std::error_code error;
  const std::string whole = fs::absolute(path, error).lexically_normal().string();
  if (error || whole.find('\n') != std::string::npos) return;
  change_opened([&](std::vector<std::string>& paths) {
    std::erase(paths, whole);
    paths.insert(paths.begin(), whole);
  });
}

void forget_opened_model(const std::string& path) {
  change_opened([&](std::vector<std::string>& paths) { std::erase(paths, path); });
}

}  // namespace warpchat
