// A launch: which blocks are resident, whose turn it is, when it is over.
#include "ptx/emulator/launch.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "ptx/emulator/block.h"
#include "ptx/emulator/checks/launch_checks.h"

namespace ptx::emulator {
namespace {

constexpr uint64_t kBlockSlice = 1u << 20;        // instructions of a block before the next one's turn
constexpr uint64_t kCooperativeSlice = 1u << 14;  // when blocks wait for each other

constexpr uint32_t kReservedShared = 1024;  // what cooperative_groups uses of a block's shared memory
constexpr uint32_t kGridWorkspace = 256;    // and of global memory for a whole grid

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
  if (uint64_t{r.code->shared_bytes} + r.dynamic_shared_bytes > profile.shared_bytes_per_block_optin) {
    refuse(std::to_string(r.code->shared_bytes) + " static and " + std::to_string(r.dynamic_shared_bytes) +
           " dynamic bytes of shared memory exceed " + std::to_string(profile.shared_bytes_per_block_optin));
  }
  if (r.parameters.size() < r.code->parameter_bytes) {
    refuse(std::to_string(r.parameters.size()) + " bytes of parameters, the kernel has " +
           std::to_string(r.code->parameter_bytes));
  }
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
  std::mutex one_at_a_time;  // with checks, and where a seed decides
  std::mutex mutex;
  std::deque<std::unique_ptr<BlockState>> ready;   // resident and nobody's turn
  std::vector<std::unique_ptr<BlockState>> spare;  // finished, for their memory
  std::vector<std::unique_ptr<Executor>> idle;     // executors between steps
  uint64_t next_block = 0, n_blocks = 0, running = 0, resident = 0, resident_limit = 1;
  uint64_t polls_in_a_row = 0;
  LaunchState state = LaunchState::kRunning;
  Fault fault;
  Counts counters;
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
  s.context.observes = s.checks != nullptr || r.options.count;
  s.n_blocks = r.grid.count();
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
      throw std::invalid_argument("cannot launch " + r.code->name + " cooperatively: no memory for the grid's workspace");
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

LaunchState Launch::step() {
  State& s = *state_;
  const bool cooperative = s.context.request.options.cooperative;
  std::unique_lock alone(s.one_at_a_time, std::defer_lock);
  if (s.choices) alone.lock();  // the sequence of turns is the seed's, however many threads call
  std::unique_lock lock(s.mutex);
  if (s.state != LaunchState::kRunning) return s.state;
  if (s.context.stopped) return s.state = LaunchState::kFaulted;
  const bool may_start = s.next_block < s.n_blocks && s.resident < s.resident_limit;
  const bool must_start = s.ready.empty() || (cooperative && !s.choices) || s.polls_in_a_row >= s.ready.size();
  std::unique_ptr<BlockState> block;
  uint64_t linear = 0;
  const bool starts = may_start && (must_start || (s.choices && s.choices->one_in(2)));
  if (starts) {
    linear = s.next_block++;
    ++s.resident;
  } else if (!s.ready.empty()) {
    if (s.choices) std::swap(s.ready.front(), s.ready[s.choices->below(static_cast<uint32_t>(s.ready.size()))]);
    block = std::move(s.ready.front());
    s.ready.pop_front();
  } else {
    return LaunchState::kWaiting;  // other threads run what is left
  }
  if (starts && !s.spare.empty()) {
    block = std::move(s.spare.back());
    s.spare.pop_back();
  }
  ++s.running;
  auto executor = take_executor(s.idle, s.context);
  lock.unlock();
  if (starts) block = make_block(s.context, linear, std::move(block));
  if (s.checks && !s.choices) alone.lock();
  if (starts && s.checks) s.checks->begin_block(*block);
  const BlockResult result = s.choices ? run_block_by_seed(*block, *executor, seeded_slice(*s.choices))
                                       : run_block(*block, *executor, cooperative ? kCooperativeSlice : kBlockSlice);
  if (s.checks && result == BlockResult::kDone) s.checks->end_block(*block);
  if (s.checks && !s.choices) alone.unlock();
  lock.lock();
  --s.running;
  s.counters += executor->counters;
  executor->counters = {};
  if (result == BlockResult::kFaulted && s.state == LaunchState::kRunning) {
    s.fault = executor->fault;
    s.state = LaunchState::kFaulted;
  }
  s.idle.push_back(std::move(executor));
  if (s.state != LaunchState::kRunning) return s.state;
  if (result == BlockResult::kDone) {
    --s.resident;
    s.spare.push_back(std::move(block));
    s.polls_in_a_row = 0;
    if (s.resident == 0 && s.next_block == s.n_blocks) s.state = LaunchState::kDone;
    return s.state;
  }
  s.polls_in_a_row = result == BlockResult::kPolling ? s.polls_in_a_row + 1 : 0;
  s.ready.push_back(std::move(block));
  const bool all_poll = s.polls_in_a_row > s.resident && (s.next_block == s.n_blocks || s.resident == s.resident_limit);
  if (!all_poll) return LaunchState::kRunning;
  s.polls_in_a_row = 0;
  return LaunchState::kWaiting;
}

LaunchState Launch::run(uint32_t threads) {
  const auto work = [this] {
    LaunchState state;
    while ((state = step()) == LaunchState::kRunning || state == LaunchState::kWaiting) {
      if (state == LaunchState::kWaiting) std::this_thread::yield();
    }
    return state;
  };
  std::vector<std::thread> helpers;
  for (uint32_t t = 1; t < threads; ++t) helpers.emplace_back(work);
  const LaunchState state = work();
  for (std::thread& t : helpers) t.join();
  return state;
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
    else if (!name.empty()) {
      throw std::invalid_argument(
          "unknown check " + std::string(name) +
          ": expected all, bounds, uninitialised, shared_races, global_races, barriers or read_only");
    }
  }
  return checks;
}

}  // namespace ptx::emulator
