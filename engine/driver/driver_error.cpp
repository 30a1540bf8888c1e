// Explanations of CUDA's error codes for users.
#include "engine/driver/driver_error.h"

#include <string>

namespace warpchat {

using namespace ptx::cuda;

namespace {

struct Meaning {
  CUresult code;
  const char* sentence;
  Remedy::Kind remedy = Remedy::Kind::kNone;
};

constexpr const char* kLost =
    "the GPU stopped answering; the conversation is kept: load the model again, and look into the system log (dmesg) "
    "for NVRM messages";
constexpr const char* kOwnFault = ", which is a fault of warpchat: please report it";
// After these, CUDA refuses all further work of the process.
constexpr const char* kFault =
    "a kernel broke a rule of the GPU, which is a fault of warpchat: please report it, and start the program again";

constexpr Meaning kMeanings[] = {
    {CUDA_ERROR_OUT_OF_MEMORY, "the GPU's memory is full; close other programs on it or use a smaller context"},
    {CUDA_ERROR_NO_DEVICE, "no NVIDIA GPU is visible; check nvidia-smi and CUDA_VISIBLE_DEVICES",
     Remedy::Kind::kUseCpu},
    {CUDA_ERROR_INVALID_DEVICE, "there is no GPU of that number", Remedy::Kind::kListDevices},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, "another program has the GPU for itself; end it", Remedy::Kind::kUseCpu},
    {CUDA_ERROR_NOT_PERMITTED, "this user may not use the GPU; check the permissions of /dev/nvidia*"},
    {CUDA_ERROR_OPERATING_SYSTEM,
     "the operating system refuses what it needs; check the permissions of /dev/nvidia*, and the limit on threads "
     "(ulimit -u)"},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
     "the NVIDIA driver in the kernel and its library differ in version; restart the machine after the update"},
    {CUDA_ERROR_SYSTEM_NOT_READY, "the system's GPU services are not running; start them (nvidia-fabricmanager) first"},
    {CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "the CUDA compatibility library does not support this GPU"},
    {CUDA_ERROR_STUB_LIBRARY, "libcuda.so.1 is the toolkit's stub; install NVIDIA's driver"},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "the NVIDIA driver is too old for this program's kernels; update it"},
    {CUDA_ERROR_INVALID_PTX, "the driver's compiler refuses a generated kernel, which is a fault of warpchat"},
    {CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "the driver's PTX compiler (libnvidia-ptxjitcompiler) is missing; install it"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "the GPU has too few registers or too little shared memory for a kernel"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, "the system's watchdog ended a kernel that ran too long; start the program again"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, kFault},
    {CUDA_ERROR_MISALIGNED_ADDRESS, kFault},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, kFault},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, kFault},
    {CUDA_ERROR_INVALID_PC, kFault},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, kFault},
    {CUDA_ERROR_LAUNCH_FAILED, kFault},
    {CUDA_ERROR_ECC_UNCORRECTABLE, "the GPU's memory has an uncorrectable error; restart the machine"},
    {CUDA_ERROR_UNKNOWN, kLost},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, kLost},
    {CUDA_ERROR_DEINITIALIZED, kLost},
};

const Meaning* find_meaning(CUresult code) {
  for (const Meaning& m : kMeanings)
    if (m.code == code) return &m;
  return nullptr;
}

}  // namespace

std::string meaning_of(const DriverTable& table, CUresult code) {
  if (const Meaning* known = find_meaning(code)) return known->sentence;
  const char* text = nullptr;
  if (table.cuGetErrorString(code, &text) != CUDA_SUCCESS || text == nullptr)
    return "an error this program does not know";
  return text;
}

void throw_driver_error(const DriverTable& table, CUresult code, std::string_view call, std::string_view what) {
  const char* name = nullptr;
  if (table.cuGetErrorName(code, &name) != CUDA_SUCCESS || name == nullptr) name = "an unknown error";
  const Meaning* known = find_meaning(code);
  throw DriverError(code,
                    std::string(what) + ": " + std::string(call) + " failed with " + name + " (" +
                        std::to_string(static_cast<unsigned>(code)) + "): " + meaning_of(table, code),
                    {known != nullptr ? known->remedy : Remedy::Kind::kNone});
}

void throw_broken_bound(std::string_view what) { throw Error(std::string(what) + kOwnFault); }

}  // namespace warpchat
