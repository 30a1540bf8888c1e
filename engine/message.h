// A message of a conversation, as front ends, stores, responders and files pass it on.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace warpchat {

// What an answer took. 0 where it is not known, as with most remote machines.
struct Timings {
  uint32_t prompt_tokens = 0;  // of the whole prompt
  uint32_t reused_tokens = 0;  // of them, found in the KV cache
  uint32_t generated_tokens = 0;
  double prompt_seconds = 0;       // computing the prompt's other tokens
  double generate_seconds = 0;     // from the first generated token to the last
  double first_token_seconds = 0;  // from the request to the first token
  uint32_t drafted_tokens = 0;     // looked up, and computed beside the token before them
  uint32_t accepted_tokens = 0;    // of them, that were the answer's
  bool operator==(const Timings&) const = default;
};

// A text file that goes with a user's message; the model reads it before the message.
struct AttachedFile {
  std::string name;  // without its folder
  std::string text;
  uint32_t tokens = 0;  // as the model that it was sent to counts them; 0: not known
  bool operator==(const AttachedFile&) const = default;
};

// What an answer wants to have called; arguments: JSON as the model wrote it.
struct ToolCall {
  std::string id, name, arguments;
  bool operator==(const ToolCall&) const = default;
};

enum class AnswerCut { kNone, kTokenLimit, kContextFull };  // where an answer ended before its end

struct Message {
  std::string role = {};       // "user", "assistant", "tool"
  std::string content = {};    // as typed, or answered
  std::string reasoning = {};  // an answer's thought, without its tags
  std::vector<AttachedFile> files = {};
  std::vector<ToolCall> tool_calls = {};
  std::string tool_call_id = {};          // role "tool": what this is the result of
  std::string model = {}, endpoint = {};  // who answered: file or name; URL, empty for this machine
  std::optional<Timings> timings = {};
  AnswerCut cut = AnswerCut::kNone;
  bool operator==(const Message&) const = default;
};

// {"role", "content": [{"type": "text", "text"}, {"type": "file", "name", "text", "tokens"}], "reasoning",
// "tool_calls": [{"id", "name", "arguments"}], "tool_call_id", "model", "endpoint", "timings": {...}, "cut":
// "token_limit" or "context_full"}: what is empty is left out, and a content that is one text is a string. Reads more
// than it writes: other keys are passed over. Error for a value of another type, with its key.
nlohmann::ordered_json to_json(const Message& message);
Message message_from_json(const nlohmann::ordered_json& json);

bool is_empty(const Message& message);  // nothing is said, read or called

// What the model reads: each file under its name in a code block that it cannot end, then the content.
std::string text_for_model(const Message& message);

// "<think>\n...\n</think>\n\n" at an answer's start, as old stores and many servers give it, into reasoning and
// content. A thought that never ended is all reasoning. Anything else: content alone.
void part_reasoning(Message& message);

}  // namespace warpchat
