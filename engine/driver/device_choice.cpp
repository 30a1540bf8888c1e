// Parses device names and opens devices.
#include "engine/driver/device_choice.h"

#include "engine/driver/driver_error.h"
#include "engine/driver/emulator_library.h"
#include "models/number_in.h"
#include "models/text_format.h"
#include "ptx/error.h"
#include "ptx/target.h"

namespace warpchat {

namespace {

constexpr std::string_view kCuda = "cuda", kEmulator = "emulator";

// The part after "cuda:" or "emulator:"; empty for the bare name; nullopt for another name.
std::optional<std::string_view> detail_of(std::string_view name, std::string_view kind) {
  if (name == kind) return "";
  if (!name.starts_with(kind) || name.size() < kind.size() + 2 || name[kind.size()] != ':') return std::nullopt;
  return name.substr(kind.size() + 1);
}

std::optional<int> number_of(std::string_view text) {
  const std::optional<int> number = number_in<int>(text);
  return number && *number >= 0 ? number : std::nullopt;
}

bool is_target(std::string_view text) {
  try {
    ptx::parse_target(text.substr(0, text.find(',')));
    return true;
  } catch (const ptx::Error&) {
    return false;
  }
}

DeviceChoice cuda_device(int index) {
  const DriverTable& table = libcuda_table();
  const std::vector<GpuDevice> gpus = list_gpus(table);
  if (static_cast<size_t>(index) >= gpus.size())
    throw ErrorWithRemedy(
        "cuda:" + std::to_string(index) + ": no such GPU; this machine has " + std::to_string(gpus.size()),
        Remedy::Kind::kListDevices);
  gpus[index].target();
  return {&table, gpus[index], ""};
}

// Without a profile, CUDA_EMULATOR_DEVICE decides.
DeviceChoice emulator_device(std::string_view profile) {
  const int index = profile.empty() ? 0 : emulated_device(std::string(profile));
  return {&emulator_table(), list_gpus(emulator_table()).at(static_cast<size_t>(index)), ""};
}

std::string first_clause(const std::string& sentence) { return sentence.substr(0, sentence.find_first_of(":;")); }

// Why a GPU is unsuitable, and whether only for lack of memory. Opens the GPU if a size is needed.
struct Obstacle {
  std::string reason;  // empty: suitable
  bool lacks_memory = false;
};
Obstacle obstacle_to(const DriverTable& table, const GpuDevice& gpu, uint64_t needed_bytes, ContextPointer& open) {
  try {
    gpu.target();
    if (needed_bytes == 0) return {};
    open = Context::open(table, gpu);
    const uint64_t free_bytes = open->memory().free_bytes;
    if (free_bytes >= needed_bytes) return {};
    return {"cuda:" + std::to_string(gpu.index) + " has " + grouped(free_bytes) + " bytes free, the model needs " +
                grouped(needed_bytes),
            true};
  } catch (const DriverError& error) {
    return {"cuda:" + std::to_string(gpu.index) + ": " + first_clause(meaning_of(table, error.code()))};
  } catch (const Error& error) {
    return {first_clause(error.what())};
  }
}

}  // namespace

DeviceChoice choose_default(const DriverTable& table, uint64_t needed_bytes) {
  DeviceChoice choice;
  for (const GpuDevice& gpu : list_gpus(table)) {
    choice.open.reset();
    const Obstacle obstacle = obstacle_to(table, gpu, needed_bytes, choice.open);
    if (obstacle.reason.empty()) {
      choice.table = &table;
      choice.gpu = gpu;
      choice.lacks_memory = false;
      return choice;
    }
    choice.reason += (choice.reason.empty() ? "" : "; ") + obstacle.reason;
    choice.lacks_memory |= obstacle.lacks_memory;
  }
  choice.open.reset();
  if (choice.reason.empty()) choice.reason = "there is no GPU";
  return choice;
}

bool is_device_name(std::string_view name) {
  if (name.empty() || name == "cpu") return true;
  if (const auto detail = detail_of(name, kCuda)) return detail->empty() || number_of(*detail);
  if (const auto detail = detail_of(name, kEmulator)) return detail->empty() || is_target(*detail);
  return false;
}

DeviceChoice choose_device(std::string_view name, uint64_t needed_bytes) {
  if (!is_device_name(name))
    throw ErrorWithRemedy("unknown device '" + std::string(name) + "'; use cpu, cuda, cuda:N or emulator[:sm_XX]",
                          Remedy::Kind::kListDevices);
  if (name.empty()) {
    try {
      return choose_default(libcuda_table(), needed_bytes);
    } catch (const DriverError& error) {
      return {nullptr, {}, first_clause(meaning_of(libcuda_table(), error.code()))};
    } catch (const Error& error) {
      return {nullptr, {}, first_clause(error.what())};
    }
  }
  if (name == "cpu") return {};
  if (const auto detail = detail_of(name, kCuda)) return cuda_device(detail->empty() ? 0 : *number_of(*detail));
  return emulator_device(*detail_of(name, kEmulator));
}

}  // namespace warpchat
