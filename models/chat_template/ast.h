// Syntax tree of a template: statements contain expressions. Every node has its line.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "models/chat_template/filters.h"
#include "models/chat_template/value.h"

namespace warpchat::jinja {

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

// ---- Expressions ----

struct Literal {
  Value value;
};
struct Variable {
  std::string name;
};
struct ListDisplay {  // [a, b] or (a, b)
  std::vector<ExprPtr> items;
  bool is_tuple;
};
struct DictDisplay {  // {a: b}
  std::vector<std::pair<ExprPtr, ExprPtr>> entries;
};
struct AttributeOf {  // object.name
  ExprPtr object;
  Value name;
};
struct ItemOf {  // object[index]
  ExprPtr object, index;
};
struct SliceOf {  // object[start:stop:step]; null: open
  ExprPtr object, start, stop, step;
};
struct CallArguments {
  std::vector<ExprPtr> positional;
  std::vector<std::pair<std::string, ExprPtr>> named;
  ExprPtr rest, named_rest;  // *rest, **named_rest; null: none
};
struct Call {
  ExprPtr callee;
  CallArguments arguments;
};
struct Filtered {  // input | name(arguments)
  ExprPtr input;   // null: contents of the enclosing filter or set block
  std::string name;
  Filter filter;  // null: unknown; an error when evaluated
  CallArguments arguments;
};
struct Tested {  // value is name(arguments)
  ExprPtr value;
  std::string name;
  Test test;  // null: unknown; an error when evaluated
  CallArguments arguments;
};
struct Unary {
  enum class Op { kNot, kMinus, kPlus } op;
  ExprPtr operand;
};
struct Binary {
  enum class Op { kAdd, kSubtract, kMultiply, kDivide, kFloorDivide, kModulo, kPower, kAnd, kOr } op;
  ExprPtr left, right;
};
struct Concatenation {  // a ~ b ~ c
  std::vector<ExprPtr> parts;
};
struct Comparison {  // first < second <= third
  enum class Op { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kIn, kNotIn };
  ExprPtr first;
  std::vector<std::pair<Op, ExprPtr>> rest;
};
struct Conditional {  // then if test else otherwise; null otherwise: undefined
  ExprPtr test, then, otherwise;
};

struct Expr {
  int line;
  int height;  // levels in the subtree, from 1
  std::variant<Literal, Variable, ListDisplay, DictDisplay, AttributeOf, ItemOf, SliceOf, Call, Filtered, Tested, Unary,
               Binary, Concatenation, Comparison, Conditional>
      node;
};

int height_of_children(const Expr& expr);  // maximum; 0 without children

// ---- Statements ----

struct Statement;
using Body = std::vector<Statement>;

struct Target {  // assignment target: name, namespace attribute, or several
  std::string name;
  Value attribute;              // undefined: a plain name
  std::vector<Target> several;  // if not empty: unpacks into these, and name is unused
  bool is_tuple = false;
};
struct Data {
  Value text;
};
struct Print {
  ExprPtr value;
};
struct If {
  struct Branch {
    ExprPtr test;
    Body body;
  };
  std::vector<Branch> branches;  // if, elif, ...
  Body otherwise;
};
struct For {
  Target target;
  ExprPtr items;
  ExprPtr condition;  // for x in items if condition; null: none
  Body body, otherwise;
};
struct Set {
  Target target;
  ExprPtr value;
};
struct SetBlock {
  Target target;
  ExprPtr filter;  // null: none
  Body body;
};
struct Macro {
  std::string name;
  std::vector<std::pair<std::string, ExprPtr>> parameters;  // with default, or null
  Body body;
  bool uses_caller = false, uses_varargs = false, uses_kwargs = false;  // anywhere inside
};
struct CallBlock {
  Macro caller;
  ExprPtr call;
};
struct FilterBlock {
  ExprPtr filter;
  Body body;
};
struct With {
  std::vector<std::pair<Target, ExprPtr>> assignments;
  Body body;
};
struct Scoped {  // {% generation %}: a body with its own scope
  Body body;
};
struct Break {};
struct Continue {};

struct Statement {
  int line;
  std::variant<Data, Print, If, For, Set, SetBlock, Macro, CallBlock, FilterBlock, With, Scoped, Break, Continue> node;
};

struct Template {
  Body body;
  // Variables that are undefined until the template sets them: it does so unconditionally at the top level, without
  // mentioning them earlier. jinja2 then ignores passed-in values, even in an earlier loop.
  std::vector<std::string> hidden;
};

}  // namespace warpchat::jinja
