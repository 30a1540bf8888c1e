// What may follow a call's name while a model writes it: arguments of the tool's schema, up to the call's end.
#pragma once
#include <memory>

#include "engine/calls/call_format.h"
#include "engine/grammar/constraint.h"

namespace warpchat {

// It begins at CallPiece::end of the name's piece, whose format is `format`:
//   kHermes, kLlama, kMistralJson   behind the quote that closes the name:  , "arguments": {...}}\n</tool_call>
//   kXml                            behind <function=f>
//   kMistralArgs                    behind f[ARGS], or at the bracket that opens the arguments
// It is complete from the call's last byte on, and allows any text from there, since a token may reach over the end.
// The caller drops it where it becomes complete. For kMistralJson it ends behind the bracket that closes the list of
// calls, or opens the next one. Error: the schema is refused; one sentence, for the log. The call is free then.
std::unique_ptr<grammar::Constraint> call_constraint(CallFormat format, const CallTool& tool);

}  // namespace warpchat
