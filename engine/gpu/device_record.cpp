// {"NVIDIA H100 80GB HBM3 at 0000:01:00, driver 580.65.06, build 1f...": {"check": "", "failed modes": {"graph":
// "..."}}}
#include "engine/gpu/device_record.h"

#include <link.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/untrusted_json.h"

namespace warpchat {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxRecordBytes = size_t{1} << 20;

constexpr size_t kMaxEntries = 16;  // for other devices, drivers and builds

// The program's build ID note; empty if the linker wrote none.
int add_build(dl_phdr_info* info, size_t, void* out) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
    for (const char* end = at + header.p_memsz; at + sizeof(ElfW(Nhdr)) <= end;) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* name = at + sizeof note;
      const char* bytes = name + (note.n_namesz + 3) / 4 * 4;
      at = bytes + (note.n_descsz + 3) / 4 * 4;
      if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || std::memcmp(name, "GNU", 4) != 0 || at > end)
        continue;
      for (uint32_t k = 0; k < note.n_descsz; ++k) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(bytes[k]));
        *static_cast<std::string*>(out) += digits;
      }
    }
  }
  return 1;  // the first object is the program
}

std::string build() {
  std::string id;
  dl_iterate_phdr(&add_build, &id);
  return id;
}

Json read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(kMaxRecordBytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  Json all = try_parse_untrusted_json(text);
  return all.is_object() ? all : Json::object();
}

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : ""; }

}  // namespace

DeviceRecord::DeviceRecord(std::string path, const GpuDevice& device)
    : path_(std::move(path)),
      key_(device.name + " at " + device.bus + ", driver " + device.driver + ", build " + build()) {}

DeviceFacts DeviceRecord::read() const {
  DeviceFacts facts;
  if (path_.empty()) return facts;
  const Json all = read_file(path_);
  const auto entry = all.find(key_);
  if (entry == all.end() || !entry->is_object()) return facts;
  if (entry->contains("check")) facts.check = text_of((*entry)["check"]);
  if (const auto modes = entry->find("failed modes"); modes != entry->end() && modes->is_object())
    for (const auto& [name, why] : modes->items())
      if (const std::optional<LaunchMode> mode = launch_mode_named(name)) facts.failed_modes[*mode] = text_of(why);
  return facts;
}

bool DeviceRecord::write(const DeviceFacts& facts) const {
  if (path_.empty()) return true;
  Json all = read_file(path_);
  while (all.size() >= kMaxEntries && !all.contains(key_)) all.erase(all.begin());
  Json entry = Json::object();
  if (facts.check) entry["check"] = *facts.check;
  for (const auto& [mode, why] : facts.failed_modes) entry["failed modes"][std::string(name_of(mode))] = why;
  all[key_] = entry;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), error);
  const std::string temporary = path_ + ".new";
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out << all.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
    if (!out.flush()) return false;
  }
  std::filesystem::rename(temporary, path_, error);
  return !error;
}

void DeviceRecord::add_failed_mode(LaunchMode mode, const std::string& why) const {
  DeviceFacts facts = read();
  facts.failed_modes[mode] = why;
  write(facts);
}

}  // namespace warpchat
