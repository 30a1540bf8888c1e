// Resolves --endpoint and -m to a server and its model.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/model_choice/endpoint_book.h"
#include "app/model_choice/model_lookup.h"
#include "app/settings/options.h"
#include "engine/remote/remote_responder.h"

namespace warpchat {

// A name in the book, or an address (is_server_address) that is not a model's on the hub: no model file.
bool is_endpoint(const std::string& text);

// The server that the last conversation was held with; nullopt also if its name was removed since then, or if the list
// of names is damaged.
std::optional<LastServer> last_known_server();

// Resolves --endpoint: a stored name or an address, with its key. UsageError or Error.
Endpoint find_endpoint(const ChatOptions& options);

// The stored endpoint of this name or address; else a nameless one for the address. Error if it is none.
NamedEndpoint stored_or_new_endpoint(const std::string& text);

// With its key from where it is kept, or with this one instead. UsageError or Error.
Endpoint open_with_key(const NamedEndpoint& named, const std::string& key);

// Notes go to standard error.
Waiting wait_at_terminal();

// The model of -m, by its name or a part of it; without -m the endpoint's default, else its only one.
// SeveralServedModels, or a UsageError with those that match, where there are several; a name that is not listed is
// left to the server.
RemoteModel choose_remote_model(const Endpoint& endpoint, const ChatOptions& options, const Waiting& waiting);

// No -m names a model of a server that has several.
class SeveralServedModels : public UsageError {
 public:
  SeveralServedModels(const std::string& sentence, std::vector<RemoteModel> served)
      : UsageError(sentence), models(std::move(served)) {}
  std::vector<RemoteModel> models;
};

// Resolves endpoint and model. Asks the endpoint for its models; sends no text.
std::unique_ptr<RemoteResponder> open_endpoint(const ChatOptions& options, const Waiting& waiting);

// Formats a responder's facts().endpoint for people: "gpu-box:8000, without encryption"; empty if no text leaves this
// machine.
std::string where_text_goes(const std::string& url);

}  // namespace warpchat
