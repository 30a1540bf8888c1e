#include "engine/calls/call_reader.h"

#include <nlohmann/json.hpp>

#include "engine/calls/parameter_value.h"
#include "engine/calls/xml_shape.h"
#include "engine/untrusted_json.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat::calls {

namespace {

using nlohmann::json;

constexpr std::string_view kNoName = "the call has no name";
constexpr std::string_view kNoObject = "the arguments of the call are no JSON object";

// Arguments by name in their order; of several with one name the last.
class Arguments {
 public:
  void set(std::string name, std::string value) {
    for (auto& [known, old] : members_)
      if (known == name) {
        old = std::move(value);
        return;
      }
    members_.emplace_back(std::move(name), std::move(value));
  }
  size_t size() const { return members_.size(); }

  std::string text() const {
    std::string text = "{";
    for (const auto& [name, value] : members_) text += (text.size() > 1 ? ", " : "") + json_string(name) + ": " + value;
    return text + "}";
  }

 private:
  std::vector<std::pair<std::string, std::string>> members_;  // name, JSON
};

constexpr size_t kMaxParameters = 10'000;  // each new name is compared with all before it

}  // namespace

std::optional<std::string> text_of_json_string(std::string_view quoted) {
  const json text = try_parse_untrusted_json(quoted);
  return text.is_string() ? std::optional(text.get<std::string>()) : std::nullopt;
}

ReadCall read_arguments(std::string name, std::string_view object) {
  ReadCall call{.name = std::move(name)};
  try {
    const json arguments = parse_untrusted_json(object);
    if (arguments.is_object())
      call.arguments = object;
    else
      call.error = kNoObject;
  } catch (const JsonError& error) {
    call.error = "the arguments of the call cannot be read: " + std::string(error.what());
  }
  if (call.name.empty()) call.error = kNoName;
  return call;
}

ReadCall read_json_call(std::string_view object, Range name, Range arguments) {
  ReadCall call;
  if (name.is_known()) call.name = text_of_json_string(name.of(object)).value_or("");
  try {
    parse_untrusted_json(object);
  } catch (const JsonError& error) {
    call.error = "the call cannot be read: " + std::string(error.what());
    return call;
  }
  if (call.name.empty()) {
    call.error = kNoName;
    return call;
  }
  if (!arguments.is_known()) return call;
  const std::string_view value = arguments.of(object);
  if (value.starts_with('"')) return read_arguments(std::move(call.name), text_of_json_string(value).value_or(""));
  if (value.starts_with('{'))
    call.arguments = value;
  else
    call.error = kNoObject;
  return call;
}

ReadCall read_xml_call(std::string_view text, std::span<const CallTool> tools) {
  ReadCall call;
  XmlShape shape(0);
  Arguments arguments;
  std::optional<ParameterTypes> types;
  for (size_t at = 0; at < text.size(); ++at) {
    const XmlShape::Step step = shape.step(text, at);
    if (step == XmlShape::Step::kName) {
      call.name = trimmed(shape.name().of(text));
      types.emplace(schema_of(tools, call.name));
    } else if (step == XmlShape::Step::kBreaksAndEnds) {
      call.error = "a parameter of the call is not closed by </parameter>";
    } else if (step == XmlShape::Step::kBreaks) {
      call.error = "the call cannot be read: other text stands between its tags (byte " + grouped(at) + ")";
    }
    if (!call.error.empty()) return call;
    if (step == XmlShape::Step::kValue || step == XmlShape::Step::kLastEnds) {
      std::string name(shape.parameter().of(text));
      if (arguments.size() == kMaxParameters) call.error = "the call has more than 10,000 parameters";
      if (name.empty()) call.error = "a parameter of the call has no name";
      if (!call.error.empty()) return call;
      std::string value = types->json_of(name, shape.value().of(text));
      arguments.set(std::move(name), std::move(value));
    }
  }
  call.arguments = arguments.text();
  if (call.name.empty()) call = {.name = "", .error = std::string(kNoName)};
  return call;
}

ReadCall read_python_call(std::string_view text) {
  constexpr std::string_view kCall = ".call(";
  ReadCall call;
  const size_t open = text.find(kCall);
  if (open == std::string_view::npos || open == 0 || !text.ends_with(')')) {
    call.error = "the call is neither JSON nor of the form name.call(key=\"value\")";
    return call;
  }
  call.name = text.substr(0, open);
  std::string_view rest = text.substr(open + kCall.size());
  rest.remove_suffix(1);
  Arguments arguments;
  const auto skip_blanks = [&] {
    while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
  };
  for (skip_blanks(); !rest.empty(); skip_blanks()) {
    size_t n_name = 0;
    while (n_name < rest.size() && is_of_python_name(rest[n_name])) ++n_name;
    std::string name(rest.substr(0, n_name));
    rest.remove_prefix(n_name);
    skip_blanks();
    const bool has_value = n_name > 0 && rest.starts_with('=') && arguments.size() < kMaxParameters;
    if (has_value) rest.remove_prefix(1);
    skip_blanks();
    const PythonValue value = has_value ? next_python_value(rest) : PythonValue{};
    if (value.json.empty()) {
      call.error = "the arguments of the call are not of the form key=\"value\"";
      return call;
    }
    arguments.set(std::move(name), value.json);
    rest.remove_prefix(value.n_bytes);
    skip_blanks();
    if (rest.starts_with(',')) rest.remove_prefix(1);
  }
  call.arguments = arguments.text();
  return call;
}

}  // namespace warpchat::calls
