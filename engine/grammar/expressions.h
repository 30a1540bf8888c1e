// Regular expressions over bytes, with intersection, complement and symbolic counts. Equal expressions have equal
// numbers, so that an expression is a state of its own automaton: derive() is a transition (Brzozowski 1964, Owens et
// al. 2009). Nothing is ever copied for a count: x{0,1000000000} is one node.
#pragma once
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/grammar/byte_set.h"
#include "engine/grammar/flat_map.h"

namespace warpchat::grammar {

using Expr = uint32_t;

inline constexpr Expr kNothing = 0;    // matches no text
inline constexpr Expr kEmptyText = 1;  // matches the text without bytes
inline constexpr uint32_t kUnbounded = UINT32_MAX;
inline constexpr uint32_t kFarBytes = 512;  // more than a usable token has

class Expressions {
 public:
  Expressions();

  Expr bytes(const ByteSet& set);
  Expr byte(char c);
  Expr text(std::string_view bytes);
  // The empty text with a number, which labels() finds at the end of a match. Only at the end of expressions.
  Expr label(uint32_t number);
  Expr concat(Expr first, Expr second);
  Expr concat(std::initializer_list<Expr> parts);
  Expr any_of(std::vector<Expr> alternatives);
  Expr all_of(std::vector<Expr> conditions);
  Expr complement(Expr e);  // all texts of any bytes, but these
  Expr both(Expr a, Expr b) { return all_of({a, b}); }
  Expr either(Expr a, Expr b) { return any_of({a, b}); }
  Expr repeat(Expr e, uint32_t min, uint32_t max);  // max: kUnbounded, or a count
  // Decimal digits, among which one point is ignored, that bring remainder to 0 modulo modulus:
  // remainder = (10 * remainder + digit) % modulus. 0 < modulus < 2^31.
  Expr multiple(uint32_t modulus, uint32_t remainder);

  // The rests of all texts of e that begin with the byte.
  Expr derive(Expr e, uint8_t byte);
  bool is_nullable(Expr e) const { return nodes_[e].is_nullable; }  // matches the empty text
  // A superset of the bytes that texts begin with; exact in expressions without intersection and complement.
  const ByteSet& first(Expr e) const { return sets_[nodes_[e].first]; }
  // Whether there is any text. Decided by search if there are intersections or complements; Error if that is too long.
  bool is_live(Expr e);
  bool matches(Expr e, std::string_view text);
  void labels(Expr e, std::vector<uint32_t>& found) const;  // of the empty text; adds, ascending, each once

  // Texts of characters: which expressions match whole characters only is known from here on, and any text of
  // characters absorbs the others. character: any one; marked: one of some.
  void set_character(Expr character);
  void mark_as_character(Expr e) { nodes_[e].is_text = true; }
  Expr any_text() const { return any_text_; }

  struct Run {  // up to `max` of any characters, then `rest`
    uint32_t max;
    Expr rest;
  };
  std::optional<Run> leading_run(Expr e) const;
  // An expression with the same beginnings of up to kFarBytes bytes, in which leading counts beyond that are unbounded:
  // so expressions that differ only far ahead are one.
  Expr without_far_counts(Expr e);

  // Error by the next construction after this time; nullopt: never.
  void set_deadline(std::optional<std::chrono::steady_clock::time_point> deadline) { deadline_ = deadline; }
  size_t size() const { return nodes_.size(); }

 private:
  enum class Kind : uint8_t { kNone, kEmpty, kLabel, kBytes, kConcat, kOr, kAnd, kNot, kRepeat, kMultiple };
  enum Liveness : uint8_t { kUnknown, kLive, kDead };
  struct Node {
    Kind kind;
    bool is_nullable = false;
    bool needs_search = false;  // has an intersection or a complement
    bool is_text = false;
    Liveness liveness = kUnknown;
    uint32_t first = 0;         // index in sets_
    uint32_t a = 0, b = 0;      // operands; n-ary: index in operands_ and their number; label, set, modulus
    uint32_t min = 0, max = 0;  // of a repetition; min: a remainder
    uint32_t hash = 0;
  };

  Expr intern(const Node& node, std::span<const Expr> operands = {});
  bool is_same(const Node& a, const Node& b, std::span<const Expr> operands_of_b) const;
  void check_limits() const;
  uint32_t intern_set(const ByteSet& set);
  std::span<const Expr> operands(const Node& node) const { return {operands_.data() + node.a, node.b}; }
  bool is_nary(Kind kind) const { return kind == Kind::kOr || kind == Kind::kAnd; }
  void flatten(Kind kind, std::vector<Expr>& parts) const;
  void absorb(std::vector<Expr>& parts, bool keeps_universe) const;
  Expr join(Expr head, Expr tail);
  Expr nary(Kind kind, const std::vector<Expr>& parts);
  Expr compute_derivative(Expr e, uint8_t byte);
  Expr derive_concat(Expr e, uint8_t byte);
  bool compute_liveness(Expr e);
  bool search(Expr e);
  void collect_classes(Expr e, std::vector<uint32_t>& sets) const;
  std::vector<uint8_t> representatives(Expr e) const;

  std::vector<Node> nodes_;
  std::vector<Expr> operands_;
  std::vector<Expr> table_;  // nodes by hash, open addressing
  std::vector<ByteSet> sets_;
  FlatMap set_ids_;                  // hash of a set -> the last one with it
  std::vector<uint32_t> same_hash_;  // [sets_] the one before with this hash
  FlatMap derivatives_;
  Expr character_ = kNothing, any_text_ = kNothing;
  mutable uint32_t depth_ = 0;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
};

}  // namespace warpchat::grammar
