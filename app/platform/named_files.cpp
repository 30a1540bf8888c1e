// Names with a slash or a leading dot never reach the disk.
#include "app/platform/named_files.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "app/platform/directories.h"
#include "app/platform/output.h"
#include "app/platform/program_name.h"
#include "app/platform/text/nearest_name.h"
#include "models/ascii.h"
#include "models/error.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat {

namespace {
constexpr size_t kMaxFileName = 64;  // bytes, without the extension
}

bool can_name_file(std::string_view text) {
  return !text.empty() && text.size() <= kMaxFileName && text[0] != '.' && text[0] != '-' && is_valid_utf8(text) &&
         std::ranges::none_of(text,
                              [](char c) { return c == '/' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::string NamedFiles::path() const { return config_directory() + "/" + std::string(folder); }

std::string NamedFiles::path_of(const std::string& name) const { return path() + "/" + name + std::string(extension); }

std::vector<std::string> NamedFiles::names() const {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(path(), error), end; !error && entry != end; entry.increment(error)) {
    const std::string file = entry->path().filename().string();
    if (!file.ends_with(extension)) continue;
    if (std::string name = file.substr(0, file.size() - extension.size()); can_name_file(name))
      names.push_back(std::move(name));
  }
  std::ranges::sort(names, {}, [](const std::string& name) { return std::pair(lower_case(name), name); });
  return names;
}

bool NamedFiles::has(const std::string& name) const {
  return can_name_file(name) && access(path_of(name).c_str(), F_OK) == 0;
}

void NamedFiles::require(const std::string& name) const {
  if (has(name)) return;
  const std::string called(noun);
  throw Error("there is no " + called + " '" + printable(name, kMaxFileName) + "'" +
              perhaps_meant(nearest_name(name, names())) + "; " + program_name() + " " + called + " list names all");
}

void NamedFiles::write(const std::string& name, std::string_view text) const {
  if (!can_name_file(name))
    throw Error("'" + printable(name, kMaxFileName) + "' cannot name the " + std::string(noun) +
                "; a name has 1 to 64 bytes without '/', and begins with neither '.' nor '-'");
  if (!make_private_directory(path())) throw Error("cannot create " + path());
  write_file(path_of(name), text, OutputFile::Readers::kOwner);
}

void NamedFiles::replace(const std::string& from, const std::string& name, std::string_view text) const {
  if (name != from && has(name)) {
    const std::string article = std::string_view("aeiou").find(noun[0]) == std::string_view::npos ? "a " : "an ";
    throw Error("there is " + article + std::string(noun) + " '" + printable(name, kMaxFileName) +
                "' already; choose another name");
  }
  write(name, text);
  if (name != from && has(from)) remove(from);
}

void NamedFiles::remove(const std::string& name) const {
  require(name);
  const std::string file = path_of(name);
  if (unlink(file.c_str()) != 0) throw Error("cannot remove " + file + ": " + std::strerror(errno));
}

}  // namespace warpchat
