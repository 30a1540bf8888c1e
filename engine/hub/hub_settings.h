// Address, token and cache of the hub, from environment variables that all programs of the hub share.
#pragma once
#include <chrono>
#include <string>

namespace warpchat {

struct HubSettings {
  std::string endpoint = "https://huggingface.co";  // HF_ENDPOINT, without a final slash
  std::string token;                                // HF_TOKEN; empty: none
  std::string offline_reason;                       // "--offline was given", "HF_HUB_OFFLINE is set"; empty: online
  std::string cache;                                // folder that contains models--org--repo
  std::string user_agent = "warpchat";
  std::chrono::seconds stall{30};              // HF_HUB_DOWNLOAD_TIMEOUT: longest time with nearly no bytes
  std::chrono::milliseconds first_wait{1000};  // before the first retry; doubles with each
};

// cache: see HubSettings. Error for a variable with an invalid value.
HubSettings hub_settings(const std::string& cache, bool offline);

}  // namespace warpchat
