// Expressions of the interpreter.
#include "models/chat_template/interpreter_level.h"
#include "models/chat_template/lexer.h"
#include "models/chat_template/methods.h"
#include "models/chat_template/operators.h"
#include "models/chat_template/python_text.h"

namespace warpchat::jinja {

Value Interpreter::evaluate(const Expr& expr, const Scope& scope) {
  try {
    const Level level(*this);
    count_step();
    return std::visit([&](const auto& node) { return value_of(node, scope); }, expr.node);
  } catch (const Fault& fault) {
    fail_at(expr.line, fault.what());
  }
}

void Interpreter::count_step() {
  Meter::charge(kValueWork);
  if (++steps_ > limits_.steps) throw Fault("the template takes more than " + std::to_string(limits_.steps) + " steps");
}

bool Interpreter::is_true_in(const Expr& expr, const Scope& scope) { return is_true(evaluate(expr, scope)); }

Value Interpreter::value_of(const Literal& node, const Scope&) { return node.value; }

Value Interpreter::value_of(const Variable& node, const Scope& scope) {
  if (const Value* found = scope.find(node.name)) return *found;
  const auto found = context_.find(node.name);
  return found != context_.end() ? found->second : undefined("'" + node.name + "' is undefined");
}

Value Interpreter::value_of(const ListDisplay& node, const Scope& scope) {
  std::vector<Value> items;
  for (const ExprPtr& item : node.items) items.push_back(evaluate(*item, scope));
  return heap_.list(std::move(items), node.is_tuple ? List::Form::kTuple : List::Form::kList);
}

Value Interpreter::value_of(const DictDisplay& node, const Scope& scope) {
  Dict* dict = heap_.dict();
  for (const auto& [key, value] : node.entries) {
    const Value evaluated_key = evaluate(*key, scope);
    heap_.set(*dict, evaluated_key, evaluate(*value, scope));
  }
  return dict;
}

Value Interpreter::value_of(const AttributeOf& node, const Scope& scope) {
  return attribute(heap_, evaluate(*node.object, scope), node.name);
}

Value Interpreter::value_of(const ItemOf& node, const Scope& scope) {
  const Value object = evaluate(*node.object, scope);
  return subscript(heap_, object, evaluate(*node.index, scope));
}

Value Interpreter::value_of(const SliceOf& node, const Scope& scope) {
  const auto bound = [&](const ExprPtr& expr) { return expr ? evaluate(*expr, scope) : Value(None{}); };
  const Value object = evaluate(*node.object, scope), start = bound(node.start), stop = bound(node.stop);
  return slice(heap_, object, start, stop, bound(node.step));
}

Value Interpreter::value_of(const Call& node, const Scope& scope) { return call(node, scope, nullptr); }

Value Interpreter::call(const Call& node, const Scope& scope, Callable* caller) {
  Value callee, self;
  Method method = nullptr;
  if (const auto* of = std::get_if<AttributeOf>(&node.callee->node)) {
    self = evaluate(*of->object, scope);
    method = find_method(self, of->name.text()->bytes);
    if (!method) callee = attribute(heap_, self, of->name);
  } else {
    callee = evaluate(*node.callee, scope);
  }
  Arguments arguments = evaluate_arguments(node.arguments, scope);
  if (caller) arguments.named.emplace_back(own_text("caller"), caller);
  if (method) return call_method(method, heap_, self, arguments);
  if (callee.undefined()) fail_undefined(*callee.undefined());
  if (!callee.callable()) throw Fault(std::string("a value of type ") + type_name(callee) + " cannot be called");
  return callee.callable()->call(arguments);
}

Arguments Interpreter::evaluate_arguments(const CallArguments& node, const Scope& scope) {
  Arguments arguments;
  for (const ExprPtr& positional : node.positional) arguments.positional.push_back(evaluate(*positional, scope));
  if (node.rest) {
    for (Value& item : iterate(heap_, evaluate(*node.rest, scope))) arguments.positional.push_back(std::move(item));
  }
  for (const auto& [name, value] : node.named) arguments.named.emplace_back(own_text(name), evaluate(*value, scope));
  if (node.named_rest) {
    const Value rest = evaluate(*node.named_rest, scope);
    if (!rest.dict()) throw Fault(std::string("what follows ** must be a dict, but is of type ") + type_name(rest));
    for (const auto& [key, value] : rest.dict()->entries()) {
      if (!key.text()) throw Fault("the keys of what follows ** must be texts");
      Meter::charge(arguments.named.size());
      for (const auto& earlier : arguments.named) {
        if (earlier.first.bytes == key.text()->bytes)
          throw Fault("the argument '" + key.text()->bytes + "' is given twice");
      }
      arguments.named.emplace_back(*key.text(), value);
    }
  }
  return arguments;
}

Value Interpreter::value_of(const Filtered& node, const Scope& scope) {
  const Value input = node.input ? evaluate(*node.input, scope) : std::exchange(block_, Value());
  if (!node.filter) throw Fault("the filter '" + node.name + "' is not supported");
  return apply_filter(node.filter, heap_, input, evaluate_arguments(node.arguments, scope));
}

Value Interpreter::value_of(const Tested& node, const Scope& scope) {
  const Value value = evaluate(*node.value, scope);
  if (!node.test) throw Fault("the test '" + node.name + "' is not supported");
  return apply_test(node.test, heap_, value, evaluate_arguments(node.arguments, scope));
}

Value Interpreter::value_of(const Unary& node, const Scope& scope) {
  const Value operand = evaluate(*node.operand, scope);
  if (node.op == Unary::Op::kNot) return !is_true(operand);
  return node.op == Unary::Op::kMinus ? negate(operand) : plus(operand);
}

Value Interpreter::value_of(const Binary& node, const Scope& scope) {
  const Value left = evaluate(*node.left, scope);
  if (node.op == Binary::Op::kAnd) return is_true(left) ? evaluate(*node.right, scope) : left;
  if (node.op == Binary::Op::kOr) return is_true(left) ? left : evaluate(*node.right, scope);
  const Value right = evaluate(*node.right, scope);
  switch (node.op) {
    case Binary::Op::kAdd:
      return add(heap_, left, right);
    case Binary::Op::kSubtract:
      return subtract(left, right);
    case Binary::Op::kMultiply:
      return multiply(heap_, left, right);
    case Binary::Op::kDivide:
      return divide(left, right);
    case Binary::Op::kFloorDivide:
      return floor_divide(left, right);
    case Binary::Op::kModulo:
      return modulo(heap_, left, right);
    default:
      return power(left, right);
  }
}

Value Interpreter::value_of(const Concatenation& node, const Scope& scope) {
  TracedText out;
  for (const ExprPtr& part : node.parts) emit(out, evaluate(*part, scope));
  return heap_.text(std::move(out));
}

Value Interpreter::value_of(const Comparison& node, const Scope& scope) {
  Value left = evaluate(*node.first, scope);
  for (const auto& [op, expr] : node.rest) {
    Value right = evaluate(*expr, scope);
    if (!compare(op, left, right)) return false;
    left = std::move(right);
  }
  return true;
}

bool Interpreter::compare(Comparison::Op op, const Value& a, const Value& b) {
  switch (op) {
    case Comparison::Op::kEqual:
      return equal(a, b);
    case Comparison::Op::kNotEqual:
      return !equal(a, b);
    case Comparison::Op::kLess:
      return less(a, b);
    case Comparison::Op::kLessEqual:
      return less(a, b) || equal(a, b);
    case Comparison::Op::kGreater:
      return less(b, a);
    case Comparison::Op::kGreaterEqual:
      return less(b, a) || equal(a, b);
    case Comparison::Op::kIn:
      return contains(heap_, b, a);
    default:
      return !contains(heap_, b, a);
  }
}

Value Interpreter::value_of(const Conditional& node, const Scope& scope) {
  if (is_true_in(*node.test, scope)) return evaluate(*node.then, scope);
  if (node.otherwise) return evaluate(*node.otherwise, scope);
  return undefined("an inline 'if' without 'else' was false and is undefined");
}

}  // namespace warpchat::jinja
