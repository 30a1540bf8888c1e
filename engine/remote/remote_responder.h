// An OpenAI-compatible endpoint as a responder, with concurrent answers on one thread.
#pragma once
#include <atomic>
#include <memory>
#include <set>
#include <string>

#include "engine/http/http_loop.h"
#include "engine/remote/chat_request.h"
#include "engine/remote/endpoint.h"
#include "engine/session/responder.h"

namespace warpchat {

class RemoteResponder : public Responder {
 public:
  // model: from list_models(), or just an id. Sends nothing.
  RemoteResponder(Endpoint endpoint, RemoteModel model);
  ~RemoteResponder() override;

  ResponderFacts facts() const override;
  const Endpoint& endpoint() const;

  // Error for a prompt of tokens, for a chat template, and for a form that this kind of server cannot be asked for. An
  // answer with a form is checked at its end, since servers may ignore it (GenerationEnd::form_fault). A busy server
  // (429, 503, ...) gets three tries in total; each wait emits a Notice. Refused fields are omitted, from then on if it
  // answers without them, with a Notice.
  std::unique_ptr<Generation> start(const Prompt& prompt, const AnswerOptions& options,
                                    const OnReady& ready = {}) override;

  std::optional<uint32_t> count(const Prompt&, const AnswerOptions&) override { return std::nullopt; }

 private:
  class RemoteGeneration;
  class Answering;  // the part that runs on the loop's thread
  struct Shared;    // shared with generations, which end on the loop's thread
  std::unique_ptr<Shared> shared_;
  std::atomic<uint64_t> n_generations_ = 0;
};

}  // namespace warpchat
