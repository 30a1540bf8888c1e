// A prompt and its options as the body of POST /chat/completions, or of /completions for a text.
#pragma once
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "engine/remote/endpoint.h"
#include "engine/session/responder.h"

namespace warpchat {

// Sampling that leaves everything to the server: nothing of it is sent.
SamplingParams servers_own_sampling();

struct RemoteRequest {
  std::string path;  // below the endpoint's URL
  nlohmann::ordered_json body;
  bool in_thought = false;  // the answer goes on in the thought that the last message ends with
};

// left_out: fields that this server has refused. Error for a prompt of tokens, and for a chat template.
RemoteRequest remote_request(const Prompt& prompt, const AnswerOptions& options, const RemoteModel& model,
                             const std::set<std::string>& left_out);

// The fields of a body that a server may do without, among those that its words of refusal name. Fields that only some
// servers know go together: where one is not known, none is. None if the words are about a value that is out of range.
std::set<std::string> refused_fields(const nlohmann::ordered_json& body, const std::string& words);

}  // namespace warpchat
