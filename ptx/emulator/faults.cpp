// Faults: keeps a launch's first, with everything needed to find its cause.
#include <bit>

#include "ptx/emulator/block.h"
#include "ptx/emulator/function_loader.h"

namespace ptx::emulator {
namespace {

const char* verb(const std::string& spelling) {
  if (spelling.starts_with("ld") || spelling.starts_with("wmma.load")) return "reads";
  if (spelling.starts_with("st") || spelling.starts_with("wmma.store")) return "writes";
  return "accesses";
}

std::string with_commas(uint64_t value) {
  std::string digits = std::to_string(value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

// Describes a bad global address: beyond which buffer, or in freed memory.
std::string describe_address(const Memory& memory, uint64_t address, const char* how) {
  if (address < 4096) return std::string(how) + " near the null pointer, at " + hex(address);
  const auto live = memory.find(address);
  if (const auto freed = live ? std::nullopt : memory.find_freed(address)) {
    return std::string(how) + " byte " + with_commas(address - freed->address) + " of freed " + freed->name + " (" +
           with_commas(freed->bytes) + " bytes)";
  }
  if (const auto below = memory.nearest_below(address); below && address - below->address < below->bytes + (1u << 20)) {
    return std::string(how) + " byte " + with_commas(address - below->address) + " of " + below->name + " (" +
           with_commas(below->bytes) + " bytes)";
  }
  return std::string(how) + " address " + hex(address) + ", which belongs to no allocation";
}

// Describes a misaligned address: in which buffer or window.
std::string place_of(const Warp& w, const Instruction& i, uint64_t address) {
  const Space space = static_cast<Space>(i.flags >> access::kSpaceShift & 7);
  if (space == Space::shared) return "shared byte " + with_commas(address);
  if (space == Space::local) return "local byte " + with_commas(address);
  const auto owner = w.block->launch->memory->find(address);
  if (!owner) return hex(address);
  return "byte " + with_commas(address - owner->address) + " of " + owner->name + " (" + with_commas(owner->bytes) +
         " bytes)";
}

std::string describe(const Warp& w, const Instruction& i, FaultKind kind, uint64_t address, uint32_t bytes) {
  const std::string& spelling = code_of(w, i).spellings[i.index];
  const char* how = verb(spelling);
  switch (kind) {
    case FaultKind::kMisaligned:
      return std::string(how) + " " + std::to_string(bytes) + " bytes at " + place_of(w, i, address) +
             ", which is not a multiple of " + std::to_string(bytes);
    case FaultKind::kSharedBounds:
      return std::string(how) + " shared byte " + with_commas(address) + ", the block has " +
             with_commas(w.shared_bytes);
    case FaultKind::kLocalBounds:
      return std::string(how) + " local byte " + with_commas(address) + ", the thread has " +
             with_commas(w.local_bytes);
    case FaultKind::kUninitialised:
      if (address >= kSharedWindow)
        return "reads shared byte " + with_commas(address - kSharedWindow) + ", which was never written";
      return describe_address(*w.block->launch->memory, address, how) + ", which was never written";
    default:
      return describe_address(*w.block->launch->memory, address, how);
  }
}

void fill(Fault& fault, const Warp& w, const Instruction& i, uint32_t lane) {
  const Code& code = code_of(w, i);
  fault.kernel = w.block->launch->request.code->name;
  fault.line = code.positions[i.index].line;
  fault.column = code.positions[i.index].column;
  fault.instruction = code.spellings[i.index];
  fault.tag = code.tags[i.index];
  const Dim3& threads = w.block->launch->request.block;
  const uint32_t linear = w.warp_index * kLanes + lane;
  for (int k = 0; k < 3; ++k) fault.block[k] = w.block->index[k];
  fault.thread[0] = linear % threads.x;
  fault.thread[1] = linear / threads.x % threads.y;
  fault.thread[2] = linear / threads.x / threads.y;
}

std::string triple(const uint32_t* v) {
  if (v[1] == 0 && v[2] == 0) return std::to_string(v[0]);
  return std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]);
}

}  // namespace

std::string Fault::message() const {
  if (kind == FaultKind::kNone) return "the launch was cancelled";
  std::string text = "emulator: " + kernel + " line " + std::to_string(line) + (tag.empty() ? "" : " [" + tag + "]") +
                     ": " + instruction + " " + detail + "; block " + triple(block) + " thread " + triple(thread);
  if (other_lanes) text += " and " + std::to_string(other_lanes) + " more";
  return text;
}

const Code& code_of(const Warp& w, const Instruction& i) {
  const WarpState& state = static_cast<const WarpState&>(w);
  for (const auto& frame : state.frames) {
    const Instruction* first = frame->code->instructions.data();
    if (&i >= first && &i < first + frame->code->instructions.size()) return *frame->code;
    first = frame->code->observed_instructions.data();
    if (&i >= first && &i < first + frame->code->observed_instructions.size()) return *frame->code;
  }
  return *w.block->launch->request.code;
}

bool find_range(Warp& w, const Instruction&, uint64_t address, uint32_t bytes, Range& range) {
  return w.block->launch->memory->mapped_range(address, bytes, range);
}

void fault_at(Warp& w, const Instruction& i, FaultKind kind, uint32_t lane, uint64_t address, uint32_t bytes) {
  Executor& executor = *w.executor;
  if (executor.faulted) {
    if (executor.fault_instruction == &i && executor.fault.kind == kind) ++executor.fault.other_lanes;
    return;
  }
  w.faulted = executor.faulted = true;
  executor.fault_instruction = &i;
  executor.fault.kind = kind;
  executor.fault.address = address;
  executor.fault.bytes = bytes;
  executor.fault.detail = describe(w, i, kind, address, bytes);
  fill(executor.fault, w, i, lane);
}

void fault_at_lane(Warp& w, const Instruction& i, FaultKind kind, uint32_t lane, uint64_t address, uint32_t bytes,
                   const std::string& why) {
  const bool first = !w.executor->faulted;
  fault_at(w, i, kind, lane, address, bytes);
  if (!first) return;
  const char* how = verb(code_of(w, i).spellings[i.index]);
  const bool in_shared = kind == FaultKind::kSharedRace;
  std::string place = in_shared ? std::string(how) + " shared byte " + with_commas(address)
                                : describe_address(*w.block->launch->memory, address, how);
  w.executor->fault.detail = place + ", " + why;
}

void fault_at_instruction(Warp& w, const Instruction& i, FaultKind kind, std::string detail) {
  Executor& executor = *w.executor;
  if (executor.faulted) return;
  w.faulted = executor.faulted = true;
  executor.fault_instruction = &i;
  executor.fault.kind = kind;
  executor.fault.detail = std::move(detail);
  fill(executor.fault, w, i, w.active ? static_cast<uint32_t>(std::countr_zero(w.active)) : 0);
  executor.fault.other_lanes = w.active ? static_cast<uint32_t>(std::popcount(w.active)) - 1 : 0;
}

}  // namespace ptx::emulator
