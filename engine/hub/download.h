// Downloads a model into the cache: lists, plans, fetches file by file, checks, then links. A file that another program
// has put there is checked once. After any interruption, even a kill, the next download continues from what exists.
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
  kWaiting,   // until another program has downloaded the same file
  kChecking,  // reads earlier data
  kFetching,
};

struct DownloadProgress {
  DownloadPhase phase;
  uint64_t bytes, total;  // sums over all files
};

struct DownloadListener {  // called on the thread of plan() or run()
  std::function<void(const DownloadProgress&)> progress;
  std::function<void(const std::string&)> note;  // a message: a retry, a file that starts over
};

struct DownloadPlan {
  HubModelName name;           // with the files' quantisation if none was written
  std::vector<HubFile> files;  // in order of parts
  uint64_t bytes = 0;          // sum over all files
  uint64_t missing = 0;        // bytes to fetch
};

class Download {
 public:
  // Error if the settings forbid a network; sends nothing yet.
  Download(const HubSettings& settings, HubModelName name, DownloadListener listener);

  DownloadPlan plan();  // lists files on the hub; run() calls it if necessary

  // Returns the path of the model's first file in the cache. HttpStopped after pause(), Error for other faults.
  // Received data is kept unless it is wrong.
  std::string run();

  bool has_fetched() const { return has_fetched_; }  // run() asked the hub for data

  void pause() { client_.stop(); }  // thread-safe and permanent

 private:
  void check_space(const DownloadPlan& plan) const;
  std::string common_commit();
  bool is_here(const HubFile& file);  // whole; reads it if that was never verified
  void fetch(const HubFile& file);
  void fetch_rest(const HubFile& file, PartialFile& half);
  void report(DownloadPhase phase, uint64_t bytes_of_file);

  HubModelName name_;
  DownloadListener listener_;
  HubClient client_;
  HubCache cache_;
  DownloadPlan plan_;
  bool has_fetched_ = false;
  uint64_t bytes_before_ = 0;  // sum over files before the current one
};

}  // namespace warpchat
