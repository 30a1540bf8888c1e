// Turns the persistent decoder's time stamps into profile rows: one per phase, with the time waiting at the barrier
// after it, and the number of launches. With a trace, also each multiprocessor's share of a phase.
// Cost: none while the profile is off. On, the first block waits for its warps and writes 16 bytes at the begin and end
// of each phase, into a ring of 1 MiB. A launch ends when that is full: after some 150 tokens of 220 phases. With a
// trace all blocks do so, each into a ring of 64 KiB; launches then end after some 9 such tokens, and the host sorts
// the stamps. So a trace slows decoding down.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "engine/gpu/compiled_pass.h"
#include "engine/gpu/persistent_launch.h"
#include "engine/profile.h"
#include "kernels/persistent/phase_program.h"

namespace warpchat {

class StampProfile {
 public:
  // Stamps if only the first block records, and per block if all do.
  static constexpr uint32_t kStampsSingleBlock = 1 << 16, kStampsPerBlock = 1 << 12;

  // token: of PassKind::kDecode, whose launches give the phases' bytes. All must outlive this.
  StampProfile(Profile& profile, CompiledPass& token, const PersistentLaunch& launch);

  // Stamps that a launch should record.
  StampRequest stamps() const;
  uint32_t tokens_per_launch(const StampRequest& stamps) const;  // maximum whose stamps all fit

  // Records the launch that has just ended. position: of its first token.
  void record(uint32_t position);

 private:
  struct Span {  // a block's phase, or that of all blocks of a multiprocessor
    uint32_t phase;
    uint64_t begin, end;  // GPU timer
  };
  static std::vector<Span> spans_of(std::span<const Stamp> stamps);
  struct Clocks {  // profile and GPU clock, read together; GPU times are too large for doubles
    double profile;
    uint64_t gpu;
    double at(uint64_t time) const { return profile + static_cast<double>(static_cast<int64_t>(time - gpu)) * 1e-9; }
  };
  using Blocks = std::vector<std::vector<Span>>;
  static std::vector<double> waits_of(const Blocks& blocks);
  void record_calls(const Blocks& blocks, uint32_t position, const Clocks& clocks);
  void record_shares(std::span<const std::vector<Stamp>> blocks, const Clocks& clocks);
  uint64_t bytes_of(uint32_t phase, uint32_t layer, uint32_t position) const;

  Profile& profile_;
  const PersistentLaunch& launch_;
  uint32_t n_layers_;
  uint64_t logits_bytes_;
  std::map<std::pair<PhaseKind, uint32_t>, std::vector<const BoundLaunch*>> launches_;  // by phase and layer
  PhaseProgram program_;
  std::vector<size_t> phases_;        // phases of one token
  std::vector<uint32_t> operations_;  // profile row of each phase
  uint32_t kernel_;                   // profile row of the whole kernel
};

}  // namespace warpchat
