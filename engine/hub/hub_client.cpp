// The hub's addresses, and the meaning of its status codes.
#include "engine/hub/hub_client.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "engine/http/http_url.h"
#include "models/ascii.h"
#include "models/human_bytes.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr int kTries = 5;
constexpr int kMaxPages = 64;                     // pages of a repository's list, 1,000 files each
constexpr size_t kMaxListedFiles = 64'000;        // of all pages together
constexpr size_t kMaxListBytes = 64 << 20;        // likewise, as JSON
constexpr long kLongestWait = 120;                // s; longest wait that a server may request
constexpr std::chrono::seconds kTextTimeout{60};  // for a whole list
constexpr size_t kNearNames = 5;

HttpOptions http_options(const HubSettings& settings) {
  if (!settings.offline_reason.empty())
    throw Error(settings.offline_reason + ", so no hub is contacted; name a model that is already here");
  HttpOptions options;
  options.token = settings.token;
  options.origin = origin_of(settings.endpoint);
  options.user_agent = settings.user_agent;
  options.stall = settings.stall;
  return options;
}

HttpBroken busy(const HttpAnswer& answer) {
  return HttpBroken(host_of(answer.url) + " answers " + std::to_string(answer.status) +
                        (answer.status == 429 ? ", which means too many requests" : ""),
                    std::chrono::ceil<std::chrono::seconds>(answer.retry_after()).count());
}

std::string seconds_text(std::chrono::milliseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g s", static_cast<double>(time.count()) / 1000);
  return time.count() >= 10000 ? std::to_string(time.count() / 1000) + " s" : text;
}

// <https://...>; rel="next"
std::string next_page(const HttpAnswer& answer) {
  const std::string link = answer.header("link");
  const size_t rel = link.find("rel=\"next\""), open = link.rfind('<', rel), close = link.find('>', open);
  if (rel == std::string::npos || open == std::string::npos || close == std::string::npos || close > rel) return "";
  return resolve_url(answer.url, link.substr(open + 1, close - open - 1));
}

// Hexadecimal on the real hub; here it only must be a valid folder name.
bool is_commit(const std::string& text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_';
  });
}

// W/"abc" and "abc" become abc.
std::string unquoted(std::string text) {
  if (text.starts_with("W/")) text.erase(0, 2);
  std::erase(text, '"');
  return text;
}

}  // namespace

HubClient::HubClient(const HubSettings& settings, std::function<void(const std::string&)> note)
    : settings_(settings), note_(std::move(note)), http_(http_options(settings)) {}

std::string HubClient::file_url(const std::string& repository, const std::string& path) const {
  return settings_.endpoint + "/" + repository + "/resolve/main/" + escape_url_path(path);
}

std::string HubClient::search_url(const std::string& words, size_t max) const {
  return settings_.endpoint + "/api/models?search=" + escape_url_value(words) +
         "&filter=gguf&sort=downloads&direction=-1&limit=" + std::to_string(max) +
         "&expand=downloads&expand=gguf&expand=pipeline_tag";
}

std::vector<HubHit> HubClient::search(const std::string& words, size_t max) {
  const HttpAnswer answer = ask_for_list(search_url(words, max), "");
  std::vector<HubHit> hits = parse_search(answer.body, host_of(answer.url));
  hits.resize(std::min(hits.size(), max));
  return hits;
}

HttpAnswer HubClient::ask_for_list(const std::string& url, const std::string& repository) {
  HttpAnswer answer = ask({.url = url, .timeout = kTextTimeout}, repository);
  const std::string what = repository.empty() ? "models" : "files";
  if (answer.status != 200)
    throw Error(host_of(url) + " sends this program to " + host_of(answer.header("location")) + " instead of listing " +
                what + "; is HF_ENDPOINT right, or a login page of the network in between?");
  const size_t begin = answer.body.find_first_not_of(" \t\r\n");
  if (begin != std::string::npos && answer.body[begin] == '<')
    throw Error(host_of(url) + " answers with a web page where a list of " + what +
                " was expected; is HF_ENDPOINT right, or a login page of the network in between?");
  return answer;
}

std::vector<HubFile> HubClient::files(const std::string& repository) {
  std::vector<HubFile> files;
  size_t list_bytes = 0;
  std::string url = settings_.endpoint + "/api/models/" + repository + "/tree/main?recursive=true";
  for (int page = 0; !url.empty(); ++page) {
    if (page == kMaxPages)
      throw Error(repository + " lists more than " + std::to_string(kMaxPages) + " pages of files; that is no model");
    const HttpAnswer answer = ask_for_list(url, repository);
    list_bytes += answer.body.size();
    for (HubFile& file : parse_file_list(answer.body, host_of(url))) files.push_back(std::move(file));
    if (files.size() > kMaxListedFiles || list_bytes > kMaxListBytes)
      throw Error(repository + " lists more than " + grouped(kMaxListedFiles) + " files or " +
                  human_bytes(kMaxListBytes) + " of them; that is no model");
    url = next_page(answer);
    if (!url.empty() && origin_of(url) != origin_of(settings_.endpoint))
      throw Error(host_of(settings_.endpoint) + " continues its list of files on " + host_of(url) + "; not followed");
  }
  return files;
}

