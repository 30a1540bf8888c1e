// Handlers by name: "add.u32", "ld.global.b32.32".
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "ptx/emulator/instruction.h"

namespace ptx::emulator {

class Registry {
 public:
  void add(const char* name, const char* suffix, Handler full, Handler masked, uint32_t flags = 0);
  const HandlerPair* find(std::string_view name) const;

 private:
  std::unordered_map<std::string, HandlerPair> handlers_;
};

enum class InstructionSet : uint8_t { kBaseline, kAvx2, kAvx512 };
InstructionSet best_instruction_set();  // of this machine; the environment variable EMULATOR_ISA can lower it
const Registry& registry_for(InstructionSet set);  // built on first use

}  // namespace ptx::emulator
