// An empty variable counts as unset.
#include "engine/hub/hub_settings.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "engine/http/http_url.h"
#include "engine/hub/model_name.h"
#include "models/ascii.h"
#include "models/error.h"
#include "models/number_in.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_on(const std::string& value) {
  const std::string lower = lower_case(value);
  return lower == "1" || lower == "true" || lower == "yes" || lower == "on";
}

// A whole number from 1, or the default if unset.
int number(const char* name, int otherwise) {
  const std::string text = environment(name);
  if (text.empty()) return otherwise;
  const std::optional<int> value = number_in<int>(text);
  if (!value || *value < 1 || *value > 1'000'000)
    throw Error(std::string(name) + " takes a whole number from 1 to 1,000,000, found '" + printable(text) + "'");
  return *value;
}

std::string endpoint() {
  std::string url = environment("HF_ENDPOINT");
  if (url.empty()) return HubSettings{}.endpoint;
  while (url.ends_with('/')) url.pop_back();
  if (origin_of(url).empty())
    throw Error("HF_ENDPOINT takes a web address such as https://huggingface.co, found '" + printable(url) + "'");
  return url;
}

std::string token() {
  std::string text = environment("HF_TOKEN");
  while (!text.empty() && std::string_view(" \t\r\n").find(text.back()) != std::string_view::npos) text.pop_back();
  const bool fits = std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
  if (!fits) throw Error("HF_TOKEN holds characters that no token has; set it to hf_... alone");
  return text;
}

}  // namespace

HubSettings hub_settings(const std::string& cache, bool offline) {
  HubSettings settings;
  settings.endpoint = endpoint();
  settings.token = token();
  if (is_on(environment("HF_HUB_OFFLINE"))) settings.offline_reason = "HF_HUB_OFFLINE is set";
  if (offline) settings.offline_reason = "--offline was given";
  settings.cache = cache;
  settings.stall = std::chrono::seconds(number("HF_HUB_DOWNLOAD_TIMEOUT", 30));
  settings.first_wait = std::chrono::milliseconds(number("WARPCHAT_HUB_WAIT_MS", 1000));
  return settings;
}

}  // namespace warpchat
