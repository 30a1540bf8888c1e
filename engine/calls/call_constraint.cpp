#include "engine/calls/call_constraint.h"

#include <string>

#include "engine/calls/markup.h"
#include "models/error.h"

namespace warpchat {

namespace {

using grammar::MemberMarkup;

constexpr std::string_view kAnyObject = R"({"type": "object"})";

// White space as between other tokens of JSON (engine/grammar/README.md).
constexpr std::string_view kCommonRules = R"(
space ::= (" " | "\n" [ \t]{0,20})?
anything ::= .*
)";

std::string rules_of(CallFormat format) {
  switch (format) {
    case CallFormat::kHermes:
      return R"(root ::= space "," space "\"arguments\"" space ":" space arguments space "}" space "</tool_call>" anything)";
    case CallFormat::kLlama:
      return R"(root ::= space "," space "\"parameters\"" space ":" space arguments space "}" anything)";
    case CallFormat::kMistralJson:
      return R"(root ::= space "," space "\"arguments\"" space ":" space arguments id? space "}" space next anything
id ::= space "," space "\"id\"" space ":" space "\"" [a-zA-Z0-9]{9} "\""
next ::= "]" | "," space "{")";
    case CallFormat::kMistralArgs:
      return R"(root ::= space arguments anything)";
    case CallFormat::kXml:
      return R"(root ::= space arguments "</function>" space "</tool_call>" anything)";
    case CallFormat::kNone:
      break;
  }
  throw Error("this format of tool calls is not known");
}

// The ends of a value that XmlShape sees.
MemberMarkup parameter_markup() {
  MemberMarkup markup{.open = std::string(calls::kParameterOpen),
                      .name_end = ">\n",
                      .close = "\n" + std::string(calls::kParameterClose),
                      .name_refused = "<>\n"};
  for (const std::string_view tag :
       {calls::kParameterOpen, calls::kParameterClose, calls::kFunctionClose, calls::kCallClose})
    markup.refused_pairs.emplace_back(calls::kParameterClose, tag);
  markup.refused_pairs.emplace_back(calls::kFunctionClose, calls::kCallClose);
  return markup;
}

}  // namespace

std::unique_ptr<grammar::Constraint> call_constraint(CallFormat format, const CallTool& tool) {
  grammar::ObjectRule arguments{.name = "arguments",
                                .schema = tool.schema.empty() ? std::string(kAnyObject) : tool.schema};
  if (format == CallFormat::kXml) arguments.markup = parameter_markup();
  return grammar::Constraint::from_grammar(rules_of(format) + std::string(kCommonRules), {&arguments, 1});
}

}  // namespace warpchat
