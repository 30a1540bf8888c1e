#include "engine/gpu/token_work.h"

#include <cstring>

#include "kernels/phase_program.h"
#include "models/error.h"
#include "ptx/emulator/emulator.h"

namespace warpchat {

namespace emu = ptx::emulator;

namespace {

constexpr uint32_t kSplits = 4;                        // of attention, from which on a split costs what another does
constexpr uint64_t kMemoryBytes = uint64_t{16} << 30;  // of addresses: what no block touches takes no memory

// The kernel's parameters as a token's pass has them, by their names.
std::vector<uint8_t> arguments_of(const ptx::Kernel& kernel, uint32_t position, uint64_t cache_bytes,
                                  emu::Memory& memory) {
  std::vector<uint8_t> packed(kernel.parameter_bytes);
  for (const ptx::Parameter& p : kernel.parameters) {
    if (!p.pointer) throw Error(kernel.name + " takes a number, " + p.name + "; expected a kernel of one column");
    const uint64_t address = memory.allocate(p.elements * static_cast<uint64_t>(ptx::info(p.type).bytes), p.name);
    if (address == 0) throw Error(kernel.name + ": no memory for " + p.name);
    if (p.name == "positions" || p.name == "lengths")
      *reinterpret_cast<uint32_t*>(address) = position;
    else if (p.name == "k_caches" || p.name == "v_caches")
      *reinterpret_cast<uint64_t*>(address) = memory.allocate(cache_bytes, "cache");
    std::memcpy(packed.data() + p.offset, &address, sizeof address);
  }
  return packed;
}

}  // namespace

uint64_t count_instructions(const ptx::Kernel& kernel, ptx::Dimensions blocks, uint32_t position,
                            uint64_t cache_bytes) {
  emu::Profile device;
  device.target = static_cast<uint32_t>(kernel.target.sm);
  emu::Memory memory(kMemoryBytes);
  const emu::Module module(kernel.text, device, memory);
  const ptx::Dimensions& threads = kernel.launch.threads;
  emu::Launch launch({module.find_function(kernel.name),
                      {blocks.x, blocks.y, blocks.z},
                      {threads.x, threads.y, threads.z},
                      kernel.dynamic_shared_bytes,
                      arguments_of(kernel, position, cache_bytes, memory),
                      {}},
                     module, device, memory);
  if (launch.run() != emu::LaunchState::kDone) throw Error(launch.fault().message());
  return launch.counters().instructions;
}

TokenWork::TokenWork(DecoderSpecs specs, ptx::Target target)
    : specs_(std::move(specs)),
      attention_spec_(std::get<AttentionSpec>(specs_.attention)),
      attention_(incremental_attention(attention_spec_, target)) {
  for (const ptx::Kernel& kernel : decoder_kernels(specs_, target)) {
    if (kernel.name == attention_.name) continue;
    const uint64_t blocks = kernel.launch.blocks.total();
    works_[kernel.name] = {kernel.name, kernel.cost.bytes, count(kernel, kernel.launch.blocks, 0), blocks};
  }
  const auto count_splits = [&](uint32_t splits) {
    const uint32_t keys = splits * attention_spec_.keys_per_split;
    return count(attention_, attention_grid(attention_spec_, keys), keys - 1);
  };
  if (attention_spec_.max_positions < 2 * kSplits * attention_spec_.keys_per_split) return;
  const uint64_t of_some = count_splits(kSplits), of_a_split = (count_splits(2 * kSplits) - of_some) / kSplits;
  long_attention_ = {of_some - kSplits * of_a_split, of_a_split};
}

uint64_t TokenWork::count(const ptx::Kernel& kernel, ptx::Dimensions blocks, uint32_t position) const {
  const AttentionSpec& a = attention_spec_;
  return count_instructions(kernel, blocks, position,
                            uint64_t{a.n_kv_heads} * a.max_positions * a.head_dim * sizeof(uint16_t));
}

KernelWork TokenWork::attention_at(uint32_t position) const {
  const uint32_t keys = position + 1,
                 splits = (keys + attention_spec_.keys_per_split - 1) / attention_spec_.keys_per_split;
  const ptx::Dimensions blocks = attention_grid(attention_spec_, keys);
  const uint64_t instructions = splits < 2 * kSplits ? count(attention_, blocks, position)
                                                     : long_attention_.fixed + splits * long_attention_.of_a_split;
  return {attention_.name, attention_cost(attention_spec_, keys).bytes, instructions, blocks.total()};
}

uint64_t TokenWork::barriers() const { return barriers_of_a_token(decoder_program(), specs_.layers.size()); }

std::vector<KernelGroup> TokenWork::at(uint32_t position) const {
  std::vector<KernelGroup> phases{{works_.at(name_of(specs_.embedding))}};
  const KernelWork attention = attention_at(position);
  for (const LayerSpecs& layer : specs_.layers) {
    phases.push_back({work_of(layer.q), work_of(layer.k), work_of(layer.v)});
    phases.push_back({works_.at(name_of(specs_.kv_scatter))});
    phases.push_back({attention});
    for (const ProductSpec* product : {&layer.output, &layer.gate_up, &layer.down})
      phases.push_back({work_of(*product)});
  }
  phases.push_back({work_of(specs_.logits)});
  return phases;
}

}  // namespace warpchat
