// Request bodies: POST /chat/completions for messages, /completions for text.
#pragma once
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "engine/reasoning_splitter.h"
#include "engine/remote/endpoint.h"
#include "engine/session/responder.h"

namespace warpchat {

// Leaves all sampling to the server: no parameter is sent.
SamplingParams servers_own_sampling();

struct RemoteRequest {
  std::string path;  // relative to the endpoint's URL
  nlohmann::ordered_json body;
  ReasoningSplitter::Begin begin = {};  // of the text that answers it, which may continue the last message
};

// Whether these servers go on with a conversation's last message if it is an answer; others may begin it anew.
bool continues_answers(ServerKind kind);

// left_out: fields that the server has refused. Error for a prompt of tokens, for a chat template, for an answer to
// continue unless continues_answers, and for a form that servers of this kind have no field for.
RemoteRequest remote_request(const Prompt& prompt, const AnswerOptions& options, const RemoteModel& model,
                             const std::set<std::string>& left_out);

// Optional fields of a body that a server's refusal says are unsupported. Fields that only some servers know are
// dropped together. Empty if the refusal is about anything else, such as a value out of range, even if it names a
// field.
std::set<std::string> refused_fields(const nlohmann::ordered_json& body, const std::string& words);

}  // namespace warpchat
