// Handler tables of each instruction set, filled on first use, and guards, which all sets share.
#include "ptx/emulator/registry.h"

#include <bit>
#include <cstdlib>

#include "ptx/emulator/guard.h"
#include "ptx/emulator/handlers/register_all.h"

namespace ptx::emulator {

void Registry::add(const char* name, const char* suffix, Handler full, Handler masked, uint32_t flags) {
  handlers_[std::string(name) + suffix] = {full, masked, flags};
}

const HandlerPair* Registry::find(std::string_view name) const {
  const auto found = handlers_.find(std::string(name));
  return found == handlers_.end() ? nullptr : &found->second;
}

void add_handler(Registry& r, const char* name, const char* suffix, Handler full, Handler masked, uint32_t flags) {
  r.add(name, suffix, full, masked, flags);
}

#ifdef EMULATOR_BASELINE_ONLY

InstructionSet best_instruction_set() { return InstructionSet::kBaseline; }

#else

InstructionSet best_instruction_set() {
  static const InstructionSet best = [] {
    const char* wanted = std::getenv("EMULATOR_ISA");
    const std::string_view limit = wanted ? wanted : "avx512";
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512cd");
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    if (avx512 && limit == "avx512") return InstructionSet::kAvx512;
    if (avx2 && limit != "baseline") return InstructionSet::kAvx2;
    return InstructionSet::kBaseline;
  }();
  return best;
}

#endif

const Registry& registry_for(InstructionSet set) {
  static const auto build = [](void (*specific)(Registry&)) {
    Registry r;
    common::register_all(r);
    specific(r);
    return r;
  };
  switch (set) {
#ifndef EMULATOR_BASELINE_ONLY
    case InstructionSet::kAvx512: {
      static const Registry registry = build(&avx512::register_all);
      return registry;
    }
    case InstructionSet::kAvx2: {
      static const Registry registry = build(&avx2::register_all);
      return registry;
    }
#endif
    default: {
      static const Registry registry = build(&baseline::register_all);
      return registry;
    }
  }
}

void guarded_full(Warp& w, const Instruction& i) {
  const uint32_t lanes = guard_lanes(w, i);
  const HandlerPair& inner = w.inner[i.index];
  if (lanes == kAllLanes) return inner.full(w, i);
  if (lanes == 0) return;
  w.active = lanes;
  inner.masked(w, i);
  w.active = kAllLanes;
}

void guarded_masked(Warp& w, const Instruction& i) {
  const uint32_t before = w.active, lanes = guard_lanes(w, i) & before;
  if (lanes == 0) return;
  w.active = lanes;
  w.inner[i.index].masked(w, i);
  w.active = before;
}

}  // namespace ptx::emulator
