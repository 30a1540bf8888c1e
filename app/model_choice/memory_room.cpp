#include "app/model_choice/memory_room.h"

#include <algorithm>
#include <cctype>

#include "engine/cpu/memory_budget.h"
#include "engine/driver/device_choice.h"
#include "models/human_bytes.h"
#include "models/quant_blocks.h"

namespace warpchat {

namespace {

// Mixes of formats that keep weights by grids, which are expanded (models/kernel_type.h). Bits a weight of the whole
// file, as llama.cpp's quantiser lists them; what of a file is of other formats is not expanded, but is little.
struct GridMix {
  std::string_view name;
  double bits;
};
constexpr GridMix kGridMixes[] = {{"IQ2_XXS", 2.06}, {"IQ2_XS", 2.31}, {"IQ2_S", 2.5},  {"IQ2_M", 2.7},
                                  {"IQ3_XXS", 3.06}, {"IQ3_XS", 3.3},  {"IQ3_S", 3.44}, {"IQ3_M", 3.66}};
constexpr double kExpandedBits = 8.0 * sizeof(BlockIQ2Expanded) / 256;

double expansion(std::string_view name) {
  std::string upper(name);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (const GridMix& mix : kGridMixes)
    if (upper.find(mix.name) != std::string::npos) return kExpandedBits / mix.bits;
  return 1;
}

}  // namespace

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

std::string_view word_of(FitsMemory fits) {
  switch (fits) {
    case FitsMemory::kYes:
      return "fits";
    case FitsMemory::kNo:
      return "too large";
    case FitsMemory::kUnsupported:
      return "cannot run";
    case FitsMemory::kUnknown:
      break;
  }
  return "";
}

std::string about_and_why(const ModelChoice& model) {
  return model.about + (model.about.empty() || model.why.empty() ? "" : "; ") + model.why;
}

uint64_t memory_for_file(std::string_view name, uint64_t file_bytes) {
  const auto weights = static_cast<uint64_t>(static_cast<double>(file_bytes) * expansion(name));
  return weights + weights / 8 + 600'000'000;
}

}  // namespace warpchat
