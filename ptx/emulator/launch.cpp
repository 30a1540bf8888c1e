// A launch: resident blocks, scheduling, and completion.
#include "ptx/emulator/launch.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <unordered_map>

#include "ptx/emulator/block.h"
#include "ptx/emulator/checks/launch_checks.h"
#include "ptx/emulator/weak_memory.h"
#include "ptx/emulator/worker_pool.h"

namespace ptx::emulator {
namespace {

constexpr uint64_t kBlockSlice = 1u << 20;        // instructions per turn of a block
constexpr uint64_t kCooperativeSlice = 1u << 14;  // if blocks wait for each other

constexpr uint64_t kStartAhead = 64;  // with a seed: the next block is chosen among this many
constexpr uint64_t kIdlePolls = 500;  // per block, without any write: after that no poll can succeed

constexpr uint32_t kReservedShared = 1024;  // shared memory per block reserved for cooperative_groups
constexpr uint32_t kGridWorkspace = 256;    // global memory per grid, likewise

std::atomic<uint64_t> next_grid_id = 1;

uint32_t round_up(uint32_t value, uint32_t to) { return (value + to - 1) / to * to; }

std::string shape(const Dim3& d) { return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z); }

void check_request(const LaunchRequest& r, const Profile& profile) {
  const auto refuse = [&](const std::string& what) {
    throw std::invalid_argument("cannot launch " + r.code->name + ": " + what);
  };
  if (!r.code->is_entry) refuse("it is no entry function");
  if (r.grid.count() == 0 || r.block.count() == 0)
    refuse("grid " + shape(r.grid) + " or block " + shape(r.block) + " is empty");
  if (r.options.max_blocks == 0) refuse("none of its blocks may run");
  if (r.block.count() > profile.max_threads_per_block || r.block.x > 1024 || r.block.y > 1024 || r.block.z > 64) {
    refuse("block " + shape(r.block) + " exceeds " + std::to_string(profile.max_threads_per_block) + " threads");
  }
  if (r.grid.x > 0x7fffffffu || r.grid.y > 65535 || r.grid.z > 65535)
    refuse("grid " + shape(r.grid) + " exceeds the device's limits");
  if (r.code->max_threads && r.block.count() > r.code->max_threads) {
    refuse("block " + shape(r.block) + " exceeds the kernel's .maxntid of " + std::to_string(r.code->max_threads));
  }
  const uint32_t* required = r.code->required_threads;
  if (required[0] && (r.block.x != required[0] || r.block.y != required[1] || r.block.z != required[2])) {
    refuse("block " + shape(r.block) + " differs from the kernel's .reqntid");
  }
  if (r.options.weak_memory && !r.options.seed) refuse("weak memory needs a seed");
  if (uint64_t{r.code->shared_bytes} + r.dynamic_shared_bytes > profile.shared_bytes_per_block_optin) {
    refuse(std::to_string(r.code->shared_bytes) + " static and " + std::to_string(r.dynamic_shared_bytes) +
           " dynamic bytes of shared memory exceed " + std::to_string(profile.shared_bytes_per_block_optin));
  }
  if (r.parameters.size() < r.code->parameter_bytes) {
    refuse(std::to_string(r.parameters.size()) + " bytes of parameters, the kernel has " +
           std::to_string(r.code->parameter_bytes));
  }
}

bool copies_out_of_shared(const Code& code) {
  return std::ranges::any_of(code.spellings, [](const std::string& s) {
    return s.starts_with("cp.async.bulk.global") || s.starts_with("cp.reduce.async.bulk");
  });
}

}  // namespace

uint32_t max_resident_blocks(const Code& code, uint32_t block_threads, uint32_t dynamic_shared_bytes,
                             const Profile& profile) {
  if (block_threads == 0 || block_threads > profile.max_threads_per_block) return 0;
  const uint32_t warps = (block_threads + kLanes - 1) / kLanes;
  uint32_t blocks = std::min(profile.max_blocks_per_sm, profile.max_threads_per_sm / (warps * kLanes));
  const uint64_t shared = round_up(code.shared_bytes, 16) + uint64_t{dynamic_shared_bytes};
  if (shared > profile.shared_bytes_per_block_optin) return 0;
  blocks = std::min<uint32_t>(blocks, static_cast<uint32_t>(profile.shared_bytes_per_sm / (shared + 1024)));
  return std::min(blocks, profile.registers_per_sm / (warps * kLanes * round_up(code.register_count, 8)));
}

