// Executes a parsed template with its variables and returns the text.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <unordered_map>

#include "models/chat_template/ast.h"
#include "models/chat_template/meter.h"
#include "models/chat_template/scope.h"

namespace warpchat::jinja {

class Interpreter {
 public:
  explicit Interpreter(const Limits& limits) : limits_(limits), heap_(limits.bytes) {}

  // variables: a JSON object; chat_template.h defines which texts are content. Error with the line for all faults.
  TracedText run(const Template& parsed, const nlohmann::ordered_json& variables);

 private:
  enum class Flow { kNext, kBreak, kContinue };
  class Level;  // guards the recursion depth

  // Statements. Output goes to `out`.
  Flow execute(const Body& body, Scope& scope, TracedText& out);
  Flow execute(const Statement& statement, Scope& scope, TracedText& out);
  Flow run_node(const Data& node, Scope& scope, TracedText& out);
  Flow run_node(const Print& node, Scope& scope, TracedText& out);
  Flow run_node(const If& node, Scope& scope, TracedText& out);
  Flow run_node(const For& node, Scope& scope, TracedText& out);
  Flow run_node(const Set& node, Scope& scope, TracedText& out);
  Flow run_node(const SetBlock& node, Scope& scope, TracedText& out);
  Flow run_node(const Macro& node, Scope& scope, TracedText& out);
  Flow run_node(const CallBlock& node, Scope& scope, TracedText& out);
  Flow run_node(const FilterBlock& node, Scope& scope, TracedText& out);
  Flow run_node(const With& node, Scope& scope, TracedText& out);
  Flow run_node(const Scoped& node, Scope& scope, TracedText& out);
  Flow run_node(const Break&, Scope&, TracedText&) { return Flow::kBreak; }
  Flow run_node(const Continue&, Scope&, TracedText&) { return Flow::kContinue; }

  Scope& inner_scope(const Scope& outer) { return *heap_.make<Scope>(&outer); }
  Loop* start_loop(const For& node, Scope& scope);
  Value packed(const Target& target, const Scope& scope);
  void assign(const Target& target, const Value& value, Scope& scope);
  Callable* make_macro(const Macro& macro, const Scope& scope);
  Value call_macro(const Macro& macro, const Scope& defined_in, const Arguments& arguments);
  void bind_parameters(const Macro& macro, Scope& scope, const Arguments& arguments);
  void emit(TracedText& out, const Value& value);  // prints

  // Expressions.
  Value evaluate(const Expr& expr, const Scope& scope);
  Value value_of(const Literal& node, const Scope& scope);
  Value value_of(const Variable& node, const Scope& scope);
  Value value_of(const ListDisplay& node, const Scope& scope);
  Value value_of(const DictDisplay& node, const Scope& scope);
  Value value_of(const AttributeOf& node, const Scope& scope);
  Value value_of(const ItemOf& node, const Scope& scope);
  Value value_of(const SliceOf& node, const Scope& scope);
  Value value_of(const Call& node, const Scope& scope);
  Value value_of(const Filtered& node, const Scope& scope);
  Value value_of(const Tested& node, const Scope& scope);
  Value value_of(const Unary& node, const Scope& scope);
  Value value_of(const Binary& node, const Scope& scope);
  Value value_of(const Concatenation& node, const Scope& scope);
  Value value_of(const Comparison& node, const Scope& scope);
  Value value_of(const Conditional& node, const Scope& scope);

  Value call(const Call& node, const Scope& scope, Callable* caller);
  Arguments evaluate_arguments(const CallArguments& node, const Scope& scope);
  bool is_true_in(const Expr& expr, const Scope& scope);
  bool compare(Comparison::Op op, const Value& a, const Value& b);
  void count_step();

  Limits limits_;
  Heap heap_;
  std::unordered_map<std::string_view, Value> context_;  // globals and variables
  Value block_;                                          // input of the next filter without one
  int64_t steps_ = 0;
  int depth_ = 0;
};

}  // namespace warpchat::jinja
