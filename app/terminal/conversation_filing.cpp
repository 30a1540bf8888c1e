// The commands that say where a conversation is put: pins, the archive, folders, tags.
#include <algorithm>

#include "app/formats/conversation_query.h"
#include "app/platform/output.h"
#include "app/terminal/conversation.h"
#include "app/terminal/conversation_list.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

std::vector<ConversationId> ids_of(const std::vector<ConversationSummary>& conversations) {
  std::vector<ConversationId> ids;
  for (const ConversationSummary& conversation : conversations) ids.push_back(conversation.id);
  return ids;
}

// The only one's title, or their number.
std::string named(const std::vector<ConversationSummary>& conversations) {
  return conversations.size() == 1 ? printable(conversations.front().title, kMaxNameBytes)
                                   : counted(conversations.size(), "conversation");
}

std::string checked_name(const std::string& name, const std::string& command) {
  if (name.empty() || name.size() > kMaxNameBytes)
    throw Error(command + " takes a name of 1 to " + std::to_string(kMaxNameBytes) + " bytes");
  return name;
}

}  // namespace

std::vector<ConversationSummary> Conversation::wanted_ones(const std::string& wanted) {
  if (wanted.empty() && open().id == 0) throw Error("there is no message yet; name a conversation by its number");
  const std::vector<ConversationId> ids = wanted.empty() ? std::vector{open().id} : all_listed(wanted);
  std::vector<ConversationSummary> found;
  look([&](const ConversationStore& store) {
    for (const ConversationId id : ids)
      if (std::optional<ConversationSummary> conversation = store.summary(id))
        found.push_back(std::move(*conversation));
  });
  return found;
}

// The second time takes it back.
void Conversation::pin(const std::string& wanted) {
  const std::vector<ConversationSummary> ones = wanted_ones(wanted);
  const bool on = !std::ranges::all_of(ones, [](const auto& one) { return one.filing.pinned; });
  if (act(FileConversations{ids_of(ones), {.pinned = on}})) say((on ? "pinned: " : "no longer pinned: ") + named(ones));
}

void Conversation::archive(const std::string& wanted) {
  const std::vector<ConversationSummary> ones = wanted_ones(wanted);
  const bool on = !std::ranges::all_of(ones, [](const auto& one) { return one.filing.archived; });
  if (!act(FileConversations{ids_of(ones), {.archived = on}})) return;
  say((on ? "archived: " : "no longer archived: ") + named(ones) + (on ? "\n/list archived shows the archive" : ""));
}

void Conversation::move_to_folder(const std::string& wanted) {
  if (wanted.empty()) return list_names_of(Names::kFolders);
  const auto [name, rest] = parse_name(wanted);
  const std::string folder = name == "-" ? "" : checked_name(name, "/folder");
  const std::vector<ConversationSummary> ones = wanted_ones(rest);
  if (!act(FileConversations{ids_of(ones), {.folder = folder}})) return;
  say(folder.empty() ? "in no folder: " + named(ones) : "in " + printable(folder, kMaxNameBytes) + ": " + named(ones));
}

// Like a pin: the second time takes it off.
void Conversation::tag(const std::string& wanted) {
  if (wanted.empty()) return list_names_of(Names::kTags);
  const auto [name, rest] = parse_name(wanted);
  const std::string tag = checked_name(name.starts_with('#') ? name.substr(1) : name, "/tag");
  const std::vector<ConversationSummary> ones = wanted_ones(rest);
  const auto has_it = [&](const ConversationSummary& one) {
    return std::ranges::any_of(one.filing.tags, [&](const std::string& t) { return lower_case(t) == lower_case(tag); });
  };
  const bool on = !std::ranges::all_of(ones, has_it);
  FilingChange change;
  (on ? change.add_tags : change.remove_tags) = {tag};
  if (act(FileConversations{ids_of(ones), change}))
    say((on ? "tagged #" : "no longer tagged #") + printable(tag, kMaxNameBytes) + ": " + named(ones));
}

void Conversation::list_names_of(Names which) {
  const bool folders = which == Names::kFolders;
  std::vector<NameCount> found;
  if (!look([&](const ConversationStore& store) { found = folders ? store.folders() : store.tags(); })) return;
  if (found.empty())
    return say(folders ? "there is no folder; /folder NAME moves this conversation to one"
                       : "there is no tag; /tag NAME gives this conversation one");
  write_text(list_names(found));
  say(folders ? "(/list folder:NAME lists one)" : "(/list tag:NAME lists the conversations with one)");
}

}  // namespace warpchat
