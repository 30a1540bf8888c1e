#include "models/chat_template/arguments.h"

namespace warpchat::jinja {
namespace {

size_t place_of(std::string_view function, const std::string& name, std::initializer_list<Parameter> parameters) {
  size_t place = 0;
  for (const Parameter& parameter : parameters) {
    if (name == parameter.name) return place;
    ++place;
  }
  throw Fault(std::string(function) + "() has no parameter '" + name + "'");
}

}  // namespace

std::vector<Value> bind(std::string_view function, const Arguments& arguments,
                        std::initializer_list<Parameter> parameters) {
  if (arguments.positional.size() > parameters.size()) {
    throw Fault(std::string(function) + "() takes at most " + std::to_string(parameters.size()) +
                " arguments, but was given " + std::to_string(arguments.positional.size()));
  }
  std::vector<std::optional<Value>> given(arguments.positional.begin(), arguments.positional.end());
  given.resize(parameters.size());
  for (const auto& [name, value] : arguments.named) {
    std::optional<Value>& slot = given[place_of(function, name.bytes, parameters)];
    if (slot) throw Fault(std::string(function) + "() was given its parameter '" + name.bytes + "' twice");
    slot = value;
  }
  std::vector<Value> values;
  for (const Parameter& parameter : parameters) {
    std::optional<Value>& slot = given[values.size()];
    if (!slot) slot = parameter.otherwise;
    if (!slot) throw Fault(std::string(function) + "() needs its parameter '" + parameter.name + "'");
    values.push_back(std::move(*slot));
  }
  return values;
}

void bind_nothing(std::string_view what, const Arguments& arguments) {
  if (!arguments.positional.empty() || !arguments.named.empty()) throw Fault(std::string(what) + " takes no arguments");
}

int64_t to_integer(const Value& v, std::string_view what) {
  if (const bool* truth = v.boolean()) return *truth ? 1 : 0;
  if (const int64_t* number = v.integer()) return *number;
  if (v.undefined()) fail_undefined(*v.undefined());
  throw Fault(std::string(what) + " must be an int, but is of type " + type_name(v));
}

const Text& to_text(const Value& v, std::string_view what) {
  if (const Text* text = v.text()) return *text;
  if (v.undefined()) fail_undefined(*v.undefined());
  throw Fault(std::string(what) + " must be a str, but is of type " + type_name(v));
}

const std::string& to_bytes(const Value& v, std::string_view what) { return to_text(v, what).bytes; }

}  // namespace warpchat::jinja
