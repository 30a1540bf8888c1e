// Opens the store, guards its use, and publishes lists only when they differ.
#include "app/chat/library.h"

#include <utility>

#include "app/directories.h"

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
    std::vector<ConversationSummary> conversations = store.list(), trash = store.trash();
    if (conversations == state_.now().conversations && trash == state_.now().trash) return;
    state_.change(updates::SetConversations{std::move(conversations), std::move(trash)});
    if (state_.now().search) search(state_.now().search->words);
  });
}

void Library::search(const std::string& words) {
  if (words.empty()) {
    if (state_.now().search) state_.change(updates::SetSearch{std::nullopt});
    return;
  }
  try_to([&](ConversationStore& store) {
    SearchResults results{words, store.search(words)};
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
