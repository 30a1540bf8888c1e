// A model's way from the hub into the cache: listed, planned, fetched part by part, checked, and only then linked under
// its name. Interrupted at any moment, even by a kill, the next one goes on from what is there.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/hub/hub_cache.h"
#include "engine/hub/hub_client.h"
#include "engine/hub/partial_file.h"

namespace warpchat {

enum class DownloadPhase {
  kWaiting,   // for another program that downloads the same file
  kChecking,  // reading what came earlier
  kFetching,
};

struct DownloadProgress {
  DownloadPhase phase;
  uint64_t bytes, total;  // of all files
};

struct DownloadListener {  // called from the thread that is in plan() or run()
  std::function<void(const DownloadProgress&)> progress;
  std::function<void(const std::string&)> note;  // a sentence: another try, a file that begins anew
};

struct DownloadPlan {
  std::vector<HubFile> files;  // in order of their parts
  uint64_t bytes = 0;          // of all files
  uint64_t missing = 0;        // still to be fetched
};

class Download {
 public:
  // Error if the settings forbid a network; asks nobody yet.
  Download(const HubSettings& settings, HubModelName name, DownloadListener listener);

  DownloadPlan plan();  // asks the hub for its list; called by run() if it was not

  // The path of the model's first file in the cache. HttpStopped after pause(): what came is kept. Error in one
  // sentence for everything else; what came is kept unless it was wrong.
  std::string run();

  void pause() { client_.stop(); }  // from any thread, for good

 private:
  void check_space(const DownloadPlan& plan) const;
  std::string common_commit();
  void fetch(const HubFile& file);
  void fetch_rest(const HubFile& file, PartialFile& half);
  void report(DownloadPhase phase, uint64_t bytes_of_file);

  HubModelName name_;
  DownloadListener listener_;
  HubClient client_;
  HubCache cache_;
  DownloadPlan plan_;
  uint64_t bytes_before_ = 0;  // of the files before the one being fetched
};

}  // namespace warpchat
