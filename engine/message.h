// A conversation's message, as front ends, stores, responders and files exchange it.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/reasoning_splitter.h"

namespace warpchat {

// Token counts and times of an answer. 0 where unknown, as with most remote servers.
struct Timings {
  uint32_t prompt_tokens = 0;  // in the whole prompt
  uint32_t reused_tokens = 0;  // found in the KV cache
  uint32_t generated_tokens = 0;
  double prompt_seconds = 0;       // for the prompt tokens not reused
  double generate_seconds = 0;     // first generated token to last
  double first_token_seconds = 0;  // request to first token
  uint32_t drafted_tokens = 0;     // by prompt lookup, verified with the token before them
  uint32_t accepted_tokens = 0;    // drafted tokens that became part of the answer
  bool operator==(const Timings&) const = default;
};

// A text file attached to a user's message. The model reads it before the message.
struct AttachedFile {
  std::string name;  // without folder
  std::string text;
  uint32_t tokens = 0;  // counted by the model that it was sent to; 0: unknown
  bool operator==(const AttachedFile&) const = default;
};

// How far a call is: still written or left undone, waits for the user's permission, runs, or has a result.
enum class CallStatus : uint8_t { kNone, kAsking, kRunning, kOk, kError, kDenied };

// "ok", "error" or "denied"; "" before that.
std::string_view name_of(CallStatus status);

// A function call that an answer asks for. arguments: JSON as the model wrote it.
struct ToolCall {
  std::string id, name, arguments;
  std::string result = {};  // as the model reads it
  CallStatus status = CallStatus::kNone;
  bool operator==(const ToolCall&) const = default;
};

// A part of an answer that ended with calls, whose results the model then read to go on.
struct ToolRound {
  std::string content, reasoning;
  std::vector<ToolCall> calls;
  bool operator==(const ToolRound&) const = default;
};

enum class AnswerCut { kNone, kTokenLimit, kContextFull };  // the limit that cut an answer off

struct Message {
  std::string role = {};       // "user", "assistant", "tool"
  std::string content = {};    // as typed, or answered
  std::string reasoning = {};  // an answer's reasoning, without its tags
  std::vector<AttachedFile> files = {};
  std::vector<ToolRound> rounds = {};     // of an answer, before `content` and `reasoning`
  std::vector<ToolCall> tool_calls = {};  // of the last part: without results, unless messages_for_model() made it
  // Role "tool": the call that this result belongs to, and the name of its function if it is known.
  std::string tool_call_id = {}, tool_name = {};
  std::string model = {}, endpoint = {};  // source of the answer: file or name; URL, empty for this machine
  std::optional<Timings> timings = {};
  AnswerCut cut = AnswerCut::kNone;
  std::string failure = {};      // why the answer is incomplete; of a user's message: why it has no answer
  bool reasoning_ended = false;  // although no content follows (yet): the answer is continued with its content
  bool operator==(const Message&) const = default;
};

// {"role", "content": [{"type": "text", "text"}, {"type": "file", "name", "text", "tokens"}], "reasoning",
// "reasoning_ended": true, "rounds": [{"content", "reasoning", "tool_calls"}], "tool_calls": [{"id", "name",
// "arguments", "result", "status": "ok", "error" or "denied"}], "tool_call_id", "model", "endpoint", "timings": {...},
// "cut": "token_limit" or "context_full", "failure"}. Empty values are left out; content of one text is a string. The
// reader ignores unknown keys, and throws Error with the key for a value of the wrong type.
nlohmann::ordered_json to_json(const Message& message);
Message message_from_json(const nlohmann::json& json);

// A part of each round, and of what follows the rounds: those that are not blank, apart by an empty line.
std::string joined(const std::vector<ToolRound>& rounds, std::string ToolRound::*part, const std::string& last);

bool is_empty(const Message& message);  // no text, no reasoning, no tool calls

// What the model reads: each file under its name in a code block with a fence longer than any in the file, then the
// content.
std::string text_for_model(const Message& message);

// The conversation as a model may read it, for templates and endpoints alike: each round of an answer is a message with
// calls and one of role "tool" for each result. Left out are answers without text, such
// as a thought alone or line breaks, tool calls that no message answers, and results without their call. Neighbours of
// one role that remain are joined, since templates expect alternating roles. A last answer that has text or reasoning
// is an unfinished one and stays as it is.
std::vector<Message> messages_for_model(const std::vector<Message>& messages);

// Makes all text of an answer reasoning, or else none of it (Reclassified in engine/events.h).
void reclassify(std::string& content, std::string& reasoning, bool thinking);

// How an unfinished answer goes on, which has text or reasoning.
ReasoningSplitter::Begin begin_behind(const Message& answer);

// Splits a leading "<think>\n...\n</think>\n\n", as old stores and many servers give it, into reasoning and content.
// Reasoning that never ends is all reasoning. Anything else is content.
void part_reasoning(Message& message);

}  // namespace warpchat
