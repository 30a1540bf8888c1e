// Requests to the hub: search, a repository's files, a file's metadata and data. Each error message says what to do.
// Temporary errors are retried a bounded number of times, and reported.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "engine/http/http_client.h"
#include "engine/hub/hub_files.h"
#include "engine/hub/hub_settings.h"

namespace warpchat {

struct HubFileFacts {
  std::string commit;
  std::string sha256;  // empty: unknown
};

class HubClient {
 public:
  // note: called before each wait, "HUB answers 503; try 2 of 5 in 1 s". Error if the settings forbid a network.
  HubClient(const HubSettings& settings, std::function<void(const std::string&)> note);

  const HubSettings& settings() const { return settings_; }

  std::vector<HubHit> search(const std::string& words, size_t max);  // GGUF repositories, most downloads first
  std::vector<HubFile> files(const std::string& repository);
  HubFileFacts facts(const std::string& repository, const std::string& path);

  // Passes a file's data from byte `from` on to on_body. on_answer gets the status before (200: the whole file, 206:
  // the rest); both may throw. Returns the status: 200, 206 or 416. HttpBroken if the connection ends early; no
  // retries.
  long fetch(const std::string& repository, const std::string& path, uint64_t from,
             const std::function<void(const HttpAnswer&)>& on_answer,
             const std::function<void(std::span<const std::byte>)>& on_body);

  // Reports the fault and waits before the next try, longer each time. Error after the last. tries: consecutive
  // failures, including this one.
  void wait_after(const HttpBroken& fault, int tries);

  void throw_if_stopped();
  void stop() { http_.stop(); }  // thread-safe: running and later calls throw HttpStopped

 private:
  HttpAnswer ask(const HttpRequest& request, const std::string& repository);  // repository: for messages; may be empty
  HttpAnswer ask_for_list(const std::string& url, const std::string& repository);
  [[noreturn]] void refuse(const HttpAnswer& answer, const std::string& repository);
  std::string near_names(const std::string& repository);
  std::string search_url(const std::string& words, size_t max) const;
  std::string file_url(const std::string& repository, const std::string& path) const;

  HubSettings settings_;
  std::function<void(const std::string&)> note_;
  HttpClient http_;
};

}  // namespace warpchat
