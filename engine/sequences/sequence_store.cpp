// A page being written has one owner. A full page also belongs to the prefix tree and is never written again:
// continuing in its middle copies it.
#include "engine/sequences/sequence_store.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace warpchat {

namespace {

// Checkpoint interval in a long prompt, so that a change near its end costs a few seconds.
constexpr uint32_t kKeepEvery = 1024;  // positions

}  // namespace

SequenceStore::SequenceStore(CachePages device)
    : device_(std::move(device)),
      pool_(device_.n_pages),
      tree_(pool_, device_.page_positions),
      states_(device_.n_slots, n_state_checkpoints()),
      is_taken_(device_.n_slots) {}

// The last state is reserved for hold_state(), if there are at least two.
uint32_t SequenceStore::n_state_checkpoints() const {
  const uint32_t n = is_recurrent() ? device_.n_states - device_.n_slots : 0;
  return n > 1 ? n - 1 : n;
}

uint32_t SequenceStore::pages_for(uint64_t n_positions) const {
  return static_cast<uint32_t>((n_positions + device_.page_positions - 1) / device_.page_positions);
}

std::unique_ptr<Sequence> SequenceStore::take_slot() {
  const auto free = std::ranges::find(is_taken_, false);
  if (free == is_taken_.end()) return nullptr;
  *free = true;
  ++n_live_;
  return std::unique_ptr<Sequence>(new Sequence(*this, static_cast<uint32_t>(free - is_taken_.begin())));
}

std::optional<uint32_t> SequenceStore::take_page() {
  if (pool_.n_free() == 0) tree_.drop_oldest();
  return pool_.allocate();
}

std::unique_ptr<Sequence> SequenceStore::open(std::span<const Token> tokens) {
  std::unique_ptr<Sequence> sequence = take_slot();
  if (sequence == nullptr) return nullptr;
  PrefixTree::Prefix known = tree_.find(tokens);
  if (const uint32_t n = sequence->restore_state(tokens.first(known.n_tokens)); n < known.n_tokens) {
    known.pages.resize(pages_for(n));
    known = {std::move(known.pages), n};
  }
  const std::span<const Token> reached = tokens.first(known.n_tokens);
  sequence->tokens_.assign(reached.begin(), reached.end());
  // A conversation that resumes at its end keeps filling its last page, without a copy.
  const bool goes_on =
      known.ends_leaf && known.n_tokens % device_.page_positions != 0 && pool_.owners(known.pages.back()) == 1;
  if (goes_on) tree_.detach_leaf(known.pages.back());
  for (size_t i = 0; i + (goes_on ? 1 : 0) < known.pages.size(); ++i) pool_.share(known.pages[i]);
  sequence->pages_ = known.pages;
  return sequence;
}

Sequence::~Sequence() {
  keep_state();
  store_.tree_.add(tokens_, std::span(pages_).first(store_.pages_for(reach())));
  for (const uint32_t page : pages_) store_.pool_.give_back(page);
  store_.is_taken_[slot_] = false;
  --store_.n_live_;
}

// Makes the page that reach() ends in this sequence's alone, unless it is full. False if no page is free.
bool Sequence::make_last_page_private() {
  if (reach() % store_.device_.page_positions == 0) return true;
  uint32_t& page = pages_[reach() / store_.device_.page_positions];
  if (store_.pool_.owners(page) == 1) return true;
  const std::optional<uint32_t> copy = store_.take_page();
  if (!copy) return false;
  store_.device_.copy_page(page, *copy);
  store_.pool_.give_back(page);
  page = *copy;
  is_set_ = false;
  return true;
}

bool Sequence::reserve(uint32_t n_positions) {
  if (n_positions == 0) return true;
  const size_t n_before = pages_.size();
  const uint32_t n_pages = store_.pages_for(uint64_t{reach()} + n_positions);
  bool has_room = make_last_page_private();
  while (has_room && pages_.size() < n_pages) {
    const std::optional<uint32_t> page = store_.take_page();
    has_room = page.has_value();
    if (has_room) pages_.push_back(*page);
  }
  if (!has_room) {
    for (; pages_.size() > n_before; pages_.pop_back()) store_.pool_.give_back(pages_.back());
    return false;
  }
  if (!is_set_ || pages_.size() > n_before) store_.device_.set_pages(slot_, pages_);
  is_set_ = true;
  return true;
}

void Sequence::append(std::span<const Token> computed) {
  const uint32_t page_positions = store_.device_.page_positions, n_full = reach() / page_positions;
  tokens_.insert(tokens_.end(), computed.begin(), computed.end());
  assert(store_.pages_for(reach()) <= pages_.size());
  const uint32_t n_now_full = reach() / page_positions;
  if (n_now_full > n_full)
    store_.tree_.add(std::span(tokens_).first(size_t{n_now_full} * page_positions),
                     std::span(pages_).first(n_now_full));
  if (reach() - kept_ >= kKeepEvery) keep_state();
}

// Releases the pages after the new end: others may read them, so they must not be written.
void Sequence::shorten(uint32_t to) {
  tokens_.resize(to);
  for (; pages_.size() > store_.pages_for(to); pages_.pop_back()) store_.pool_.give_back(pages_.back());
}

uint32_t Sequence::rewind(uint32_t to) {
  if (to >= reach()) return reach();
  shorten(restore_state(std::span(tokens_).first(to)));
  return reach();
}

void Sequence::keep_state() {
  if (!store_.is_recurrent() || reach() == 0) return;
  kept_ = reach();
  if (const std::optional<uint32_t> to = store_.states_.add(tokens_)) store_.device_.copy_state(slot_, *to);
}

uint32_t Sequence::until_copy() const { return kKeepEvery - (reach() - kept_); }

void Sequence::invalidate() { shorten(restore_state(tokens_)); }

void Sequence::hold_state() {
  assert(store_.can_hold());
  held_ = reach();
  store_.device_.copy_state(slot_, store_.device_.n_states - 1);
}

void Sequence::restore_checkpoint() {
  store_.device_.copy_state(store_.device_.n_states - 1, slot_);
  shorten(held_);
}

// Restores the longest checkpoint of these tokens and returns its length; all tokens if the model is not recurrent.
uint32_t Sequence::restore_state(std::span<const Token> tokens) {
  if (!store_.is_recurrent()) return static_cast<uint32_t>(tokens.size());
  const std::optional<StateCheckpoints::Found> found = store_.states_.find(tokens);
  if (found) store_.device_.copy_state(found->state, slot_);
  return kept_ = found ? found->n_tokens : 0;
}

}  // namespace warpchat
