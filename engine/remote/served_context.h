// Context size that a server gives a model, if its model list lacks it or shows only the model's maximum.
#pragma once
#include "engine/remote/endpoint.h"

namespace warpchat {

// model.context if the server offers nothing better, or does not answer in a few seconds. For Ollama only reliable
// values: of a loaded model, or set in its Modelfile; otherwise the size depends on the server's memory.
uint32_t served_context(const Endpoint& endpoint, const RemoteModel& model);

}  // namespace warpchat