struct Launch::State {
  LaunchContext context;
  std::unique_ptr<LaunchChecks> checks;
  std::unique_ptr<Choices> choices;
  std::unique_ptr<WeakMemory> weak;
  std::mutex one_at_a_time;  // with checks, or with a seed
  std::mutex mutex;
  std::deque<std::unique_ptr<BlockState>> ready;   // resident blocks waiting for a turn
  std::vector<std::unique_ptr<BlockState>> spare;  // finished blocks, for reuse of their memory
  std::vector<std::unique_ptr<Executor>> idle;     // executors between steps
  uint64_t next_block = 0, n_blocks = 0, running = 0, resident = 0, resident_limit = 1;
  uint64_t polls_in_a_row = 0;
  std::unordered_map<uint64_t, uint64_t> moved;  // with a seed: block at a position of the order, if it was swapped
  LaunchState state = LaunchState::kRunning;
  Fault fault;
  Counts counters;

  struct Turn;
  bool take_turn(Turn& turn);
  uint64_t start_by_seed();
  BlockResult run_turn(Turn& turn);
  bool is_hopeless(BlockState& block, BlockResult result);
  LaunchState finish_turn(Turn& turn, BlockResult result);
};

Launch::Launch(LaunchRequest request, const Module& module, const Profile& profile, Memory& memory)
    : state_(std::make_unique<State>()) {
  check_request(request, profile);
  State& s = *state_;
  s.context.request = std::move(request);
  s.context.module = &module;
  s.context.profile = profile;
  s.context.memory = &memory;
  s.context.grid_id = next_grid_id++;
  const LaunchRequest& r = s.context.request;
  s.context.dynamic_base =
      r.dynamic_shared_bytes ? round_up(r.code->shared_bytes, r.code->dynamic_align) : r.code->shared_bytes;
  s.context.reserved_base = s.context.shared_total = s.context.dynamic_base + r.dynamic_shared_bytes;
  if (module.uses(Special::reserved_smem_begin)) {
    s.context.reserved_base = round_up(s.context.shared_total, 128);
    s.context.shared_total = s.context.reserved_base + kReservedShared;
  }
  if (r.options.checks.any()) {
    s.checks = std::make_unique<LaunchChecks>(s.context);
    s.context.checks = s.checks.get();
  }
  if (r.options.seed) {
    s.choices = std::make_unique<Choices>(r.options.seed);
    s.context.choices = s.choices.get();
  }
  if (r.options.weak_memory) {
    s.weak = std::make_unique<WeakMemory>(r.options.seed, s.checks.get());
    s.context.weak = s.weak.get();
  }
  s.context.observes = s.checks || s.choices || r.options.count;
  s.context.watches_proxies = r.options.checks.shared_races && copies_out_of_shared(*r.code);
  s.n_blocks = std::min(r.grid.count(), r.options.max_blocks);
  const uint32_t per_sm =
      max_resident_blocks(*r.code, static_cast<uint32_t>(r.block.count()), r.dynamic_shared_bytes, profile);
  s.resident_limit = std::max<uint64_t>(1, uint64_t{per_sm} * profile.sm_count);
  if (r.options.cooperative && s.n_blocks > s.resident_limit) {
    throw std::invalid_argument("cannot launch " + r.code->name + " cooperatively: " + std::to_string(s.n_blocks) +
                                " blocks, the device holds " + std::to_string(s.resident_limit) + " at once");
  }
  if (r.options.cooperative && module.uses(Special::grid_workspace_low)) {
    s.context.grid_workspace = memory.allocate(kGridWorkspace, "the grid's workspace");
    if (s.context.grid_workspace == 0)
      throw std::invalid_argument("cannot launch " + r.code->name +
                                  " cooperatively: no memory for the grid's workspace");
    std::memset(reinterpret_cast<void*>(s.context.grid_workspace), 0, kGridWorkspace);
    memory.mark_initialised(s.context.grid_workspace, kGridWorkspace);
  }
}

Launch::~Launch() {
  if (state_->context.grid_workspace) state_->context.memory->free(state_->context.grid_workspace);
}

