// Whether a call of a tool may be made: the rules, without a user interface.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/tools/tool.h"
#include "app/tools/tool_permissions.h"

namespace warpchat {

// What --approve names.
struct ApprovedNames {
  bool all = false;
  std::set<std::string, std::less<>> names = {};

  // "all", "none", or whole names with commas. UsageError, one sentence: anything else.
  static ApprovedNames parse(std::string_view text);
};

struct Decision {
  enum class Verdict : uint8_t { kAllow, kAsk, kDeny };
  enum class Reason : uint8_t {
    kApproved,      // kAllow: by --approve
    kConversation,  // kAllow, kDeny: by the user, in this conversation
    kLasting,       // kAllow, kDeny: by the user, for all conversations
    kUndecided,     // kAsk, kDeny: nothing has been decided; denied where there is no user to ask
    kChanged,       // kAsk, kDeny: the tool is not what it was when the user decided: `change`
    kUnknown,       // kAsk, kDeny: the file of lasting permissions cannot be read: `fault`
  };
  Verdict verdict = Verdict::kDeny;
  Reason reason = Reason::kUndecided;
  std::optional<ToolChange> change = {};
  std::string fault = {};
};

std::string why_asked(const Decision& decision);  // part of a sentence; empty: nothing was decided yet

// For one conversation. The first rule that applies decides:
// 1. What the user has forbidden, for this conversation or for all, is denied.
// 2. What --approve names is allowed; `all` names whatever is not forbidden, not even in another state of the tool.
// 3. A tool that has changed since the user allowed or forbade it is asked about.
// 4. What the user has allowed in this conversation is allowed, and what for all conversations where there is a user to
//    ask: scripts approve by name alone.
// 5. Everything else is asked about. Where there is no user to ask, what is to be asked about is denied.
class Approval {
 public:
  // can_ask: there is a user at a terminal or a window. lasting: may be null, and else outlives this.
  Approval(ApprovedNames approved, bool can_ask, ToolPermissions* lasting)
      : approved_(std::move(approved)), can_ask_(can_ask), lasting_(lasting) {}

  Decision decide(const Tool& tool) const;
  std::vector<Permission> permissions(const std::vector<Tool>& tools) const;  // of these very tools

  // What the user has chosen for a tool. The sentence if kAlways or kNever could not be stored, and holds in this
  // conversation alone; else empty. Error: kAsk, and the lasting permission cannot be removed.
  std::string set(const Tool& tool, Permission permission);

 private:
  // What was decided about the tool's name, for the conversation before what lasts: the given records.
  std::optional<ToolRecord> find(const std::vector<ToolRecord>& records, const Tool& tool) const;
  std::vector<ToolRecord> lasting_records() const;  // Error: the file cannot be read

  const ApprovedNames approved_;
  const bool can_ask_;
  ToolPermissions* const lasting_;
  std::map<std::string, ToolRecord, std::less<>> conversation_;  // by name
};

}  // namespace warpchat
