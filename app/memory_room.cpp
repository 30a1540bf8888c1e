#include "app/memory_room.h"

#include <algorithm>

#include "engine/cpu/memory_budget.h"
#include "engine/driver/device_choice.h"
#include "models/human_bytes.h"

namespace warpchat {

MemoryRoom memory_room(const std::string& device, uint64_t spare_bytes) {
  const bool emulated = device.starts_with("emulator");
  try {
    const DeviceChoice choice = emulated ? DeviceChoice{} : choose_device(device);
    if (choice.table != nullptr) return {.bytes = choice.gpu.memory_bytes, .like_gpu = true, .of_gpu = true};
  } catch (const Error&) {
    // Not there: the CPU's memory is the best guess.
  }
  const uint64_t available = available_memory();
  return {.bytes = available + std::min(spare_bytes, UINT64_MAX - available), .like_gpu = emulated};
}

void judge(ModelChoice& model, uint64_t needed, const MemoryRoom& room) {
  if (needed == 0) return;
  model.fits = needed <= room.bytes ? FitsMemory::kYes : FitsMemory::kNo;
  model.why = "needs about " + human_bytes(needed) + " of memory, " +
              (room.of_gpu ? "the GPU has " + human_bytes(room.bytes) : human_bytes(room.bytes) + " are free");
}

std::string about_and_why(const ModelChoice& model) {
  return model.about + (model.about.empty() || model.why.empty() ? "" : "; ") + model.why;
}

uint64_t memory_for_file(uint64_t file_bytes) { return file_bytes + file_bytes / 8 + 600'000'000; }

}  // namespace warpchat
