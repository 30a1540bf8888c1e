#include "models/chat_template/ast.h"

#include <algorithm>

namespace warpchat::jinja {
namespace {

int height(const ExprPtr& e) { return e ? e->height : 0; }

int height(const std::vector<ExprPtr>& list) {
  int highest = 0;
  for (const ExprPtr& e : list) highest = std::max(highest, height(e));
  return highest;
}

template <class Label>
int height(const std::vector<std::pair<Label, ExprPtr>>& list) {
  int highest = 0;
  for (const auto& entry : list) highest = std::max(highest, height(entry.second));
  return highest;
}

int height(const CallArguments& a) {
  return std::max({height(a.positional), height(a.named), height(a.rest), height(a.named_rest)});
}

struct ChildHeight {
  int operator()(const Literal&) const { return 0; }
  int operator()(const Variable&) const { return 0; }
  int operator()(const ListDisplay& n) const { return height(n.items); }
  int operator()(const DictDisplay& n) const {
    int highest = 0;
    for (const auto& [key, value] : n.entries) highest = std::max({highest, height(key), height(value)});
    return highest;
  }
  int operator()(const AttributeOf& n) const { return height(n.object); }
  int operator()(const ItemOf& n) const { return std::max(height(n.object), height(n.index)); }
  int operator()(const SliceOf& n) const {
    return std::max({height(n.object), height(n.start), height(n.stop), height(n.step)});
  }
  int operator()(const Call& n) const { return std::max(height(n.callee), height(n.arguments)); }
  int operator()(const Filtered& n) const { return std::max(height(n.input), height(n.arguments)); }
  int operator()(const Tested& n) const { return std::max(height(n.value), height(n.arguments)); }
  int operator()(const Unary& n) const { return height(n.operand); }
  int operator()(const Binary& n) const { return std::max(height(n.left), height(n.right)); }
  int operator()(const Concatenation& n) const { return height(n.parts); }
  int operator()(const Comparison& n) const { return std::max(height(n.first), height(n.rest)); }
  int operator()(const Conditional& n) const { return std::max({height(n.test), height(n.then), height(n.otherwise)}); }
};

}  // namespace

int height_of_children(const Expr& expr) { return std::visit(ChildHeight{}, expr.node); }

}  // namespace warpchat::jinja
