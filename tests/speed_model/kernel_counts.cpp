#include "tests/speed_model/kernel_counts.h"

#include <cstring>
#include <string>
#include <vector>

#include "kernels/expert_order.h"
#include "kernels/kv_cache.h"
#include "models/error.h"
#include "ptx/emulator/emulator.h"

namespace warpchat {

namespace emu = ptx::emulator;

namespace {

// An address range: untouched pages take no memory.
constexpr uint64_t kMemoryBytes = uint64_t{64} << 30, kUnknownBytes = uint64_t{1} << 30;
constexpr uint64_t kStateBytes = uint64_t{64} << 20;  // delta nets' states, for the first layer

template <class T>
void fill(uint64_t address, uint64_t n, T value) {
  for (uint64_t i = 0; i < n; ++i) reinterpret_cast<T*>(address)[i] = value;
}

uint64_t number(const ptx::Kernel& kernel, const ptx::Parameter& p, const LaunchSizes& sizes) {
  if (p.name == "rows" || p.name == "rows_0") return sizes.rows;
  if (p.name == "format_0") return sizes.format;
  if (p.name.starts_with("rows_") || p.name.starts_with("format_")) return 0;  // absent products
  if (p.name == "k") return sizes.k;
  if (p.name == "n_columns" || p.name == "n_queries") return sizes.columns;
  if (p.name == "gamma" || p.name.starts_with("bias") || p.name.starts_with("residual")) return 0;  // absent
  if (p.name == "n_pages") return 1;
  if (p.name == "layer" || p.name == "rope") return 0;
  throw Error(kernel.name + ": no value for parameter " + p.name);
}

// The kernel's parameters by name, with the values of a pass.
std::vector<uint8_t> arguments_of(const ptx::Kernel& kernel, const LaunchSizes& sizes, emu::Memory& memory) {
  std::vector<uint8_t> packed(kernel.parameter_bytes);
  for (const ptx::Parameter& p : kernel.parameters) {
    if (!p.pointer) {
      const bool is_gamma = p.name == "gamma" && sizes.normalises;
      const uint64_t value = is_gamma ? memory.allocate(kUnknownBytes, p.name) : number(kernel, p, sizes);
      std::memcpy(packed.data() + p.offset, &value, static_cast<size_t>(ptx::info(p.type).bytes));
      continue;
    }
    const uint64_t bytes = p.elements * static_cast<uint64_t>(ptx::info(p.type).bytes);
    const uint64_t address = memory.allocate(bytes != 0 ? bytes : kUnknownBytes, p.name);
    if (address == 0) throw Error(kernel.name + ": no memory for " + p.name);
    if (p.name == "positions" || p.name == "lengths")
      fill(address, p.elements, sizes.position);
    else if (p.name == "tiles")  // the first tile, for the first expert
      *reinterpret_cast<ExpertTile*>(address) = {0, 0, sizes.columns, 0};
    else if (p.name == "page_tables")  // a table of zeros: all positions in one page
      fill(address, p.elements, memory.allocate(pages_of(sizes.position + sizes.columns) * 4, "page table"));
    else if (p.name == "states" && p.type == ptx::Type::kU64)  // addresses of delta nets' states
      fill(address, p.elements, memory.allocate(kStateBytes, "state"));
    std::memcpy(packed.data() + p.offset, &address, sizeof address);
  }
  return packed;
}

}  // namespace

InstructionCount count_instructions(const ptx::Kernel& kernel, const LaunchSizes& sizes, const char* region) {
  emu::Profile device;
  device.target = static_cast<uint32_t>(kernel.target.sm);
  emu::Memory memory(kMemoryBytes);
  const emu::Module module(kernel.text, device, memory);
  const ptx::Dimensions &blocks = sizes.blocks, &threads = kernel.launch.threads;
  emu::LaunchRequest request{module.find_function(kernel.name),   {blocks.x, blocks.y, blocks.z},
                             {threads.x, threads.y, threads.z},   kernel.dynamic_shared_bytes,
                             arguments_of(kernel, sizes, memory), {}};
  request.options.count = region != nullptr;
  request.options.max_blocks = sizes.max_blocks;
  emu::Launch launch(std::move(request), module, device, memory);
  if (launch.run() != emu::LaunchState::kDone) throw Error(launch.fault().message());
  const emu::Counters counters = launch.counters();
  const emu::Counts* of_region = region ? counters.of_tag(region) : nullptr;
  return {counters.instructions, of_region ? of_region->instructions : 0, of_region ? of_region->loads.requests : 0};
}

}  // namespace warpchat
