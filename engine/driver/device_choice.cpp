// Names of devices, and what stands behind them.
#include "engine/driver/device_choice.h"

#include <charconv>
#include <cstdlib>

#include "engine/driver/driver_error.h"
#include "models/error.h"
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
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
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
    throw Error("--device cuda:" + std::to_string(index) + ": there is no such GPU; this machine has " +
                std::to_string(gpus.size()) + ", --list-devices lists them");
  gpus[index].target();
  return {&table, gpus[index], ""};
}

// The emulator takes its profile from the environment when it starts, once a process.
DeviceChoice emulator_device(std::string_view profile) {
  if (!profile.empty()) setenv("CUDA_EMULATOR_DEVICE", std::string(profile).c_str(), 1);
  const GpuDevice gpu = list_gpus(emulator_table()).at(0);
  if (!profile.empty() && gpu.target().sm != ptx::parse_target(profile.substr(0, profile.find(','))).sm)
    throw Error("--device emulator:" + std::string(profile) + ": this process already emulates " +
                ptx::spell(gpu.target()) + "; start another");
  return {&emulator_table(), gpu, ""};
}

std::string first_clause(const std::string& sentence) { return sentence.substr(0, sentence.find_first_of(":;")); }

DeviceChoice best_device() {
  try {
    return cuda_device(0);
  } catch (const DriverError& error) {
    return {nullptr, {}, first_clause(meaning_of(libcuda_table(), error.code()))};
  } catch (const Error& error) {
    return {nullptr, {}, first_clause(error.what())};
  }
}

}  // namespace

bool is_device_name(std::string_view name) {
  if (name.empty() || name == "cpu") return true;
  if (const auto detail = detail_of(name, kCuda)) return detail->empty() || number_of(*detail);
  if (const auto detail = detail_of(name, kEmulator)) return detail->empty() || is_target(*detail);
  return false;
}

DeviceChoice choose_device(std::string_view name) {
  if (!is_device_name(name))
    throw Error("unknown device '" + std::string(name) +
                "'; use cpu, cuda, cuda:N or emulator[:sm_XX]; --list-devices lists them");
  if (name.empty()) return best_device();
  if (name == "cpu") return {};
  if (const auto detail = detail_of(name, kCuda)) return cuda_device(detail->empty() ? 0 : *number_of(*detail));
  return emulator_device(*detail_of(name, kEmulator));
}

}  // namespace warpchat
