// Fills driver tables by symbol name from NVIDIA's driver library and from the emulator's.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "engine/driver/driver_table.h"
#include "engine/driver/emulator_library.h"
#include "engine/remedy.h"
#include "ptx/emulator/driver/emulator_interface.h"

namespace warpchat {

namespace fs = std::filesystem;

namespace {

template <class Function>
bool resolve(void* library, const char* symbol, Function& entry) {
  entry = reinterpret_cast<Function>(dlsym(library, symbol));
  return entry != nullptr;
}

// Returns missing entry points, each after a space.
std::string fill(DriverTable& table, void* library) {
  std::string missing;
#define WARPCHAT_DRIVER_RESOLVE(entry, symbol) \
  if (!resolve(library, #symbol, table.entry)) missing += std::string(" ") + #symbol;
  WARPCHAT_DRIVER_FUNCTIONS(WARPCHAT_DRIVER_RESOLVE)
#undef WARPCHAT_DRIVER_RESOLVE
  if (!resolve(library, "cuEventElapsedTime_v2", table.cuEventElapsedTime) &&
      !resolve(library, "cuEventElapsedTime", table.cuEventElapsedTime))
    missing += " cuEventElapsedTime";
  return missing;
}

DriverTable open_libcuda() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    // dlerror names a missing library and one that is there but unusable in the same form.
    const std::string reason = dlerror();
    const bool is_missing = reason.starts_with("libcuda.so.1: cannot open shared object file: No such file");
    throw ErrorWithRemedy(
        is_missing ? "no NVIDIA driver (libcuda.so.1 not found)" : "the NVIDIA driver cannot be loaded: " + reason,
        Remedy::Kind::kUseCpu);
  }
  DriverTable table;
  if (const std::string missing = fill(table, library); !missing.empty()) {
    dlclose(library);
    throw ErrorWithRemedy(
        "the NVIDIA driver libcuda.so.1 is too old: it lacks" + missing + "; install driver 525 or newer",
        Remedy::Kind::kUseCpu);
  }
  return table;
}

struct EmulatorLibrary {
  DriverTable table;
  decltype(&cuda_emulator_interface) interface_version = nullptr;
  decltype(&cuda_emulator_device) device = nullptr;
  decltype(&cuda_emulator_count_launches) count_launches = nullptr;
  decltype(&cuda_emulator_take_counters) take_counters = nullptr;
};

constexpr const char* kEmulatorFile = "libcuda_emulator.so";

fs::path program_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path(".") : program.parent_path();
}

std::vector<fs::path> emulator_candidates() {
  if (const char* file = std::getenv("WARPCHAT_EMULATOR"); file != nullptr && *file != '\0') return {file};
  const fs::path folder = program_folder();
  return {folder / kEmulatorFile, (folder / ".." / "lib" / "warpchat" / kEmulatorFile).lexically_normal()};
}

// Empty if not found.
fs::path emulator_file() {
  std::error_code error;
  for (const fs::path& candidate : emulator_candidates())
    if (fs::exists(candidate, error)) return candidate;
  return {};
}

// Build command for the emulator, in the program's build folder if it runs from there.
std::string emulator_build_command() {
  std::error_code error;
  const fs::path folder = program_folder();
  return "ninja -C " + (fs::exists(folder / "build.ninja", error) ? folder.string() : "build") + " cuda_emulator";
}

EmulatorLibrary open_emulator() {
  if (const std::string reason = why_no_emulator(); !reason.empty())
    throw ErrorWithRemedy(reason, Remedy::Kind::kUseCpu);
  const fs::path file = emulator_file();
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw ErrorWithRemedy("cannot open the emulator: " + std::string(dlerror()), Remedy::Kind::kUseCpu);
  EmulatorLibrary emulator;
  const bool is_same = resolve(library, "cuda_emulator_interface", emulator.interface_version) &&
                       emulator.interface_version() == CUDA_EMULATOR_INTERFACE;
  const bool is_complete = is_same && resolve(library, "cuda_emulator_device", emulator.device) &&
                           resolve(library, "cuda_emulator_count_launches", emulator.count_launches) &&
                           resolve(library, "cuda_emulator_take_counters", emulator.take_counters) &&
                           fill(emulator.table, library).empty();
  if (!is_complete) {
    dlclose(library);
    throw ErrorWithRemedy("the emulator " + file.string() +
                              " is of another version than this program; build it anew: " + emulator_build_command(),
                          Remedy::Kind::kUseCpu);
  }
  return emulator;
}

std::atomic<const EmulatorLibrary*> opened_emulator = nullptr;

const EmulatorLibrary& emulator() {
  static const EmulatorLibrary library = open_emulator();
  opened_emulator = &library;
  return library;
}

}  // namespace

const DriverTable& libcuda_table() {
  static const DriverTable table = open_libcuda();
  return table;
}

const DriverTable& emulator_table() { return emulator().table; }

std::string why_no_emulator() {
#if defined(__x86_64__)
  if (!emulator_file().empty()) return "";
  std::string places;
  for (const fs::path& candidate : emulator_candidates()) places += (places.empty() ? "" : " or ") + candidate.string();
  return "the emulator is not installed: there is no " + places +
         "; build it in a checkout: " + emulator_build_command() + ", or name its file in WARPCHAT_EMULATOR";
#else
  return "the emulator needs an x86-64 processor";  // ptx/CMakeLists.txt builds it there alone
#endif
}

bool is_emulator_table(const DriverTable& table) {
  const EmulatorLibrary* opened = opened_emulator;
  return opened != nullptr && &table == &opened->table;
}

int emulated_device(const std::string& profile) {
  char error[256] = "";
  const int ordinal = emulator().device(profile.c_str(), error, sizeof error);
  if (ordinal < 0) throw Error("emulator:" + profile + ": " + error);
  return ordinal;
}

void count_emulated_launches(bool on) { emulator().count_launches(on); }

std::vector<CountedKernel> take_emulated_counters() {
  std::vector<CountedKernel> kernels;
  const auto receive = [](void* data, const CudaEmulatorCounters* c) {
    static_cast<std::vector<CountedKernel>*>(data)->push_back(
        {c->kernel, {c->instructions, c->lane_instructions, c->sectors, c->bank_replays}});
  };
  emulator().take_counters(receive, &kernels);
  return kernels;
}

}  // namespace warpchat
