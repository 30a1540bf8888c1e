// The driver's device, implemented by the emulator's machine; reads the environment.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "ptx/emulator/driver/device.h"
#include "ptx/emulator/driver/emulator_counters.h"
#include "ptx/emulator/driver/environment.h"
#include "ptx/emulator/emulator.h"
#include "ptx/emulator/worker_pool.h"

namespace ptx::emulator::driver {

namespace {

Fault to_fault(FaultKind kind) {
  switch (kind) {
    case FaultKind::kNone:
      return Fault::kStopped;  // cancelled
    case FaultKind::kIllegalAddress:
    case FaultKind::kLocalBounds:
    case FaultKind::kSharedBounds:
    case FaultKind::kOutOfBounds:
    case FaultKind::kFreedMemory:
      return Fault::kIllegalAddress;
    case FaultKind::kMisaligned:
      return Fault::kMisaligned;
    case FaultKind::kAssert:
      return Fault::kAssert;
    case FaultKind::kStackOverflow:
      return Fault::kStack;
    default:
      return Fault::kLaunchFailed;  // traps, invalid calls, and the checks' other findings
  }
}

// Shared by all launches of a device.
struct Machine {
  Profile profile;
  Memory memory;
  LaunchOptions options;
  WorkerPool crew{std::max(1u, std::thread::hardware_concurrency()) - 1};

  Machine(const Profile& given, const LaunchOptions& asked)
      : profile(given), memory(given.memory_bytes), options(asked) {}
};

class MachineFunction : public LoadedFunction {
 public:
  MachineFunction(Machine& machine, const Module& module, const Code& code)
      : machine_(machine), module_(module), code_(code) {
    traits_.name = code.name;
    for (const Parameter& parameter : code.parameters)
      traits_.parameters.push_back({parameter.offset, parameter.bytes});
    traits_.parameter_bytes = code.parameter_bytes;
    traits_.static_shared_bytes = code.shared_bytes;
    traits_.local_bytes = code.frame_bytes;
    if (code.max_threads > 0) traits_.max_threads = std::min(traits_.max_threads, code.max_threads);
    std::copy(std::begin(code.required_threads), std::end(code.required_threads), traits_.required_threads);
    if (code.required_threads[0] > 0)
      traits_.max_threads = code.required_threads[0] * code.required_threads[1] * code.required_threads[2];
    for (const GlobalVariable& variable : module.globals())
      if (variable.is_constant) traits_.constant_bytes += variable.bytes;
    traits_.n_registers = code.register_count;
    traits_.ptx_version = module.ptx_version();
    traits_.target = module.ptx_target();
  }

  const FunctionTraits& traits() const override { return traits_; }

  Fault run(const LaunchShape& shape, const std::vector<std::byte>& parameters,
            const std::atomic<bool>& stop) const override {
    LaunchRequest request;
    request.code = &code_;
    request.grid = {shape.grid[0], shape.grid[1], shape.grid[2]};
    request.block = {shape.block[0], shape.block[1], shape.block[2]};
    request.dynamic_shared_bytes = static_cast<uint32_t>(shape.dynamic_shared_bytes);
    const auto* bytes = reinterpret_cast<const uint8_t*>(parameters.data());
    request.parameters.assign(bytes, bytes + parameters.size());
    request.options = machine_.options;
    request.options.cooperative = shape.is_cooperative;
    request.options.count = launches_are_counted();
    // The blocks of a checked launch run one at a time.
    const bool has_many_blocks = request.grid.count() > 1 && !request.options.checks.any();
    const bool counts = request.options.count;
    Launch launch(std::move(request), module_, machine_.profile, machine_.memory);
    const LaunchState end = drive(launch, has_many_blocks, stop);
    if (counts) keep_counters(code_.name, launch.counters());
    if (end == LaunchState::kDone) return Fault::kNone;
    if (machine_.options.checks.any() || machine_.options.seed || launch.fault().kind == FaultKind::kAssert)
      std::fprintf(stderr, "%s\n", launch.fault().message().c_str());
    return to_fault(launch.fault().kind);
  }

