// A block as a kernel's body sees it: the launch's own; one played by a team of warps of a larger kernel; or that of a
// device function's caller. Bodies ask it, not the builder, for whatever differs: indices, barriers, shared memory, and
// whether the same launch may have written the data they read.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ptx/builder.h"

namespace warpchat {

// A team of neighbouring warps in every block: team `index` of `n_teams`. Warps beyond the last team have an index of
// n_teams or more, and play nothing.
struct Team {
  uint32_t block_warps, n_teams, warps;
  ptx::Reg<ptx::u32> index, thread, warp;  // team within the block; thread and warp within the team

  uint32_t threads() const { return warps * ptx::kWarpSize; }
  bool is_block() const { return warps == block_warps; }
  bool leaves_warps() const { return n_teams * warps < block_warps; }
  std::optional<ptx::Reg<ptx::u32>> barrier_number() const;  // none: the whole block's barrier
  void barrier(ptx::Builder& b) const;
};
// Splits blocks of `block_warps` warps into teams of `warps`: as many as fit, at most most_teams.
Team team_of(ptx::Builder& b, uint32_t block_warps, uint32_t warps, uint32_t max_teams = UINT32_MAX);

class VirtualBlock {
 public:
  explicit VirtualBlock(ptx::Builder& b) : b_(b) {}  // the launch's own block
  // Block (x, y, z) of a grid n_x wide. The body must be inside inlined() and its shared memory inside in_turn(), with
  // a team barrier between bodies.
  VirtualBlock(ptx::Builder& b, const Team& team, const ptx::Reg<ptx::u32>& x, const ptx::Reg<ptx::u32>& y,
               const ptx::Reg<ptx::u32>& z, const ptx::Reg<ptx::u32>& n_x)
      : b_(b),
        played_(Played{x, y, z, n_x, team.thread, team.warp, b.var("threads", team.threads()), team.barrier_number(),
                       team}) {}
  // In a device function: declares the first arguments, which describe the block of call(). The body must be inside
  // inlined().
  static VirtualBlock of_caller(ptx::Builder& b);
  // Calls a function that began with of_caller(); `arguments` are those it declared after. Its shared memory comes from
  // shared().
  void call(const ptx::FunctionPointer& function, std::vector<ptx::CallOperand> arguments) const;

  ptx::Reg<ptx::u32> block(ptx::Axis axis = ptx::Axis::kX) const;
  ptx::Reg<ptx::u32> blocks() const;  // in the grid's x
  ptx::Reg<ptx::u32> thread() const;
  ptx::Reg<ptx::u32> warp() const;
  ptx::Reg<ptx::u32> threads() const;  // in this block
  void barrier() const;                // over those threads

  template <class T>
  ptx::Shared<T> shared(const std::string& name, uint64_t elements) const {
    if (!played_ || !played_->team || played_->team->n_teams == 1) return b_.shared<T>(name, elements);
    const uint64_t bytes = (elements * ptx::bytes_of(T::kType) + 15) / 16 * 16, each = bytes / ptx::bytes_of(T::kType);
    return b_.shared<T>(name, each * played_->team->n_teams) + played_->team->index * static_cast<uint32_t>(each);
  }

  // Cache policy for data that earlier phases of this launch may have written: avoids the read-only path if there are
  // any.
  ptx::Cache cache(ptx::Cache cache) const {
    cache.read_only = cache.read_only && !played_;
    return cache;
  }
  // Loads such data where all threads of the block read the same address.
  ptx::Reg<ptx::u32> load_uniform(const ptx::Global<ptx::u32>& from, const ptx::Index& i) const {
    if (!played_) return from.load(i, ptx::kReadOnly);
    return b_.uniform(from.load(i));
  }
  // The author vouches that all threads of the block have the same value.
  template <class T>
  ptx::Reg<T> uniform(const ptx::Reg<T>& x) const {
    return played_ && played_->barrier ? b_.warp_uniform(x) : b_.uniform(x);
  }

 private:
  struct Played {
    ptx::Reg<ptx::u32> x, y, z, n_x, thread, warp, threads;
    std::optional<ptx::Reg<ptx::u32>> barrier;  // its number; none: the whole block's
    std::optional<Team> team;                   // none: the caller has already adjusted shared memory
  };
  VirtualBlock(ptx::Builder& b, const Played& played) : b_(b), played_(played) {}
  ptx::Builder& b_;
  std::optional<Played> played_;
};

// Plays blocks 0 to n - 1 of a grid: body(number) for each. They are distributed over blocks first, then teams, so that
// few virtual blocks still use all multiprocessors. blocks: the grid's.
template <class F>
void play_blocks(ptx::Builder& b, const Team& team, const ptx::Reg<ptx::u32>& blocks, ptx::In<ptx::u32> n, F&& body) {
  const auto play = [&] {
    ptx::Reg<ptx::u32> first = team.index * blocks + b.block();
    b.for_("virtual_block", first, n, blocks * team.n_teams, [&](ptx::Reg<ptx::u32> number) {
      b.inlined([&] { body(number); });
      team.barrier(b);  // the next body reuses shared memory
    });
  };
  if (team.leaves_warps())
    b.if_(team.index < team.n_teams, play);
  else
    play();
}

}  // namespace warpchat
