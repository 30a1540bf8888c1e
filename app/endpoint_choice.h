// From --endpoint to the machine and the model that answer.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "app/options.h"
#include "engine/remote/remote_responder.h"

namespace warpchat {

// A name in the book, or an address with its scheme: no model file.
bool is_endpoint(const std::string& text);

// What --endpoint means: a name from the book, or an address, with its key. UsageError or Error.
Endpoint find_endpoint(const ChatOptions& options);

// Keeps a key for what --endpoint means, in place of the one before; an address without a name gets its host's, which
// makes it one of the book. UsageError for what is no key, Error if nothing keeps it.
void keep_key(const std::string& endpoint, const std::string& key);
void require_key(const std::string& key);  // UsageError for what is none

// Notes go to standard error.
Waiting wait_at_terminal();

// The endpoint's models, a line each, for --list-models.
std::string model_list(const Endpoint& endpoint, const Waiting& waiting);

// The model of -m, by its name or a part of it; without -m the only one. UsageError that names them where there are
// several; a name that is not listed is left to the server.
RemoteModel choose_remote_model(const Endpoint& endpoint, const std::string& name, const Waiting& waiting);

// The machine and its model in one. Asks the endpoint for its models; sends no text.
std::unique_ptr<RemoteResponder> open_endpoint(const ChatOptions& options, const Waiting& waiting);

// Of a responder's facts().endpoint: "gpu-box:8000", for people, with what they should know of the way there; empty if
// nothing leaves this machine.
std::string where_text_goes(const std::string& url);

}  // namespace warpchat
