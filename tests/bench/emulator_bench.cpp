// The emulator's speed on nvcc's own PTX: emulator_bench [--isa NAME] [--kernel NAME] [--checks LIST].
// Prints 10^9 lane-instructions per second of one core for each kernel, set of checks and instruction set. Times are of
// this thread's CPU, the best of several launches; the texts are those of tests/cuda/ptx.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "ptx/emulator/emulator.h"

namespace ptx::emulator {
namespace {

constexpr int kMinRuns = 3;
constexpr double kMinSeconds = 0.6;  // total of a row's launches

struct Options {
  std::string isa, kernel, checks = "*";
};

struct Isa {
  const char* name;
  InstructionSet set;
};
constexpr Isa kSets[] = {
    {"baseline", InstructionSet::kBaseline}, {"avx2", InstructionSet::kAvx2}, {"avx512", InstructionSet::kAvx512}};

struct CheckRow {
  const char *title, *names;
};
constexpr CheckRow kCheckRows[] = {
    {"off", ""}, {"bounds", "bounds"}, {"bounds and initialisation", "bounds,uninitialised"}, {"all", "all"}};

double thread_seconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::string text_of(const std::string& name) {
  std::ifstream file(std::string(TEXTS) + "/" + name + ".ptx");
  if (!file) throw std::runtime_error("cannot open " + name + ".ptx");
  return {std::istreambuf_iterator<char>(file), {}};
}

// A job's kernel with its buffers in `memory`.
struct Job {
  const char *title, *text, *kernel;
  Dim3 (*grid)();
  Dim3 threads;
  std::vector<uint8_t> (*parameters)(Memory&);
};

// `bytes` of device memory that hold ordinary numbers in any format: 0x3c is positive and finite everywhere.
uint64_t buffer(Memory& memory, uint64_t bytes) {
  const uint64_t address = memory.allocate(bytes);
  std::memset(reinterpret_cast<void*>(address), 0x3c, bytes);
  memory.mark_initialised(address, bytes);
  return address;
}

template <class T>
void append(std::vector<uint8_t>& to, T value) {
  to.resize((to.size() + sizeof value - 1) / sizeof value * sizeof value);
  const auto* p = reinterpret_cast<const uint8_t*>(&value);
  to.insert(to.end(), p, p + sizeof value);
}

constexpr int kRows = 1536, kColumns = 8960;  // down projection of a 1.5B model; one warp per row
Dim3 gemv_grid() { return {kRows / 4}; }

std::vector<uint8_t> gemv_parameters(Memory& memory, int block_values, uint64_t block_bytes) {
  const int blocks = kColumns / block_values;
  std::vector<uint8_t> bytes;
  append(bytes, buffer(memory, uint64_t{kRows} * static_cast<uint64_t>(blocks) * block_bytes));
  append(bytes, buffer(memory, uint64_t{kColumns} / 32 * 36));
  append(bytes, memory.allocate(kRows * 4));
  append(bytes, kRows);
  append(bytes, blocks);
  return bytes;
}
std::vector<uint8_t> q4k_parameters(Memory& memory) { return gemv_parameters(memory, 256, 144); }
std::vector<uint8_t> q8_parameters(Memory& memory) { return gemv_parameters(memory, 32, 34); }

constexpr int kNumbers = 65536;  // each lane follows one sequence and leaves the loop at its own time
Dim3 collatz_grid() { return {kNumbers / 128}; }
std::vector<uint8_t> collatz_parameters(Memory& memory) {
  std::vector<uint8_t> bytes;
  const uint64_t from = buffer(memory, kNumbers * 4);
  for (int i = 0; i < kNumbers; ++i) reinterpret_cast<uint32_t*>(from)[i] = static_cast<uint32_t>(i + 1);
  append(bytes, from);
  append(bytes, memory.allocate(kNumbers * 4));
  append(bytes, kNumbers);
  return bytes;
}

constexpr int kSide = 256;  // square matrices, in tiles of 16 x 16 in shared memory
Dim3 matmul_grid() { return {kSide / 16, kSide / 16}; }
std::vector<uint8_t> matmul_parameters(Memory& memory) {
  std::vector<uint8_t> bytes;
  for (int matrix = 0; matrix < 3; ++matrix) append(bytes, buffer(memory, kSide * kSide * 4));
  for (int size = 0; size < 3; ++size) append(bytes, kSide);
  return bytes;
}

constexpr Job kJobs[] = {
    {"GEMV of Q4_K", "quantised_gemv.sm_90", "gemv_q4k", gemv_grid, {128}, q4k_parameters},
    {"GEMV of Q8_0", "quantised_gemv.sm_90", "gemv_q8_0", gemv_grid, {128}, q8_parameters},
    {"divergent loop", "control_flow.sm_90", "collatz", collatz_grid, {128}, collatz_parameters},
    {"tiled product", "matmul_tiled.sm_90", "matmul_f32", matmul_grid, {16, 16}, matmul_parameters},
};

// 10^9 lane-instructions per second, the best of several launches.
double speed(const Job& job, InstructionSet set, const Checks& checks) {
  const Profile profile;
  Memory memory(1ull << 30);
  const Module module(text_of(job.text), profile, memory, set);
  const std::vector<uint8_t> parameters = job.parameters(memory);
  double best = 0, total = 0;
  for (int runs = 0; runs < kMinRuns || total < kMinSeconds; ++runs) {
    LaunchRequest request{module.find_function(job.kernel), job.grid(), job.threads, 0, parameters, {}};
    request.options.checks = checks;
    Launch launch(std::move(request), module, profile, memory);
    const double start = thread_seconds();
    if (launch.run() != LaunchState::kDone) throw std::runtime_error(launch.fault().message());
    const double seconds = thread_seconds() - start;
    best = std::max(best, static_cast<double>(launch.counters().lane_instructions) / seconds * 1e-9);
    total += seconds;
  }
  return best;
}

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    std::string* to = name == "--isa"      ? &options.isa
                      : name == "--kernel" ? &options.kernel
                      : name == "--checks" ? &options.checks
                                           : nullptr;
    if (!to || i + 1 == argc) {
      throw std::invalid_argument("unknown or incomplete option " + name + ": expected --isa, --kernel or --checks");
    }
    *to = argv[i + 1];
  }
  return options;
}

void bench(const Options& options) {
  std::printf("10^9 lane-instructions per second of one core\n%-16s %-26s", "kernel", "checks");
  for (const Isa& isa : kSets) std::printf(" %9s", isa.name);
  std::puts("");
  for (const Job& job : kJobs) {
    if (!options.kernel.empty() && options.kernel != job.kernel) continue;
    for (const CheckRow& row : kCheckRows) {
      if (options.checks != "*" && options.checks != row.names) continue;
      std::printf("%-16s %-26s", job.title, row.title);
      for (const Isa& isa : kSets) {
        const bool runs = isa.set <= best_instruction_set() && (options.isa.empty() || options.isa == isa.name);
        runs ? std::printf(" %9.2f", speed(job, isa.set, checks_named(row.names))) : std::printf(" %9s", "-");
        std::fflush(stdout);
      }
      std::puts("");
    }
  }
}

}  // namespace
}  // namespace ptx::emulator

int main(int argc, char** argv) {
  try {
    ptx::emulator::bench(ptx::emulator::read_options(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "emulator_bench: %s\n", error.what());
    return 1;
  }
}