 private:
  // Runs the first step on this thread: most launches end with it and need no others.
  LaunchState drive(Launch& launch, bool has_many_blocks, const std::atomic<bool>& stop) const {
    LaunchState state = launch.step();
    if (state == LaunchState::kDone || state == LaunchState::kFaulted) return state;
    if (!has_many_blocks) return step_on(launch, stop);
    machine_.crew.run([&] { step_on(launch, stop); });
    return launch.step();
  }

  static LaunchState step_on(Launch& launch, const std::atomic<bool>& stop) {
    for (;;) {
      if (stop) launch.cancel();
      const LaunchState state = launch.step();
      if (state == LaunchState::kDone || state == LaunchState::kFaulted) return state;
      // Every block polls: what they wait for must come from the host or from another stream.
      if (state == LaunchState::kWaiting) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  Machine& machine_;
  const Module& module_;
  const Code& code_;
  FunctionTraits traits_;
};

class MachineModule : public LoadedModule {
 public:
  MachineModule(Machine& machine, const std::vector<LinkInput>& inputs)
      : module_(inputs, machine.profile, machine.memory) {
    for (const Code* code : module_.entries()) functions_.push_back({machine, module_, *code});
  }

  std::vector<const LoadedFunction*> functions() const override {
    std::vector<const LoadedFunction*> list;
    for (const MachineFunction& function : functions_) list.push_back(&function);
    return list;
  }

  std::vector<GlobalVariable> globals() const override {
    std::vector<GlobalVariable> list;
    for (const auto& variable : module_.globals()) list.push_back({variable.name, variable.address, variable.bytes});
    return list;
  }

 private:
  Module module_;
  std::vector<MachineFunction> functions_;
};

std::string compiler_log(const LoadError& error) {
  std::string log;
  for (const Problem& problem : error.problems) {
    if (problem.at.line > 0)
      log += "ptx line " + std::to_string(problem.at.line) + ", column " + std::to_string(problem.at.column) + ": ";
    log += problem.message + (problem.text.empty() ? "" : ": " + problem.text) + "\n";
  }
  return log;
}

template <class Body>
auto with_log(Body body) {
  try {
    return body();
  } catch (const LoadError& error) {
    throw InvalidPtx{compiler_log(error), error.problems.front().is_too_new};
  }
}

class MachineDevice : public Device {
 public:
  MachineDevice(const Profile& given, const LaunchOptions& options) : machine_(given, options) {
    profile_.target = given.target;
    profile_.n_sms = given.sm_count;
    profile_.max_threads_per_sm = given.max_threads_per_sm;
    profile_.max_blocks_per_sm = given.max_blocks_per_sm;
    profile_.registers_per_sm = given.registers_per_sm;
    profile_.shared_per_block = given.shared_bytes_per_block;
    profile_.shared_per_block_optin = given.shared_bytes_per_block_optin;
    profile_.shared_per_sm = given.shared_bytes_per_sm;
    profile_.memory_bytes = machine_.memory.total();
  }

  const DeviceProfile& profile() const override { return profile_; }

  std::unique_ptr<LoadedModule> load(const std::vector<LinkInput>& inputs) override {
    return with_log([&] { return std::make_unique<MachineModule>(machine_, inputs); });
  }

  void check_input(std::string_view ptx) override {
    with_log([&] { Module::check_input(ptx, machine_.profile, machine_.memory); });
  }

  uint64_t allocate(uint64_t bytes) override { return machine_.memory.allocate(bytes); }
  bool release(uint64_t address) override { return machine_.memory.free(address); }
  void map_host(void* start, uint64_t bytes) override { machine_.memory.register_host(start, bytes); }
  void unmap_host(void* start) override { machine_.memory.unregister_host(start); }

  Range find(uint64_t address) const override {
    const std::optional<Allocation> found = machine_.memory.find(address);
    return found ? Range{found->address, found->bytes, found->is_host} : Range{};
  }

  uint64_t free_bytes() const override { return machine_.memory.total() - machine_.memory.used(); }
  std::byte* host_view(uint64_t address) override { return reinterpret_cast<std::byte*>(address); }
  void mark_initialised(uint64_t address, uint64_t bytes) override { machine_.memory.mark_initialised(address, bytes); }

 private:
  Machine machine_;
  DeviceProfile profile_;
};

}  // namespace

std::unique_ptr<Device> make_device(const Profile& profile) {
  return std::make_unique<MachineDevice>(profile, options_from_environment());
}

}  // namespace ptx::emulator::driver
