// The entries of members that are still allowed, as one expression: a tree of their common beginnings. Leaving one out
// renews its own path alone, so that thousands of keys cost little when each is used.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/grammar/rules.h"

namespace warpchat::grammar {

class EntryTree {
 public:
  using Version = uint32_t;  // a set of entries

  // Entry i is followed by the label i + 1. expressions must outlive it, members need not.
  EntryTree(Expressions& expressions, const Members& members, bool has_required_alone);

  Version all() const { return 0; }
  Version without(Version version, uint32_t entry);  // an entry that it may lack
  Expr expression(Version version) const { return nodes_[version].e; }

 private:
  struct Node {
    std::vector<std::pair<Expr, uint32_t>> children;  // by what leads there
    std::vector<uint32_t> entries;                    // that end here
    Expr e = kNothing;                                // what follows
  };

  Expr joined(const Node& node);

  Expressions& expressions_;
  std::vector<std::vector<Expr>> paths_;  // of the entries
  std::vector<Node> nodes_;               // the first one has all
};

}  // namespace warpchat::grammar
