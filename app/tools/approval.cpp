#include "app/tools/approval.h"

#include <algorithm>

#include "app/platform/usage_error.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using Verdict = Decision::Verdict;
using Reason = Decision::Reason;

bool is_tool_name(std::string_view name) {
  constexpr size_t kMaxNameBytes = 64;
  return !name.empty() && name.size() <= kMaxNameBytes &&
         std::ranges::all_of(name, [](char c) { return is_word_character(c) || c == '-'; });
}

}  // namespace

std::string why_asked(const Decision& decision) {
  return decision.change ? about_change(*decision.change) : decision.fault;
}

ApprovedNames ApprovedNames::parse(std::string_view text) {
  ApprovedNames approved;
  const std::string_view whole = trimmed(text);
  if (whole == "all") return {.all = true};
  if (whole == "none") return {};
  for (size_t at = 0; at <= whole.size();) {
    const size_t comma = std::min(whole.find(',', at), whole.size());
    const std::string_view name = trimmed(whole.substr(at, comma - at));
    if (name == "all" || name == "none")
      throw UsageError("--approve has '" + std::string(name) + "' together with names; give one of them");
    if (!is_tool_name(name))
      throw UsageError("--approve has '" + printable(name) +
                       "', which is no name of a tool; it takes all, none, or whole names such as files__read_file, "
                       "with commas between them");
    approved.names.emplace(name);
    at = comma + 1;
  }
  return approved;
}

std::vector<ToolRecord> Approval::lasting_records() const {
  return lasting_ != nullptr ? lasting_->all() : std::vector<ToolRecord>();
}

std::optional<ToolRecord> Approval::find(const std::vector<ToolRecord>& records, const Tool& tool) const {
  std::optional<ToolRecord> lasting = find_record(records, tool);
  if (lasting && lasting->permission == Permission::kNever && !change_since(*lasting, tool)) return lasting;
  const auto here = conversation_.find(tool.name);
  if (here == conversation_.end()) return lasting;
  // Where both are about another state of the tool, or only the lasting one is about this.
  if (lasting && change_since(here->second, tool) && !change_since(*lasting, tool)) return lasting;
  return here->second;
}

Decision Approval::decide(const Tool& tool) const {
  const bool is_named = approved_.names.contains(tool.name);
  const Verdict otherwise = can_ask_ ? Verdict::kAsk : Verdict::kDeny;
  std::optional<ToolRecord> record;
  try {
    record = find(lasting_records(), tool);
  } catch (const Error& error) {
    if (is_named) return {Verdict::kAllow, Reason::kApproved};
    return {otherwise, Reason::kUnknown, {}, error.what()};
  }
  std::optional<ToolChange> change;
  if (record) change = change_since(*record, tool);
  const bool is_here = record && conversation_.contains(tool.name) && conversation_.at(tool.name).hash == record->hash;
  const Reason by_user = is_here ? Reason::kConversation : Reason::kLasting;
  if (record && !change && record->permission == Permission::kNever) return {Verdict::kDeny, by_user};
  const bool was_forbidden = record && record->permission == Permission::kNever;
  if (is_named || (approved_.all && !was_forbidden)) return {Verdict::kAllow, Reason::kApproved};
  if (change) return {otherwise, Reason::kChanged, std::move(change)};
  if (record && (is_here || can_ask_)) return {Verdict::kAllow, by_user};
  return {otherwise, Reason::kUndecided};
}

std::vector<Permission> Approval::permissions(const std::vector<Tool>& tools) const {
  std::vector<Permission> permissions(tools.size(), Permission::kAsk);
  try {
    const std::vector<ToolRecord> records = lasting_records();
    for (size_t i = 0; i < tools.size(); ++i)
      if (const std::optional<ToolRecord> record = find(records, tools[i]); record && !change_since(*record, tools[i]))
        permissions[i] = record->permission;
  } catch (const Error&) {  // every call asks then, and says why
  }
  return permissions;
}

std::string Approval::set(const Tool& tool, Permission permission) {
  conversation_.erase(tool.name);
  if (permission == Permission::kConversation) {
    conversation_[tool.name] = record_of(tool, permission);
    return "";
  }
  try {
    if (lasting_ != nullptr) lasting_->set(tool, permission);
    if (lasting_ != nullptr || permission == Permission::kAsk) return "";
    conversation_[tool.name] = record_of(tool, permission);
    return "there is no file for lasting permissions; this one holds in this conversation";
  } catch (const Error& error) {
    if (permission == Permission::kAsk) throw;
    conversation_[tool.name] = record_of(tool, permission);
    return std::string(error.what()) + "; the permission holds in this conversation";
  }
}

}  // namespace warpchat
