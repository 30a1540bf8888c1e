#include "tests/speed_model/kernel_counts.h"

#include <cstring>
#include <string>
#include <vector>

#include "kernels/attention/kv_cache.h"
#include "kernels/experts/expert_order.h"
#include "models/error.h"
#include "ptx/emulator/emulator.h"

namespace warpchat {

namespace emu = ptx::emulator;

namespace {

// An address range: untouched pages take no memory.
constexpr uint64_t kMemoryBytes = uint64_t{64} << 30, kUnknownBytes = uint64_t{1} << 30;
constexpr uint64_t kStateBytes = uint64_t{64} << 20;  // delta nets' states, for the first layer

template <class T>
void fill(uint64_t address, uint64_t n, const T& value) {
  for (uint64_t i = 0; i < n; ++i) reinterpret_cast<T*>(address)[i] = value;
}

// Memory is zeros, except what says where a column's position, pages and state are.
std::vector<uint8_t> arguments_of(const ptx::Kernel& kernel, std::span<const Operand> operands,
                                  const LaunchSizes& sizes, emu::Memory& memory) {
  using Kind = Operand::Kind;
  const auto allocate = [&](uint64_t n_bytes, const std::string& what) {
    const uint64_t address = memory.allocate(n_bytes, what);
    if (address == 0) throw Error(kernel.name + ": no memory for " + what);
    return address;
  };
  const auto address_of = [&](const ptx::Parameter& p, Buffer buffer) {
    const uint64_t n_bytes = p.elements * static_cast<uint64_t>(ptx::info(p.type).bytes);
    const uint64_t address = allocate(n_bytes != 0 ? n_bytes : kUnknownBytes, p.name);
    if (buffer == Buffer::kPositions)
      fill(address, p.elements, sizes.position);
    else if (buffer == Buffer::kExpertTiles)  // the first tile, for the first expert
      fill(address, 1, ExpertTile{0, 0, sizes.columns, 0});
    else if (buffer == Buffer::kPageTables)  // a table of zeros: all positions in one page
      fill(address, p.elements, allocate(pages_of(sizes.position + sizes.columns) * 4, "page table"));
    else if (buffer == Buffer::kStates)
      fill(address, p.elements, allocate(kStateBytes, "state"));
    return address;
  };
  std::vector<uint8_t> packed(kernel.parameter_bytes);
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    const ptx::Parameter& p = kernel.parameters[i];
    const Operand without = Operand::of(p.pointer ? Kind::kAbsent : Kind::kColumns);
    const Operand operand = operands.empty() ? without : operands[i];
    uint64_t value = operand.kind == Kind::kColumns ? sizes.columns : operand.kind == Kind::kPages ? 1 : operand.number;
    if (operand.is_address() && (p.pointer || operand.kind != Kind::kAbsent)) value = address_of(p, operand.buffer);
    const int n_bytes = p.pointer ? sizeof value : ptx::info(p.type).bytes;
    std::memcpy(packed.data() + p.offset, &value, static_cast<size_t>(n_bytes));
  }
  return packed;
}

}  // namespace

InstructionCount count_instructions(const ptx::Kernel& kernel, std::span<const Operand> operands,
                                    const LaunchSizes& sizes, const char* region) {
  emu::Profile device;
  device.target = static_cast<uint32_t>(kernel.target.sm);
  emu::Memory memory(kMemoryBytes);
  const emu::Module module(kernel.text, device, memory);
  const ptx::Dimensions &blocks = sizes.blocks, &threads = kernel.launch.threads;
  emu::LaunchRequest request{module.find_function(kernel.name),
                             {blocks.x, blocks.y, blocks.z},
                             {threads.x, threads.y, threads.z},
                             kernel.dynamic_shared_bytes,
                             arguments_of(kernel, operands, sizes, memory),
                             {}};
  request.options.count = region != nullptr;
  request.options.max_blocks = sizes.max_blocks;
  emu::Launch launch(std::move(request), module, device, memory);
  if (launch.run() != emu::LaunchState::kDone) throw Error(launch.fault().message());
  const emu::Counters counters = launch.counters();
  const emu::Counts* of_region = region ? counters.of_tag(region) : nullptr;
  return {counters.instructions, of_region ? of_region->instructions : 0, of_region ? of_region->loads.requests : 0};
}

}  // namespace warpchat
