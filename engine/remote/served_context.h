// How many tokens of context a server gives a model, where its list of models does not say it or says what the model
// was made for.
#pragma once
#include "engine/remote/endpoint.h"

namespace warpchat {

// model.context where the server knows nothing better, or does not answer in a few seconds. Of Ollama only what is
// certain: that of a loaded model, or the one that its Modelfile sets; else it depends on the server's memory.
uint32_t served_context(const Endpoint& endpoint, const RemoteModel& model);

}  // namespace warpchat
