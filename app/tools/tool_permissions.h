// Permissions that last: what the user has decided about a tool for all conversations. They lie in a file of the user's
// configuration, which nothing but the user's decisions writes, and hold for the very tool that was decided about.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/tools/tool.h"

namespace warpchat {

enum class Permission : uint8_t {
  kAsk,
  kConversation,  // always in this conversation
  kAlways,
  kNever,
};

std::string_view name_of(Permission permission);  // "ask", "conversation", "always", "never"

// A tool as it was when the user decided.
struct ToolRecord {
  std::string name;
  Permission permission = Permission::kAsk;
  std::string hash;           // of all that follows, and of the server's names
  std::string configuration;  // Tool::configuration
  std::string description;    // cut where it is very long, like the schema; the hash knows all of it
  std::string schema;         // JSON
};

ToolRecord record_of(const Tool& tool, Permission permission);

// How a tool differs from the record of its name.
struct ToolChange {
  ToolRecord before;
  bool configuration = false, description = false, schema = false;  // what differs
};

// The record of this very tool; else the newest of one with its name. records: the oldest first.
std::optional<ToolRecord> find_record(const std::vector<ToolRecord>& records, const Tool& tool);

std::optional<ToolChange> change_since(const ToolRecord& before, const Tool& tool);  // nullopt: it is the same
std::string about_change(const ToolChange& change);  // "its description has changed since you always allowed it"

// Other instances of this program may change the file at any time, and people may edit it: each call reads it.
class ToolPermissions {
 public:
  explicit ToolPermissions(std::string path) : path_(std::move(path)) {}
  static std::string usual_path();  // tool_permissions.json in the configuration; Error if there is no home

  const std::string& path() const { return path_; }

  std::vector<ToolRecord> all() const;  // the oldest first. Error: the file cannot be read

  // kAlways or kNever; kAsk removes all records of its name. In place of the record with its name and configuration,
  // so that the same server in two configurations can have both. Error: the file cannot be read or written; it is then
  // as it was.
  void set(const Tool& tool, Permission permission);
  void remove(const std::string& name);  // all records of it, also of a tool that is not there any more

 private:
  std::string path_;
};

}  // namespace warpchat
