// Opens the store, guards its use, and publishes lists only when they differ.
#include "app/chat/library.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "app/formats/conversation_query.h"
#include "app/platform/directories.h"

namespace warpchat {

namespace {

constexpr std::chrono::seconds kBetweenStoreLooks{3};

const std::string kNotDamagedAnyMore =
    "the stored conversations were damaged; another program has repaired or replaced them";

ConversationStore::Opened open_on_disk() {
  const std::string folder = data_directory();
  if (!make_private_directory(folder))
    throw Error("cannot create the folder " + folder + "; check its permissions or free some space");
  return ConversationStore::open(folder);
}

// Null: there is nothing to read, or it cannot be read either.
std::unique_ptr<ConversationStore> readable_copy() {
  try {
    return ConversationStore::copy_of_read_only(data_directory());
  } catch (const std::exception&) {
    return nullptr;
  }
}

// Every folder is a group of its own, so that none is empty because others have newer conversations.
ConversationLists read_lists(const ConversationStore& store, ConversationOrder order, uint32_t limit) {
  ConversationLists lists{.trash = store.trash(limit), .folders = store.folders(), .order = order, .limit = limit};
  const auto add = [&](std::vector<ConversationSummary>& list, ConversationFilter filter) {
    filter.order = order;
    std::vector<ConversationSummary> more = store.list(limit, filter);
    lists.has_more |= more.size() == limit;
    std::ranges::move(more, std::back_inserter(list));
  };
  for (const bool archived : {false, true}) {
    auto& list = archived ? lists.archived : lists.conversations;
    add(list, {.archived = archived, .pinned = true});
    for (const NameCount& folder : lists.folders)
      add(list, {.archived = archived, .folder = folder.name, .pinned = false});
    add(list, {.archived = archived, .folder = "", .pinned = false});
  }
  lists.has_more |= lists.trash.size() == limit;
  return lists;
}

}  // namespace

void Library::open(bool keeps) {
  std::string fault = "--no-history was given";
  if (keeps) {
    try {
      ConversationStore::Opened opened = open_on_disk();
      others_changes_ = opened.store->others_changes();
      store_ = std::move(opened.store);
      on_disk_ = true;
      if (!opened.notice.empty()) state_.tell_error(opened.notice);
    } catch (const std::exception& error) {
      fault = error.what();
      store_ = readable_copy();
      state_.tell_error(fault +
                        (store_ == nullptr
                             ? "; conversations are lost when this program ends"
                             : "; stored conversations can be read, but what is new or changed is lost when this "
                               "program ends"));
    }
  }
  if (!on_disk_) use_memory(fault);
  refresh();
}

void Library::use_memory(const std::string& fault) {
  on_disk_ = false;
  if (store_ == nullptr) store_ = ConversationStore::in_memory();
  state_.change(updates::SetStoreFault{fault});
}

// Opening sets the damaged file aside, unless another process has done so.
void Library::begin_anew() {
  constexpr const char* kGoesOn = "; the open conversation continues in the new file";
  store_.reset();
  try {
    ConversationStore::Opened opened = open_on_disk();
    others_changes_ = opened.store->others_changes();
    store_ = std::move(opened.store);
    state_.tell_error((opened.notice.empty() ? kNotDamagedAnyMore : opened.notice) + kGoesOn);
  } catch (const std::exception& error) {
    state_.tell_error(std::string(error.what()) + "; conversations are lost when this program ends");
    use_memory(error.what());
  }
  left_();
}

bool Library::try_to(const std::function<void(ConversationStore&)>& action) {
  try {
    action(*store_);
    return true;
  } catch (const DamagedDatabase&) {
    begin_anew();
    return false;
  } catch (const std::exception& error) {
    state_.tell_error(error.what());
    return false;
  }
}

bool Library::keep(const std::function<void(ConversationStore&)>& action, std::chrono::milliseconds patience) {
  const bool failed_before = on_disk_ && !state_.now().store_fault.empty();
  try {
    if (!store_->is_sound()) begin_anew();
    try {
      const ConversationStore::Patience with_others(*store_, patience);
      action(*store_);
    } catch (const DamagedDatabase&) {
      begin_anew();
      action(*store_);
    }
    if (failed_before) {
      state_.change(updates::SetStoreFault{""});
      state_.tell("conversations are stored again");
    }
    return true;
  } catch (const std::exception& error) {
    if (!failed_before)
      state_.tell_error(std::string(error.what()) +
                        "; the conversation goes on and is stored as soon as that works again");
    if (on_disk_) state_.change(updates::SetStoreFault{error.what()});
    return false;
  }
}

void Library::refresh() {
  try_to([&](ConversationStore& store) {
    ConversationLists lists = read_lists(store, state_.now().order, state_.now().limit);
    if (lists == state_.now()) return;
    state_.change(updates::SetConversations{std::move(lists)});
    if (const auto& shown = state_.now().search) search(std::string(shown->words), shown->limit);
  });
}

void Library::list(ConversationOrder order, uint32_t limit) {
  try_to([&](ConversationStore& store) { state_.change(updates::SetConversations{read_lists(store, order, limit)}); });
}

void Library::search(const std::string& words, uint32_t limit) {
  if (words.empty()) {
    if (state_.now().search) state_.change(updates::SetSearch{std::nullopt});
    return;
  }
  try_to([&](ConversationStore& store) {
    const ConversationQuery query = parse_query(words);
    SearchResults results{words, query.words, store.search(query.words, query.filter, limit + 1), limit};
    if (query.has_filter && query.words.empty())
      for (ConversationSummary& found : store.list(limit + 1, query.filter))
        results.hits.push_back({std::move(found), 0, ""});
    results.has_more = results.hits.size() > limit;
    if (results.has_more) results.hits.pop_back();
    const std::optional<SearchResults>& shown = state_.now().search;
    if (shown == results) return;
    state_.change(updates::SetSearch{std::move(results)});
  });
}

bool Library::others_have_changed_it() {
  const Clock::time_point now = Clock::now();
  if (!on_disk_ || now - looked_at_ < kBetweenStoreLooks) return false;
  looked_at_ = now;
  bool changed = false;
  try {
    const int64_t changes = store_->others_changes();
    changed = std::exchange(others_changes_, changes) != changes;
  } catch (const std::exception&) {
    return false;  // a failing store is reported when it is next used
  }
  if (changed) refresh();
  return changed;
}

}  // namespace warpchat
