// Statements of the interpreter.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "models/chat_template/globals.h"
#include "models/chat_template/interpreter_level.h"
#include "models/chat_template/json.h"
#include "models/chat_template/lexer.h"
#include "models/chat_template/loop.h"
#include "models/chat_template/python_text.h"
#include "models/error.h"

namespace warpchat::jinja {

namespace {

// Conversation, tools and documents are content. Only bos_token, eos_token and other *_token variables belong to the
// program.
bool is_content(std::string_view variable) { return !variable.ends_with("_token"); }

}  // namespace

TracedText Interpreter::run(const Template& parsed, const nlohmann::ordered_json& variables) {
  if (!variables.is_object()) throw Error("the variables of a chat template must be a JSON object");
  const Meter meter(limits_);
  TracedText out;
  try {
    for (Callable* global : make_globals(heap_)) context_[global->name] = global;
    for (const auto& [name, value] : variables.items()) context_[name] = from_json(heap_, value, is_content(name));
  } catch (const Fault& fault) {
    throw Error(std::string("cannot render the prompt: ") + fault.what());
  }
  Scope& scope = *heap_.make<Scope>(nullptr);
  for (const std::string& name : parsed.hidden) scope.set(name, undefined("'" + name + "' is undefined"));
  execute(parsed.body, scope, out);
  return out;
}

Interpreter::Flow Interpreter::execute(const Body& body, Scope& scope, TracedText& out) {
  const Level level(*this);
  for (const Statement& statement : body) {
    if (const Flow flow = execute(statement, scope, out); flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Interpreter::Flow Interpreter::execute(const Statement& statement, Scope& scope, TracedText& out) {
  try {
    return std::visit([&](const auto& node) { return run_node(node, scope, out); }, statement.node);
  } catch (const Fault& fault) {
    fail_at(statement.line, fault.what());
  }
}

void Interpreter::emit(TracedText& out, const Value& value) {
  const TracedText* text = value.text();
  const TracedText printed = text ? TracedText() : str(value);
  if (!text) text = &printed;
  if (text->bytes.size() > kMaxTextBytes - out.bytes.size()) throw Fault("the template's output is longer than 64 MiB");
  Meter::charge(text->bytes.size());
  out.append(*text);
}

Interpreter::Flow Interpreter::run_node(const Data& node, Scope&, TracedText& out) {
  emit(out, node.text);
  return Flow::kNext;
}

Interpreter::Flow Interpreter::run_node(const Print& node, Scope& scope, TracedText& out) {
  emit(out, evaluate(*node.value, scope));
  return Flow::kNext;
}

Interpreter::Flow Interpreter::run_node(const If& node, Scope& scope, TracedText& out) {
  for (const If::Branch& branch : node.branches) {
    if (is_true_in(*branch.test, scope)) return execute(branch.body, scope, out);
  }
  return execute(node.otherwise, scope, out);
}

Interpreter::Flow Interpreter::run_node(const For& node, Scope& scope, TracedText& out) {
  Loop* loop = start_loop(node, scope);
  Scope& inner = inner_scope(scope);
  bool has_completed = false;  // jinja2 runs `else` if no iteration completed, whether by break or continue
  for (Flow flow = Flow::kNext; flow != Flow::kBreak && loop->advance();) {
    count_step();
    inner.names.clear();
    inner.set("loop", loop);
    assign(node.target, loop->current(), inner);
    flow = execute(node.body, inner, out);
    has_completed |= flow == Flow::kNext;
  }
  loop->finish();
  if (!has_completed && !node.otherwise.empty()) return execute(node.otherwise, inner_scope(scope), out);
  return Flow::kNext;
}

Loop* Interpreter::start_loop(const For& node, Scope& scope) {
  const Value source = evaluate(*node.items, scope);
  Loop::Pull pull = pull_items(heap_, source);
  if (!node.condition) {
    const auto length = source.iterator() ? std::nullopt : std::optional(length_of(source));
    return heap_.make<Loop>(std::move(pull), length, 1);
  }
  Scope& testing = inner_scope(scope);
  const auto filtered = [this, &node, &testing, next = std::move(pull)]() -> std::optional<Value> {
    while (std::optional<Value> item = next()) {
      count_step();
      testing.names.clear();
      assign(node.target, *item, testing);
      if (is_true_in(*node.condition, testing)) return packed(node.target, testing);
    }
    return std::nullopt;
  };
  return heap_.make<Loop>(filtered, std::nullopt, 1);
}

// Item of a filtered loop after filtering: unpacked items are packed into a tuple again.
Value Interpreter::packed(const Target& target, const Scope& scope) {
  if (!target.is_tuple) return *scope.find(target.name);
  std::vector<Value> items;
  for (const Target& one : target.several) items.push_back(packed(one, scope));
  return heap_.list(std::move(items), List::Form::kTuple);
}

void Interpreter::assign(const Target& target, const Value& value, Scope& scope) {
  if (target.is_tuple) {
    const std::vector<Value> items = iterate(heap_, value);
    if (items.size() != target.several.size()) {
      throw Fault("a sequence of " + std::to_string(items.size()) + " cannot be unpacked into " +
                  std::to_string(target.several.size()) + " names");
    }
    for (size_t i = 0; i < items.size(); ++i) assign(target.several[i], items[i], scope);
  } else if (target.attribute.text()) {
    const Value* space = scope.find(target.name);
    if (!space || !space->name_space())
      throw Fault("'" + target.name + "' is no namespace, so has no attributes to set");
    heap_.set(*space->name_space()->attributes, target.attribute, value);
  } else {
    scope.set(target.name, value);
  }
}

Interpreter::Flow Interpreter::run_node(const Set& node, Scope& scope, TracedText&) {
  assign(node.target, evaluate(*node.value, scope), scope);
  return Flow::kNext;
}

Interpreter::Flow Interpreter::run_node(const SetBlock& node, Scope& scope, TracedText&) {
  TracedText text;
  const Flow flow = execute(node.body, inner_scope(scope), text);
  if (flow != Flow::kNext) return flow;
  Value value = heap_.text(std::move(text));
  if (node.filter) {
    block_ = std::move(value);
    value = evaluate(*node.filter, scope);
  }
  assign(node.target, value, scope);
  return Flow::kNext;
}

Interpreter::Flow Interpreter::run_node(const Macro& node, Scope& scope, TracedText&) {
  scope.set(node.name, make_macro(node, scope));
  return Flow::kNext;
}

Interpreter::Flow Interpreter::run_node(const CallBlock& node, Scope& scope, TracedText& out) {
  emit(out, call(std::get<Call>(node.call->node), scope, make_macro(node.caller, scope)));
  return Flow::kNext;
}

Interpreter::Flow Interpreter::run_node(const FilterBlock& node, Scope& scope, TracedText& out) {
  TracedText text;
  const Flow flow = execute(node.body, inner_scope(scope), text);
  if (flow != Flow::kNext) return flow;
  block_ = heap_.text(std::move(text));
  emit(out, evaluate(*node.filter, scope));
  return Flow::kNext;
}

Interpreter::Flow Interpreter::run_node(const With& node, Scope& scope, TracedText& out) {
  Scope& inner = inner_scope(scope);
  for (const auto& [target, expr] : node.assignments) assign(target, evaluate(*expr, scope), inner);
  return execute(node.body, inner, out);
}

Interpreter::Flow Interpreter::run_node(const Scoped& node, Scope& scope, TracedText& out) {
  return execute(node.body, inner_scope(scope), out);
}

// ---- Macros ----

Callable* Interpreter::make_macro(const Macro& macro, const Scope& scope) {
  Callable* callable = heap_.callable(
      macro.name, [this, &macro, &scope](const Arguments& arguments) { return call_macro(macro, scope, arguments); });
  callable->is_macro = true;
  return callable;
}

Value Interpreter::call_macro(const Macro& macro, const Scope& defined_in, const Arguments& arguments) {
  Scope& scope = inner_scope(defined_in);
  bind_parameters(macro, scope, arguments);
  TracedText text;
  execute(macro.body, scope, text);
  return heap_.text(std::move(text));
}

void Interpreter::bind_parameters(const Macro& macro, Scope& scope, const Arguments& arguments) {
  auto named = arguments.named;
  const auto pop_keyword = [&named](std::string_view name) -> std::optional<Value> {
    const auto at =
        std::find_if(named.begin(), named.end(), [name](const auto& given) { return given.first.bytes == name; });
    if (at == named.end()) return std::nullopt;
    const Value value = std::move(at->second);
    named.erase(at);
    return value;
  };
  const std::vector<Value>& positional = arguments.positional;
  const size_t n = macro.parameters.size();
  bool has_caller_parameter = false;
  for (size_t i = 0; i < n; ++i) {
    const auto& [name, otherwise] = macro.parameters[i];
    has_caller_parameter |= name == "caller";
    std::optional<Value> value = i < positional.size() ? std::optional(positional[i]) : pop_keyword(name);
    if (!value)
      value = otherwise ? evaluate(*otherwise, scope) : undefined("parameter '" + name + "' was not provided");
    scope.set(name, *value);
  }
  if (macro.uses_caller && !has_caller_parameter) {
    scope.set("caller", pop_keyword("caller").value_or(undefined("no caller is defined")));
  }
  if (macro.uses_varargs) {
    const size_t bound = std::min(n, positional.size());
    scope.set("varargs",
              heap_.list({positional.begin() + static_cast<ptrdiff_t>(bound), positional.end()}, List::Form::kTuple));
  } else if (positional.size() > n) {
    throw Fault("macro '" + macro.name + "' takes not more than " + std::to_string(n) + " arguments");
  }
  if (macro.uses_kwargs) {
    Dict* rest = heap_.dict();
    for (const auto& [name, value] : named) heap_.set(*rest, heap_.text(name), value);
    scope.set("kwargs", rest);
  } else if (!named.empty()) {
    throw Fault("macro '" + macro.name + "' takes no argument named '" + named[0].first.bytes + "'");
  }
}

}  // namespace warpchat::jinja
