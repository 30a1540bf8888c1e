// Which hub, with which token, into which cache: from the environment variables that all programs of the hub share.
#pragma once
#include <chrono>
#include <string>

namespace warpchat {

struct HubSettings {
  std::string endpoint = "https://huggingface.co";  // HF_ENDPOINT, without a slash at its end
  std::string token;                                // HF_TOKEN; empty: none
  std::string offline_reason;                       // "--offline was given", "HF_HUB_OFFLINE is set"; empty: online
  std::string cache;                                // the folder that holds models--org--repo
  std::string user_agent = "warpchat";
  std::chrono::seconds stall{30};              // HF_HUB_DOWNLOAD_TIMEOUT: this long with hardly a byte
  std::chrono::milliseconds first_wait{1000};  // before a second try; each later one waits twice as long
};

// cache: see HubSettings. Error for a variable whose value cannot be meant.
HubSettings hub_settings(const std::string& cache, bool offline);

}  // namespace warpchat
