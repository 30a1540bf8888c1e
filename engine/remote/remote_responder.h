// An OpenAI-compatible endpoint as a responder: any number of answers side by side, on one thread.
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
  // model: one of list_models(), or with nothing known of it but its id. Contacts nobody.
  RemoteResponder(Endpoint endpoint, RemoteModel model);
  ~RemoteResponder() override;

  ResponderFacts facts() const override;
  const Endpoint& endpoint() const;

  // Error for a prompt of tokens and for a chat template. A busy server (429, 503, ...) is asked three times in all,
  // each wait told as a Notice; fields that a server refuses are left out from then on, told likewise.
  std::unique_ptr<Generation> start(const Prompt& prompt, const AnswerOptions& options) override;

  std::optional<uint32_t> count(const Prompt&, const AnswerOptions&) override { return std::nullopt; }

 private:
  class RemoteGeneration;
  class Answering;  // what of it runs in the loop's thread
  struct Shared;    // with the generations, which end in the loop's thread
  std::unique_ptr<Shared> shared_;
  std::atomic<uint64_t> n_generations_ = 0;
};

}  // namespace warpchat
