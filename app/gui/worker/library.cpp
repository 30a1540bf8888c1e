// Opening, two ways of using, and lists that are sent only where they differ.
#include "app/gui/worker/library.h"

#include <algorithm>
#include <utility>

#include "app/directories.h"

namespace warpchat::gui {

namespace {

constexpr std::chrono::seconds kBetweenLooks{3};

const std::string kNotDamagedAnyMore = "the stored conversations were damaged, and are now whole again or another file";

bool same(const ConversationSummary& a, const ConversationSummary& b) {
  return a.id == b.id && a.title == b.title && a.model == b.model && a.updated == b.updated && a.trashed == b.trashed &&
         a.n_messages == b.n_messages;
}

bool same_lists(const std::vector<ConversationSummary>& a, const std::vector<ConversationSummary>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

bool same_hits(const std::vector<SearchHit>& a, const std::vector<SearchHit>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const SearchHit& x, const SearchHit& y) {
    return same(x.conversation, y.conversation) && x.turn == y.turn && x.excerpt == y.excerpt;
  });
}

ConversationStore::Opened open_on_disk() {
  const std::string folder = data_directory();
  if (!make_private_directory(folder))
    throw Error("cannot create the folder " + folder + "; give yourself the right to, or free some space");
  return ConversationStore::open(folder);
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
      if (!opened.notice.empty()) board_.tell_error(opened.notice);
    } catch (const std::exception& error) {
      fault = error.what();
      board_.tell_error(fault + "; conversations are kept until this program ends");
    }
  }
  if (!on_disk_) use_memory(fault);
  refresh();
}

void Library::use_memory(const std::string& fault) {
  on_disk_ = false;
  store_ = ConversationStore::in_memory();
  board_.change(updates::set_store_fault(fault));
}

// Opening sets the damaged file aside, unless another process has done so.
void Library::begin_anew() {
  constexpr const char* kGoesOn = "; the open conversation goes on in it, as a new one";
  store_.reset();
  try {
    ConversationStore::Opened opened = open_on_disk();
    others_changes_ = opened.store->others_changes();
    store_ = std::move(opened.store);
    board_.tell_error((opened.notice.empty() ? kNotDamagedAnyMore : opened.notice) + kGoesOn);
  } catch (const std::exception& error) {
    board_.tell_error(std::string(error.what()) + "; conversations are kept until this program ends");
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
    board_.tell_error(error.what());
    return false;
  }
}

bool Library::keep(const std::function<void(ConversationStore&)>& action) {
  const bool failed_before = on_disk_ && !board_.now().store_fault.empty();
  try {
    if (!store_->is_sound()) begin_anew();
    try {
      action(*store_);
    } catch (const DamagedDatabase&) {
      begin_anew();
      action(*store_);
    }
    if (failed_before) {
      board_.change(updates::set_store_fault(""));
      board_.tell("conversations are stored again");
    }
    return true;
  } catch (const std::exception& error) {
    if (!failed_before)
      board_.tell_error(std::string(error.what()) + "; this conversation goes on, and is stored once that works again");
    if (on_disk_) board_.change(updates::set_store_fault(error.what()));
    return false;
  }
}

void Library::refresh() {
  try_to([&](ConversationStore& store) {
    std::vector<ConversationSummary> conversations = store.list(), trash = store.trash();
    if (same_lists(conversations, board_.now().conversations) && same_lists(trash, board_.now().trash)) return;
    board_.change(updates::set_conversations(std::move(conversations), std::move(trash)));
    if (board_.now().search) search(board_.now().search->words);
  });
}

void Library::search(const std::string& words) {
  if (words.empty()) {
    if (board_.now().search) board_.change(updates::set_search(std::nullopt));
    return;
  }
  try_to([&](ConversationStore& store) {
    SearchResults results{words, store.search(words)};
    const std::optional<SearchResults>& shown = board_.now().search;
    if (shown && shown->words == words && same_hits(shown->hits, results.hits)) return;
    board_.change(updates::set_search(std::move(results)));
  });
}

bool Library::others_have_changed_it() {
  const Clock::time_point now = Clock::now();
  if (!on_disk_ || now - looked_at_ < kBetweenLooks) return false;
  looked_at_ = now;
  bool changed = false;
  try {
    const int64_t changes = store_->others_changes();
    changed = std::exchange(others_changes_, changes) != changes;
  } catch (const std::exception&) {
    return false;  // what does not work will be told when somebody needs it
  }
  if (changed) refresh();
  return changed;
}

}  // namespace warpchat::gui
