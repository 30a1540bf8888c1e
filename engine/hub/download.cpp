// Order: list, metadata, disk space, data, links, refs/main.
#include "engine/hub/download.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "engine/http/http_url.h"
#include "models/human_bytes.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr uint64_t kWorthwhile = 64 << 10;  // bytes; a try with that much progress resets the count of tries

// "bytes 100-199/200"
uint64_t first_byte_of(const std::string& content_range) {
  const size_t digits = content_range.find_first_of("0123456789");
  if (!content_range.starts_with("bytes ") || digits != 6) return UINT64_MAX;
  return std::strtoull(content_range.c_str() + digits, nullptr, 10);
}

// Prepares the file for the answer's data. HttpBroken if that cannot be the rest of the file.
void accept(const HttpAnswer& answer, const HubFile& file, PartialFile& half,
            const std::function<void(const std::string&)>& note) {
  const std::string host = host_of(answer.url), length = answer.header("content-length");
  const bool is_rest = answer.status == 206;
  const uint64_t expected = is_rest ? file.bytes - half.bytes() : file.bytes;
  if (answer.header("content-type").starts_with("text/html"))
    throw HttpBroken(host + " sends a web page instead of " + file.path);
  if (is_rest && first_byte_of(answer.header("content-range")) != half.bytes())
    throw HttpBroken(host + " sends another part of " + file.path + " than was asked for");
  if (!length.empty() && std::strtoull(length.c_str(), nullptr, 10) != expected)
    throw HttpBroken(host + " offers " + printable(length) + " bytes of " + file.path + " where " + grouped(expected) +
                     " are missing");
  if (is_rest || half.bytes() == 0) return;
  note(host + " cannot continue a file, so " + file.path + " begins anew");
  half.restart();
}

}  // namespace

Download::Download(const HubSettings& settings, HubModelName name, DownloadListener listener)
    : name_(std::move(name)),
      listener_(std::move(listener)),
      client_(settings, listener_.note),
      cache_(settings.cache, name_.repository) {}

DownloadPlan Download::plan() {
  plan_ = {.name = name_, .files = choose_files(client_.files(name_.repository), name_)};
  if (const std::string& path = plan_.files.front().path; name_.is_default && quant_match(path, name_.quant) == 0)
    plan_.name.quant = quant_of(path);
  plan_.bytes = total_bytes(plan_.files);
  for (const HubFile& file : plan_.files)
    if (!cache_.has(file)) plan_.missing += file.bytes - cache_.bytes_of_half(file);
  return plan_;
}

std::string Download::run() {
  if (plan_.files.empty()) plan();
  const std::string commit = common_commit();
  check_space(plan_);
  cache_.create_folders();
  if (plan_.missing > 0) cache_.note_download(plan_.name.quant, plan_.files);
  bytes_before_ = 0;
  for (const HubFile& file : plan_.files) {
    fetch(file);
    bytes_before_ += file.bytes;
  }
  // A split model is linked only when complete, since its first part alone would look like the whole model.
  std::string first;
  for (const HubFile& file : plan_.files) {
    const std::string path = cache_.link(commit, file);
    if (first.empty()) first = path;
  }
  cache_.point_main_at(commit);
  cache_.forget_download(plan_.files);
  return first;
}

void Download::check_space(const DownloadPlan& plan) const {
  const uint64_t available = cache_.free_bytes();
  if (plan.missing <= available) return;
  throw Error(name_.text() + " needs " + human_bytes(plan.missing) + " more on the disk of " +
              printable(cache_.root(), 200) + ", which has " + human_bytes(available) +
              " free; free some, or set HF_HUB_CACHE to another disk's folder");
}

std::string Download::common_commit() {
  std::string commit;
  for (const HubFile& file : plan_.files) {
    const HubFileFacts facts = client_.facts(name_.repository, file.path);
    const bool changed =
        (!facts.sha256.empty() && facts.sha256 != file.sha256) || (!commit.empty() && facts.commit != commit);
    if (changed) throw Error(name_.repository + " was changed on the hub just now; run the same command again");
    commit = facts.commit;
  }
  return commit;
}

void Download::report(DownloadPhase phase, uint64_t bytes_of_file) {
  listener_.progress({phase, bytes_before_ + bytes_of_file, plan_.bytes});
}

bool Download::is_here(const HubFile& file) {
  if (!cache_.has(file)) return false;
  if (cache_.is_verified(file)) return true;
  const std::string state = cache_.state_of(file);  // before the reading, so that a change meanwhile shows
  const std::string found = sha256_of_file(cache_.blob(file), [&](uint64_t bytes) {
    client_.throw_if_stopped();
    report(DownloadPhase::kChecking, bytes);
  });
  if (found == file.sha256) {
    cache_.mark_verified(file, state);
    return true;
  }
  listener_.note(file.path + " in the cache is not the hub's file: its SHA-256 is another one; it is fetched again");
  return false;
}

void Download::fetch(const HubFile& file) {
  if (is_here(file)) return;
  const HubLock lock(cache_.lock_path(file), [&] {
    client_.throw_if_stopped();
    report(DownloadPhase::kWaiting, cache_.bytes_of_half(file));
  });
  if (cache_.has(file) && cache_.is_verified(file)) return;  // another process fetched it
  has_fetched_ = true;
  PartialFile half(cache_.half(file));
  half.read_back(file.bytes, [&](uint64_t bytes) {
    client_.throw_if_stopped();
    report(DownloadPhase::kChecking, bytes);
  });
  for (int tries = 0; half.bytes() < file.bytes;) {
    const uint64_t before = half.bytes();
    try {
      fetch_rest(file, half);
    } catch (const HttpBroken& fault) {
      tries = half.bytes() >= before + kWorthwhile ? 1 : tries + 1;
      client_.wait_after(fault, tries);
    }
  }
  const std::string found = half.finish();
  if (found == file.sha256) {
    half.rename_to(cache_.blob(file));
    return cache_.mark_verified(file, cache_.state_of(file));
  }
  half.remove();
  throw Error(file.path + " came with the SHA-256 " + found + ", the hub says " + file.sha256 +
              "; it was removed, run the same command again");
}

void Download::fetch_rest(const HubFile& file, PartialFile& half) {
  const auto on_answer = [&](const HttpAnswer& answer) {
    accept(answer, file, half, listener_.note);
    report(DownloadPhase::kFetching, half.bytes());
  };
  const auto on_body = [&](std::span<const std::byte> bytes) {
    half.append(bytes.first(std::min<uint64_t>(bytes.size(), file.bytes - half.bytes())));
    report(DownloadPhase::kFetching, half.bytes());
  };
  const long status = client_.fetch(name_.repository, file.path, half.bytes(), on_answer, on_body);
  const uint64_t end = half.bytes();
  if (status == 416) half.restart();
  if (end < file.bytes)
    throw HttpBroken("the hub ends " + file.path + " at byte " + grouped(end) + " of " + grouped(file.bytes));
}

}  // namespace warpchat
