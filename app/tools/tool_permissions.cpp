// {"tools": [{"name", "permission": "always" or "never", "hash", "configuration", "description", "schema"}]}. A schema
// is a text here, since it may be nested deeper than a file of ours. What has another form is left as it is.
#include "app/tools/tool_permissions.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/platform/directories.h"
#include "app/platform/file_lock.h"
#include "app/platform/output.h"
#include "app/platform/text_input.h"
#include "engine/untrusted_json.h"
#include "models/error.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

using nlohmann::ordered_json;

constexpr uint64_t kMaxFileBytes = 64 << 20;
constexpr size_t kMaxRecords = 1000, kMaxOfOneName = 8;
constexpr size_t kMaxKeptBytes = 16 << 10;  // of a description or schema
constexpr const char* kList = "tools";

std::string cut_text(const std::string& text) {
  return text.size() <= kMaxKeptBytes ? text : text.substr(0, character_start(text, kMaxKeptBytes));
}

std::string text_of(const ordered_json& entry, const char* member) {
  const auto found = entry.find(member);
  return found != entry.end() && found->is_string() ? found->get<std::string>() : "";
}

// nullopt: it is none.
std::optional<ToolRecord> read_record(const ordered_json& entry) {
  if (!entry.is_object()) return std::nullopt;
  const std::string permission = text_of(entry, "permission");
  const bool is_always = permission == name_of(Permission::kAlways);
  if (!is_always && permission != name_of(Permission::kNever)) return std::nullopt;
  return ToolRecord{.name = text_of(entry, "name"),
                    .permission = is_always ? Permission::kAlways : Permission::kNever,
                    .hash = text_of(entry, "hash"),
                    .configuration = text_of(entry, "configuration"),
                    .description = text_of(entry, "description"),
                    .schema = text_of(entry, "schema")};
}

ordered_json entry_of(const ToolRecord& record) {
  return {{"name", record.name},
          {"permission", name_of(record.permission)},
          {"hash", record.hash},
          {"configuration", record.configuration},
          {"description", record.description},
          {"schema", record.schema}};
}

ordered_json read_document(const std::string& path) {
  ordered_json document = {{kList, ordered_json::array()}};
  struct stat status;
  if (stat(path.c_str(), &status) != 0 && errno == ENOENT) return document;
  const std::string text = read_regular_file(path, kMaxFileBytes);
  ordered_json read;
  try {
    read = parse_untrusted_json<ordered_json>(text);
  } catch (const JsonError& error) {
    throw Error(path + ": " + error.what() + "; repair the file, or remove it to be asked about all tools again");
  }
  if (!read.is_object() || !read.contains(kList) || !read[kList].is_array())
    throw Error(path + ": permissions are an object with the list \"tools\"; repair the file, or remove it");
  return read;
}

// Reads the list, changes it and writes it, while no other process of this program can.
void change_list(const std::string& path, const std::function<void(ordered_json& list)>& change) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  if (!make_private_directory(folder)) throw Error("cannot create " + folder);
  const FileLock lock(path + ".lock");
  ordered_json document = read_document(path);
  change(document[kList]);
  write_file(behind_links(path), document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n",
             OutputFile::Readers::kOwner);
}

void erase_if(ordered_json& list, const std::function<bool(const ToolRecord&)>& matches) {
  for (size_t i = list.size(); i-- > 0;)
    if (const auto record = read_record(list[i]); record && matches(*record)) list.erase(i);
}

std::string hash_of(const Tool& tool) {
  return sha256_of_json({{"configuration", tool.configuration},
                         {"name", tool.name},
                         {"source", tool.source},
                         {"own_name", tool.own_name},
                         {"description", tool.description},
                         {"schema", tool.schema}});
}

}  // namespace

std::string_view name_of(Permission permission) {
  switch (permission) {
    case Permission::kAsk:
      return "ask";
    case Permission::kConversation:
      return "conversation";
    case Permission::kAlways:
      return "always";
    case Permission::kNever:
      return "never";
  }
  return "";
}

ToolRecord record_of(const Tool& tool, Permission permission) {
  return {.name = tool.name,
          .permission = permission,
          .hash = hash_of(tool),
          .configuration = tool.configuration,
          .description = cut_text(tool.description),
          .schema = cut_text(tool.schema.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))};
}

std::optional<ToolRecord> find_record(const std::vector<ToolRecord>& records, const Tool& tool) {
  const ToolRecord* found = nullptr;
  const std::string hash = hash_of(tool);
  for (const ToolRecord& record : records)
    if (record.name == tool.name && !(found != nullptr && found->hash == hash)) found = &record;
  return found != nullptr ? std::optional(*found) : std::nullopt;
}

std::optional<ToolChange> change_since(const ToolRecord& before, const Tool& tool) {
  const ToolRecord now = record_of(tool, before.permission);
  if (now.hash == before.hash) return std::nullopt;
  return ToolChange{.before = before,
                    .configuration = now.configuration != before.configuration,
                    .description = now.description != before.description,
                    .schema = now.schema != before.schema};
}

std::string about_change(const ToolChange& change) {
  std::vector<std::string> parts;
  if (change.configuration) parts.push_back("its configuration");
  if (change.description) parts.push_back("its description");
  if (change.schema) parts.push_back("the schema of its arguments");
  if (parts.empty()) parts.push_back("its declaration");
  const char* decided = change.before.permission == Permission::kNever          ? "forbade it"
                        : change.before.permission == Permission::kConversation ? "allowed it in this conversation"
                                                                                : "always allowed it";
  return word_list(parts, " and ") + (parts.size() > 1 ? " have" : " has") + " changed since you " + decided;
}

std::string ToolPermissions::usual_path() { return config_directory() + "/tool_permissions.json"; }

std::vector<ToolRecord> ToolPermissions::all() const {
  std::vector<ToolRecord> records;
  const ordered_json document = read_document(path_);
  for (const ordered_json& entry : document[kList])
    if (std::optional<ToolRecord> record = read_record(entry)) records.push_back(std::move(*record));
  return records;
}

void ToolPermissions::set(const Tool& tool, Permission permission) {
  if (permission == Permission::kAsk) return remove(tool.name);
  const ToolRecord record = record_of(tool, permission);
  change_list(path_, [&](ordered_json& list) {
    erase_if(list, [&](const ToolRecord& other) {
      return other.name == record.name && other.configuration == record.configuration;
    });
    size_t n_same = 0;
    for (const ordered_json& entry : list)
      if (const auto other = read_record(entry); other && other->name == record.name) ++n_same;
    erase_if(list, [&](const ToolRecord& other) {  // from the newest on
      return other.name == record.name && n_same >= kMaxOfOneName && n_same-- > 0;
    });
    if (list.size() >= kMaxRecords)
      throw Error(path_ + " has permissions for " + grouped(kMaxRecords) + " tools, which is the limit; remove some");
    list.push_back(entry_of(record));
  });
}

void ToolPermissions::remove(const std::string& name) {
  struct stat status;
  if (stat(path_.c_str(), &status) != 0 && errno == ENOENT) return;
  change_list(path_, [&](ordered_json& list) {
    erase_if(list, [&](const ToolRecord& record) { return record.name == name; });
  });
}

}  // namespace warpchat