HubFileFacts HubClient::facts(const std::string& repository, const std::string& path) {
  const HttpAnswer answer = ask({.url = file_url(repository, path), .head = true, .timeout = kTextTimeout}, repository);
  HubFileFacts facts{unquoted(answer.header("x-repo-commit")), unquoted(answer.header("x-linked-etag"))};
  if (!is_commit(facts.commit))
    throw Error(host_of(answer.url) + " does not say which commit " + path + " is of; is HF_ENDPOINT a model hub?");
  return facts;
}

long HubClient::fetch(const std::string& repository, const std::string& path, uint64_t from,
                      const std::function<void(const HttpAnswer&)>& on_answer,
                      const std::function<void(std::span<const std::byte>)>& on_body) {
  const HttpAnswer answer = http_.send({.url = file_url(repository, path),
                                        .redirects = Redirects::kAll,
                                        .from = from,
                                        .on_answer =
                                            [&](const HttpAnswer& a) {
                                              if (a.status == 200 || a.status == 206) on_answer(a);
                                            },
                                        .on_body = on_body});
  if (answer.status == 200 || answer.status == 206 || answer.status == 416) return answer.status;
  if (!may_do_better_later(answer.status)) refuse(answer, repository);
  throw busy(answer);
}

void HubClient::throw_if_stopped() {
  if (!http_.wait(std::chrono::milliseconds(0))) throw HttpStopped();
}

HttpAnswer HubClient::ask(const HttpRequest& request, const std::string& repository) {
  for (int tries = 1;; ++tries) {
    try {
      HttpAnswer answer = http_.send(request);
      if (!may_do_better_later(answer.status)) {
        if (answer.status >= 400 || answer.status < 200) refuse(answer, repository);
        return answer;
      }
      throw busy(answer);
    } catch (const HttpUnreachable&) {
      throw;
    } catch (const HttpBroken& fault) {
      wait_after(fault, tries);
    }
  }
}

void HubClient::wait_after(const HttpBroken& fault, int tries) {
  if (fault.min_seconds > kLongestWait)
    throw Error(std::string(fault.what()) + " and wants " + grouped(static_cast<uint64_t>(fault.min_seconds)) +
                " s to pass; run the same command again then");
  if (tries >= kTries)
    throw Error(std::string(fault.what()) + "; given up after " + std::to_string(kTries) +
                " tries, the same command goes on from here");
  const auto wait = std::max<std::chrono::milliseconds>(settings_.first_wait * (1 << (tries - 1)),
                                                        std::chrono::seconds(fault.min_seconds));
  note_(std::string(fault.what()) + "; try " + std::to_string(tries + 1) + " of " + std::to_string(kTries) + " in " +
        seconds_text(wait));
  if (!http_.wait(wait)) throw HttpStopped();
}

void HubClient::refuse(const HttpAnswer& answer, const std::string& repository) {
  const std::string host = host_of(answer.url), page = settings_.endpoint + "/" + repository;
  if (repository.empty())
    throw Error(host + " answers " + std::to_string(answer.status) + " to a search; is HF_ENDPOINT a model hub?");
  const std::string says = host + " answers " + std::to_string(answer.status) + " for " + repository;
  const std::string code = answer.header("x-error-code");
  const std::string token = settings_.token.empty() ? "set HF_TOKEN to a token" : "HF_TOKEN must be a token";
  if (origin_of(answer.url) != origin_of(settings_.endpoint))
    throw Error(says + ", where the hub sent this program; run the same command again");
  if (code == "GatedRepo")
    throw Error(repository + " wants its terms accepted first, see " + page + "; then " + token +
                " of the account that did");
  if (code == "EntryNotFound") throw Error(host + " no longer has the file of " + repository + " it listed; run again");
  if (answer.status == 404 || code == "RepoNotFound")  // hubs hide private repositories from strangers
    throw Error("there is no " + repository + " at " + host + near_names(repository) + "; if it is private, " + token +
                " that may read it");
  if (answer.status == 401 || answer.status == 403)
    throw Error(says + ": it is private, or not there" + near_names(repository) + "; " + token + " that may read " +
                page);
  throw Error(says + ", which is not expected; try later");
}

// One query without retries; a failure is ignored, since this only improves another error.
std::string HubClient::near_names(const std::string& repository) {
  std::string name = repository.substr(repository.find('/') + 1);
  if (lower_case(name).ends_with("-gguf")) name.resize(name.size() - 5);
  try {
    const HttpAnswer answer = http_.send({.url = search_url(name, kNearNames), .timeout = kTextTimeout});
    if (answer.status != 200) return "";
    const std::vector<HubHit> hits = parse_search(answer.body, "");
    std::string list;
    for (size_t i = 0; i < std::min(hits.size(), kNearNames); ++i)
      list += (i ? ", " : "; near it: ") + hits[i].repository;
    return list;
  } catch (const HttpStopped&) {
    throw;
  } catch (const Error&) {
    return "";
  }
}

}  // namespace warpchat
