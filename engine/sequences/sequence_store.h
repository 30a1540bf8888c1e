// The sequences of one device: their tokens, and the KV cache pages that hold their keys and values. A finished
// sequence's pages stay known until others need them.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/sequences/page_pool.h"
#include "engine/sequences/prefix_tree.h"
#include "engine/sequences/state_checkpoints.h"
#include "models/token.h"

namespace warpchat {

// Device functions and sizes.
struct CachePages {
  uint32_t n_slots, n_pages, page_positions;
  std::function<void(uint32_t slot, std::span<const uint32_t> pages)> set_pages;  // for following passes
  std::function<void(uint32_t from, uint32_t to)> copy_page;                      // ordered with the passes
  // Recurrent states: each slot's own, then checkpoints. 0: no recurrent layers.
  uint32_t n_states = 0;
  std::function<void(uint32_t from, uint32_t to)> copy_state = {};  // ordered with the passes
};

class SequenceStore;

class Sequence {
 public:
  Sequence(const Sequence&) = delete;
  ~Sequence();  // frees the slot; its pages stay known until others need them

  uint32_t slot() const { return slot_; }                       // index of the device's page table
  const std::vector<Token>& tokens() const { return tokens_; }  // whose keys and values are in the cache
  uint32_t reach() const { return static_cast<uint32_t>(tokens_.size()); }

  // Reserves that many positions after reach(), private to this sequence. False if pages are lacking even after
  // evicting all unused ones; the sequence is then unchanged.
  bool reserve(uint32_t n_positions);
  void append(std::span<const Token> computed);  // into reserved positions

  // Discards what lies after `to`. Returns the new reach: the lesser of `to` and reach(), or with recurrent layers the
  // last checkpoint up to there.
  uint32_t rewind(uint32_t to);
  void keep_state();            // checkpoints the state at reach()
  uint32_t until_copy() const;  // positions that may be appended until a checkpoint is due
  void invalidate();            // after an interrupted pass: recurrent layers return to a checkpoint
  // For a pass that may be undone, in one sequence at a time: saves the recurrent state, and restore_checkpoint()
  // restores it and discards tokens appended since. Needs can_hold().
  void hold_state();
  void restore_checkpoint();

 private:
  friend class SequenceStore;
  Sequence(SequenceStore& store, uint32_t slot) : store_(store), slot_(slot) {}
  bool make_last_page_private();
  void shorten(uint32_t to);
  uint32_t restore_state(std::span<const Token> tokens);

  SequenceStore& store_;
  uint32_t slot_;
  std::vector<Token> tokens_;
  std::vector<uint32_t> pages_;  // for tokens_ and reserved positions
  uint32_t kept_ = 0;            // position of the last checkpoint
  uint32_t held_ = 0;            // position of the held state
  bool is_set_ = false;          // the device has this page table
};

class SequenceStore {
 public:
  explicit SequenceStore(CachePages device);  // must outlive all its sequences

  // Whether the model has recurrent layers. Sequences then resume only at checkpoints.
  bool is_recurrent() const { return device_.n_states > 0; }
  bool can_hold() const { return n_state_checkpoints() + device_.n_slots < device_.n_states; }

  // Starts with the longest known prefix of the tokens. Null if no slot is free.
  std::unique_ptr<Sequence> open(std::span<const Token> tokens);

  uint32_t n_live() const { return n_live_; }
  uint32_t pages_for(uint64_t n_positions) const;
  void forget() {  // contents of pages and states are unknown; sequences must rewind to 0
    tree_.clear();
    states_.clear();
  }

 private:
  friend class Sequence;
  uint32_t n_state_checkpoints() const;
  std::unique_ptr<Sequence> take_slot();
  std::optional<uint32_t> take_page();

  CachePages device_;
  PagePool pool_;
  PrefixTree tree_;
  StateCheckpoints states_;
  std::vector<bool> is_taken_;  // per slot
  uint32_t n_live_ = 0;
};

}  // namespace warpchat