namespace {

std::unique_ptr<Executor> take_executor(std::vector<std::unique_ptr<Executor>>& idle, LaunchContext& context) {
  std::unique_ptr<Executor> executor;
  if (idle.empty())
    executor = std::make_unique<Executor>();
  else {
    executor = std::move(idle.back());
    idle.pop_back();
  }
  executor->launch = &context;
  if (context.request.options.count && !executor->counts) executor->counts = std::make_unique<ExecutionCounts>();
  const uint64_t generation = context.memory->generation();
  if (executor->memory_generation != generation) {
    executor->ranges.clear();
    executor->memory_generation = generation;
  }
  return executor;
}

uint64_t seeded_slice(Choices& choices) { return static_cast<uint64_t>(choices.slice()) * (1 + choices.below(4)); }

}  // namespace

struct Launch::State::Turn {
  std::unique_ptr<BlockState> block;
  std::unique_ptr<Executor> executor;
  uint64_t linear = 0;
  bool starts = false;
};

// Selects the next turn; false if other threads run all that is left.
bool Launch::State::take_turn(Turn& turn) {
  const bool in_order = context.request.options.cooperative && !choices;  // all blocks start before any continues
  const bool may_start = next_block < n_blocks && resident < resident_limit;
  const bool must_start = ready.empty() || in_order || polls_in_a_row >= ready.size();
  turn.starts = may_start && (must_start || (choices && choices->one_in(2)));
  if (turn.starts) {
    turn.linear = choices ? start_by_seed() : next_block;
    ++next_block;
    ++resident;
  } else if (!ready.empty()) {
    if (choices) std::swap(ready.front(), ready[choices->below(static_cast<uint32_t>(ready.size()))]);
    turn.block = std::move(ready.front());
    ready.pop_front();
  } else {
    return false;
  }
  if (turn.starts && !spare.empty()) {
    turn.block = std::move(spare.back());
    spare.pop_back();
  }
  ++running;
  turn.executor = take_executor(idle, context);
  return true;
}

// Picks any block not yet started: from next_block on, with the swaps recorded in `moved`.
uint64_t Launch::State::start_by_seed() {
  const uint64_t left = std::min<uint64_t>(n_blocks - next_block, kStartAhead);
  const uint64_t chosen = next_block + choices->below(static_cast<uint32_t>(left));
  const auto block_at = [this](uint64_t place) { return moved.contains(place) ? moved.at(place) : place; };
  const uint64_t linear = block_at(chosen);
  moved[chosen] = block_at(next_block);
  moved.erase(next_block);
  return linear;
}

BlockResult Launch::State::run_turn(Turn& turn) {
  if (turn.starts) turn.block = make_block(context, turn.linear, std::move(turn.block));
  BlockState& block = *turn.block;
  std::unique_lock alone(one_at_a_time, std::defer_lock);
  if (checks && !choices) alone.lock();
  if (turn.starts && checks) checks->begin_block(block);
  if (turn.starts && weak) weak->begin_block(block);
  if (weak) weak->turn(block);
  const uint64_t budget = choices                               ? seeded_slice(*choices)
                          : context.request.options.cooperative ? kCooperativeSlice
                                                                : kBlockSlice;
  BlockResult result =
      choices ? run_block_by_seed(block, *turn.executor, budget) : run_block(block, *turn.executor, budget);
  if (is_hopeless(block, result)) report_deadlock(block, *turn.executor);
  if (result == BlockResult::kDone && block.copies) block.copies->end(block);
  if (turn.executor->faulted) result = BlockResult::kFaulted;
  if (checks && result == BlockResult::kDone) checks->end_block(block);
  if (weak && result == BlockResult::kDone) weak->end_block(block);
  return result;
}

// No other agent writes, every block has polled repeatedly since the last write, and no store is pending.
bool Launch::State::is_hopeless(BlockState& block, BlockResult result) {
  if (!context.request.options.alone || !context.observes) return false;
  const uint64_t writes = context.n_writes;
  if (block.idle_since != writes) block.idle_polls = 0;
  block.idle_since = writes;
  if (result != BlockResult::kPolling || ++block.idle_polls < kIdlePolls) return false;
  const auto is_idle = [&](const auto& b) { return b->idle_since == writes && b->idle_polls >= kIdlePolls; };
  if (ready.size() + 1 != resident || !std::ranges::all_of(ready, is_idle)) return false;
  if (next_block < n_blocks && resident < resident_limit) return false;
  block.idle_polls = 0;
  return !weak || !weak->let_all_arrive();
}

