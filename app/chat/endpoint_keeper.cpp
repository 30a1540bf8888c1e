// The thread starts with the first job.
#include "app/chat/endpoint_keeper.h"

#include <algorithm>
#include <utility>

#include "app/model_choice/endpoint_changes.h"
#include "app/model_choice/endpoint_choice.h"
#include "app/platform/log.h"
#include "engine/http/http_client.h"
#include "engine/http/http_url.h"
#include "models/text_format.h"
#include "models/threads.h"

namespace warpchat {

namespace {

using Kind = ModelChoice::Kind;

std::vector<ModelChoice> stored_endpoints() {
  std::vector<ModelChoice> choices;
  const EndpointBook book;
  for (const NamedEndpoint& endpoint : book.all())
    choices.push_back({.path = endpoint.name,
                       .name = endpoint.name,
                       .kind = Kind::kEndpoint,
                       .about = endpoint.url,
                       .default_model = endpoint.model});
  return choices;
}

}  // namespace

std::vector<ModelChoice> choices_of(const std::vector<RemoteModel>& models) {
  std::vector<ModelChoice> choices;
  for (const RemoteModel& model : models) {
    std::string about = model.context > 0 ? "context of " + counted(model.context, "token") : "";
    const std::string words = word_list(model.capabilities);
    if (!words.empty()) about += (about.empty() ? "" : "  ·  ") + words;
    choices.push_back({.path = model.id,
                       .name = printable(model.id, 400),
                       .kind = Kind::kServed,
                       .about = about,
                       .context = model.context});
  }
  return choices;
}

EndpointKeeper::~EndpointKeeper() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  arrived_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void EndpointKeeper::post(Job job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  arrived_.notify_one();
  if (thread_.joinable()) return;
  try {
    thread_ = start_thread(
        "for the servers", [this] { run(); }, ends_unnoticed);
  } catch (const Error& error) {
    listeners_.failed(error.what());
  }
}

void EndpointKeeper::run() {
  for (std::unique_lock lock(mutex_);;) {
    arrived_.wait(lock, [this] { return !jobs_.empty() || ending_; });
    if (ending_) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    try {
      work(job);
    } catch (const std::exception&) {
      listeners_.failed(sentence_of_current_exception());
    }
    lock.lock();
  }
}

bool EndpointKeeper::is_superseded() {
  const auto changes = [](const Job& job) { return !std::holds_alternative<ListEndpoints>(job); };
  const std::lock_guard lock(mutex_);
  return ending_ || std::ranges::any_of(jobs_, changes);
}

void EndpointKeeper::work(const Job& job) {
  if (const auto* wish = std::get_if<ConnectServer>(&job)) {
    ServedModels served = ask(*wish);
    try {
      list();  // before the answer, which may name a new one
    } catch (const std::exception& error) {
      served = {.request = wish->request, .endpoint = wish->endpoint, .fault = error.what()};
    }
    return listeners_.served(std::move(served));
  }
  if (const auto* wish = std::get_if<RenameEndpoint>(&job)) {
    rename_endpoint(wish->from, wish->to);
    listeners_.renamed(*wish);
  }
  if (const auto* wish = std::get_if<SetDefaultModel>(&job)) set_default_model(wish->endpoint, wish->model);
  if (const auto* wish = std::get_if<RemoveEndpoint>(&job)) remove_endpoint(wish->name);
  list();
}

void EndpointKeeper::list() { listeners_.listed(stored_endpoints()); }

ServedModels EndpointKeeper::ask(const ConnectServer& wish) {
  ServedModels served{.request = wish.request, .endpoint = wish.endpoint};
  try {
    const NamedEndpoint named = stored_or_new_endpoint(wish.endpoint);
    const std::string& key = wish.key.empty() && named.name.empty() ? wish.flags_key : wish.key;
    served.models = choices_of(models_of(open_with_key(named, key), wish, served));
    served.was_stored = wish.stores && (named.name.empty() || !wish.key.empty());
    if (served.was_stored)
      served.endpoint = store_endpoint(named, key);
    else if (!named.name.empty())
      served.endpoint = named.name;
  } catch (const std::exception& error) {
    served.models.clear();
    served.fault = is_superseded() ? "the request was cancelled" : error.what();
    served.needs_key = remedy_of(error).kind == Remedy::Kind::kEndpointKey;
    log_line("error: " + served.fault);
  }
  return served;
}

std::vector<RemoteModel> EndpointKeeper::models_of(const Endpoint& endpoint, const ConnectServer& wish,
                                                   ServedModels& served) {
  const Waiting waiting{.note = [](const std::string& sentence) { log_line(sentence); },
                        .cancelled = [this] { return is_superseded(); }};
  try {
    std::vector<RemoteModel> models = list_models(endpoint, waiting);
    if (models.empty()) throw Error(host_of(endpoint.url) + " lists no models");
    return models;
  } catch (const HttpBroken&) {
    throw;
  } catch (const Error& error) {
    served.lists_none = remedy_of(error).kind == Remedy::Kind::kNone;
    if (!served.lists_none || wish.model.empty()) throw;
  }
  return {{wish.model}};
}

}  // namespace warpchat
