// What the persistent decoder's time stamps say, in the profile: a row for each phase with the part of its time that is
// waiting at the barrier behind it, the number of launches and, while a trace is kept, what each multiprocessor did of
// a phase.
//
// What it costs: nothing while the profile is off. On, the first block waits for its warps and writes 16 bytes at the
// beginning and the end of each phase, into a ring of 1 MiB; a launch ends, and the next begins, when that is full:
// after some 150 tokens of 220 phases. With a trace all blocks do so, each into a ring of 64 KiB, and launches end
// after some 9 such tokens, which the host then sorts: the trace shows where time goes, and the whole is slower for it.
#pragma once
#include <cstdint>

#include "engine/gpu/pass_kernels.h"
#include "engine/gpu/persistent_launch.h"
#include "engine/profile.h"
#include "kernels/phase_program.h"

namespace warpchat {

class PhaseProfile {
 public:
  // Stamps of the first block alone, and of every block.
  static constexpr uint32_t kSlotsOfOne = 1 << 16, kSlotsOfEach = 1 << 12;

  // token_kernels: of the decoder's tokens, by whose formulas phases have bytes. All outlive this.
  PhaseProfile(Profile& profile, PassKernels& token_kernels, const PersistentLaunch& launch);

  // What to ask of a launch.
  StampRequest stamps() const;
  uint32_t tokens_per_launch(const StampRequest& stamps) const;  // most whose stamps are all kept

  // Of the launch that has just ended, whose first token was at `position`.
  void record(uint32_t position);

 private:
  struct Span {  // a phase of a block, or of all blocks on a multiprocessor
    uint32_t phase;
    uint64_t begin, end;  // of the GPU's timer
  };
  static std::vector<Span> spans_of(std::span<const Stamp> stamps);
  struct Clocks {  // read at one moment: the profile's and the GPU's, whose numbers are too large for doubles
    double profile;
    uint64_t gpu;
    double at(uint64_t time) const { return profile + static_cast<double>(static_cast<int64_t>(time - gpu)) * 1e-9; }
  };
  using Blocks = std::vector<std::vector<Span>>;
  static std::vector<double> waits_of(const Blocks& blocks);
  void record_calls(const Blocks& blocks, uint32_t position, const Clocks& clocks);
  void record_shares(std::span<const std::vector<Stamp>> blocks, const Clocks& clocks);
  uint64_t bytes_of(uint32_t phase, size_t layer, uint32_t position);

  Profile& profile_;
  PassKernels& kernels_;
  const PersistentLaunch& launch_;
  PhaseProgram program_;
  std::vector<size_t> phases_;        // of a token
  std::vector<uint32_t> operations_;  // of the profile, phase by phase
  uint32_t kernel_;                   // of the profile: the kernel as a whole
};

}  // namespace warpchat