LaunchState Launch::State::finish_turn(Turn& turn, BlockResult result) {
  --running;
  counters += turn.executor->counters;
  turn.executor->counters = {};
  if (result == BlockResult::kFaulted && state == LaunchState::kRunning) {
    fault = turn.executor->fault;
    state = LaunchState::kFaulted;
  }
  idle.push_back(std::move(turn.executor));
  if (state != LaunchState::kRunning) return state;
  if (result == BlockResult::kDone) {
    --resident;
    spare.push_back(std::move(turn.block));
    polls_in_a_row = 0;
    if (resident == 0 && next_block == n_blocks) state = LaunchState::kDone;
    return state;
  }
  polls_in_a_row = result == BlockResult::kPolling ? polls_in_a_row + 1 : 0;
  ready.push_back(std::move(turn.block));
  const uint64_t round = choices ? 8 * resident : resident;  // by then every block has had a turn
  const bool all_poll = polls_in_a_row > round && (next_block == n_blocks || resident == resident_limit);
  if (!all_poll) return LaunchState::kRunning;
  polls_in_a_row = 0;
  return LaunchState::kWaiting;
}

LaunchState Launch::step() {
  State& s = *state_;
  std::unique_lock alone(s.one_at_a_time, std::defer_lock);
  if (s.choices) alone.lock();  // with a seed the sequence of turns is fixed, however many threads call
  std::unique_lock lock(s.mutex);
  if (s.state != LaunchState::kRunning) return s.state;
  if (s.context.stopped) return s.state = LaunchState::kFaulted;
  try {
    State::Turn turn;
    if (!s.take_turn(turn)) return LaunchState::kWaiting;
    lock.unlock();
    const BlockResult result = s.run_turn(turn);
    lock.lock();
    const LaunchState state = s.finish_turn(turn, result);
    if (s.weak && state != LaunchState::kRunning && state != LaunchState::kWaiting) s.weak->let_all_arrive();
    return state;
  } catch (...) {  // out of memory for a block: it is lost, and others may wait for it
    if (!lock.owns_lock()) lock.lock();
    s.state = LaunchState::kFaulted;
    throw;
  }
}

LaunchState Launch::run(uint32_t threads) {
  const bool alone = state_->context.request.options.alone && threads == 1;
  WorkerPool(std::max(threads, 1u) - 1).run([this, alone] {
    LaunchState state;
    while ((state = step()) == LaunchState::kRunning || state == LaunchState::kWaiting) {
      if (state == LaunchState::kWaiting && !alone) std::this_thread::yield();
    }
  });
  return step();
}

void Launch::cancel() { state_->context.stopped = true; }
const Fault& Launch::fault() const { return state_->fault; }
Counters Launch::counters() const {
  std::lock_guard lock(state_->mutex);
  Counters counters;
  if (!state_->context.request.options.count) static_cast<Counts&>(counters) = state_->counters;
  for (const auto& executor : state_->idle) {
    if (executor->counts) executor->counts->add_to(counters);
  }
  return counters;
}

Checks checks_named(std::string_view text) {
  if (text == "all") return Checks::all();
  Checks checks;
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(','));
    text = name.size() == text.size() ? std::string_view{} : text.substr(name.size() + 1);
    if (name == "bounds")
      checks.bounds = true;
    else if (name == "uninitialised")
      checks.uninitialised = true;
    else if (name == "shared_races")
      checks.shared_races = true;
    else if (name == "global_races")
      checks.global_races = true;
    else if (name == "barriers")
      checks.barriers = true;
    else if (name == "read_only")
      checks.read_only = true;
    else if (name == "equal_stores")
      checks.equal_stores = true;
    else if (!name.empty()) {
      throw std::invalid_argument(
          "unknown check " + std::string(name) +
          ": expected all, bounds, uninitialised, shared_races, global_races, barriers, read_only or equal_stores");
    }
  }
  return checks;
}

}  // namespace ptx::emulator
