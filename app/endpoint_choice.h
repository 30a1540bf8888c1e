// Resolves --endpoint and -m to a server and its model.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "app/options.h"
#include "engine/remote/remote_responder.h"

namespace warpchat {

// A name in the book, or an address with its scheme: no model file.
bool is_endpoint(const std::string& text);

// Resolves --endpoint: a stored name or an address, with its key. UsageError or Error.
Endpoint find_endpoint(const ChatOptions& options);

// Stores a key for the endpoint in place of the previous one; an address without a name is stored under its host's
// name. UsageError for an invalid key, Error if it cannot be stored.
void keep_key(const std::string& endpoint, const std::string& key);
void require_key(const std::string& key);  // UsageError if it is invalid

// Notes go to standard error.
Waiting wait_at_terminal();

// Lists the endpoint's models for --list-models, one per line.
std::string model_list(const Endpoint& endpoint, const Waiting& waiting);

// The model of -m, by its name or a part of it; without -m the only one. UsageError that names them where there are
// several; a name that is not listed is left to the server.
RemoteModel choose_remote_model(const Endpoint& endpoint, const std::string& name, const Waiting& waiting);

// Resolves endpoint and model. Asks the endpoint for its models; sends no text.
std::unique_ptr<RemoteResponder> open_endpoint(const ChatOptions& options, const Waiting& waiting);

// Formats a responder's facts().endpoint for people: "gpu-box:8000, without encryption"; empty if no text leaves this
// machine.
std::string where_text_goes(const std::string& url);

}  // namespace warpchat
