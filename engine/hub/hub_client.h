// What the hub is asked: what it has under some words, a repository's files, a file's facts, a file's bytes. Every
// refusal becomes one sentence that says what to do; what may do better another time is tried again, a bounded number
// of times and never silently.
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
  std::string sha256;  // empty: the hub says none
};

class HubClient {
 public:
  // note: told before each wait, "HUB answers 503; try 2 of 5 in 1 s". Error if the settings forbid a network.
  HubClient(const HubSettings& settings, std::function<void(const std::string&)> note);

  const HubSettings& settings() const { return settings_; }

  std::vector<HubHit> search(const std::string& words, size_t most);  // repositories with GGUF files, best known first
  std::vector<HubFile> files(const std::string& repository);
  HubFileFacts facts(const std::string& repository, const std::string& path);

  // The file from byte `from`, to on_body. on_answer is told the status (200: the whole file, 206: the rest) before; it
  // and on_body may throw. Returns the status: 200, 206 or 416. HttpBroken if the connection ends early: nothing is
  // tried again here.
  long fetch(const std::string& repository, const std::string& path, uint64_t from,
             const std::function<void(const HttpAnswer&)>& on_answer,
             const std::function<void(std::span<const std::byte>)>& on_body);

  // Notes the fault and waits before the next try, longer each time. Error if it was the last. tries: that failed in a
  // row, this one included.
  void wait_after(const HttpBroken& fault, int tries);

  void throw_if_stopped();
  void stop() { http_.stop(); }  // from any thread: whatever runs throws HttpStopped

 private:
  HttpAnswer ask(const HttpRequest& request, const std::string& repository);  // "": about none of them
  HttpAnswer ask_for_list(const std::string& url, const std::string& repository);
  [[noreturn]] void refuse(const HttpAnswer& answer, const std::string& repository);
  std::string near_names(const std::string& repository);
  std::string search_url(const std::string& words, size_t most) const;
  std::string file_url(const std::string& repository, const std::string& path) const;

  HubSettings settings_;
  std::function<void(const std::string&)> note_;
  HttpClient http_;
};

}  // namespace warpchat
