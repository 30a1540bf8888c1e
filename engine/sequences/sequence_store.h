// The sequences of one device: which tokens each has, and in which pages of the KV cache their keys and values lie.
// What a sequence has computed stays known when it ends, until others need its pages.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/sequences/kept_states.h"
#include "engine/sequences/page_pool.h"
#include "engine/sequences/prefix_tree.h"
#include "models/token.h"

namespace warpchat {

// What is asked of the device.
struct CachePages {
  uint32_t n_slots, n_pages, page_positions;
  std::function<void(uint32_t slot, std::span<const uint32_t> pages)> set_pages;  // of the passes to come
  std::function<void(uint32_t from, uint32_t to)> copy_page;                      // in the order of the passes
  // Of recurrent layers: each slot's own, then those that can be kept. 0: there are no such layers.
  uint32_t n_states = 0;
  std::function<void(uint32_t from, uint32_t to)> copy_state = {};  // likewise
};

class SequenceStore;

class Sequence {
 public:
  Sequence(const Sequence&) = delete;
  ~Sequence();  // the slot is free; what is known stays so until its pages are needed

  uint32_t slot() const { return slot_; }                       // of the device's page tables
  const std::vector<Token>& tokens() const { return tokens_; }  // whose keys and values are in the cache
  uint32_t reach() const { return static_cast<uint32_t>(tokens_.size()); }

  // Room for that many positions behind reach(), of which no other sequence sees anything. False if pages are lacking
  // even when all are given back that nobody uses: then nothing has changed for this sequence.
  bool reserve(uint32_t n_positions);
  void append(std::span<const Token> computed);  // in reserved positions

  // What lies behind is forgotten. Returns what is reached: `to`, or reach() where that is less; with recurrent layers
  // the last position up to there whose state was kept.
  uint32_t rewind(uint32_t to);
  void keep_state();            // of reach(), for who comes back to it
  uint32_t until_copy() const;  // how many positions may be appended until a copy of the state is due
  void break_off();             // a pass of it did not reach its end: recurrent layers are where a state was kept
  // Around a pass of which not all may count, of one sequence at a time: the state that recurrent layers have now, and
  // back to it where what has been appended since is forgotten. Only if the store can hold one.
  void hold_state();
  void back_to_held();

 private:
  friend class SequenceStore;
  Sequence(SequenceStore& store, uint32_t slot) : store_(store), slot_(slot) {}
  bool own_last();
  void shorten(uint32_t to);
  uint32_t restore_state(std::span<const Token> tokens);

  SequenceStore& store_;
  uint32_t slot_;
  std::vector<Token> tokens_;
  std::vector<uint32_t> pages_;  // as many as tokens_ and what is reserved need
  uint32_t kept_ = 0;            // the position of the last state that was
  uint32_t held_ = 0;            // likewise
  bool is_set_ = false;          // the device knows of pages_
};

class SequenceStore {
 public:
  explicit SequenceStore(CachePages device);  // all sequences end before it does

  // Whether the model has such layers. Then a sequence only goes on from where a state was kept.
  bool is_recurrent() const { return device_.n_states > 0; }
  bool can_hold() const { return n_kept_states() + device_.n_slots < device_.n_states; }

  // Reaches as far into the tokens as is known. Null if no slot is free.
  std::unique_ptr<Sequence> open(std::span<const Token> tokens);
  // Reaches the first `at` tokens of one that reaches them, or as many as rewind() would: full pages are shared, the
  // last one is copied when either goes on. Null if no slot is free.
  std::unique_ptr<Sequence> fork(const Sequence& of, uint32_t at);

  uint32_t n_live() const { return n_live_; }
  // Pages that a sequence could get now, without those that it owns.
  uint32_t n_available() const { return pool_.n_free() + tree_.n_droppable(); }
  uint32_t pages_for(uint64_t n_positions) const;
  void forget() {  // nobody knows any more what is in pages and states; sequences are to rewind to 0
    tree_.clear();
    states_.clear();
  }

 private:
  friend class Sequence;
  uint32_t n_kept_states() const;
  std::unique_ptr<Sequence> take_slot();
  std::optional<uint32_t> take_page();

  CachePages device_;
  PagePool pool_;
  PrefixTree tree_;
  KeptStates states_;
  std::vector<bool> is_taken_;  // of each slot
  uint32_t n_live_ = 0;
};

}  // namespace warpchat
