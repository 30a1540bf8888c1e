// Measures a device. Prints tables in Markdown; WARPCHAT_RESULTS=FILE appends the same rows as JSON.
//   gpu_bench probe [--device cuda]             whether anything works at all, in seconds
//   gpu_bench constants                         its latencies, gaps and rates
//   gpu_bench contend                           which calls wait for a running kernel, and what waits for them
//   gpu_bench contend --shapes S --call load    a call beside the persistent decoder: none, load, allocate or query
//   gpu_bench decode --shapes S --tokens 32     a prompt (--prompts) and one persistent launch, for a profiler
//   gpu_bench start --shapes S [--start first]  from the start to the first token, part by part
//   gpu_bench shapes --shapes S,S [--depths 0,4096,32000] [--tokens 64] [--rounds 3] [--prompts 512,4096]
//             [--batches 1,2,4,8,16,32,64] [--predicted h200] [--kernels yes|no]
//                                               tokens per second and every kernel, beside the speed model
//   gpu_bench write-gguf --folder F --shapes S  the models as F/SHAPE.gguf, for other programs to measure
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>

#include "engine/driver/context.h"
#include "engine/driver/device_choice.h"
#include "models/error.h"
#include "tests/gpu/measure_constants.h"
#include "tests/gpu/measure_contention.h"
#include "tests/gpu/measure_probe.h"
#include "tests/gpu/measure_shape.h"
#include "tests/gpu/measure_start.h"
#include "tests/gpu/results.h"
#include "tests/gpu/shaped_model.h"

namespace warpchat {
namespace {

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> items;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) items.push_back(item);
  return items;
}

uint32_t number_of(const std::string& text) { return static_cast<uint32_t>(std::stoul(text)); }

std::vector<uint32_t> numbers_of(const std::string& text) {
  std::vector<uint32_t> numbers;
  for (const std::string& item : list_of(text)) numbers.push_back(number_of(item));
  return numbers;
}

struct Arguments {
  std::string command, device = "cuda", start = "first", folder = ".", call;
  std::vector<std::string> shapes = {"qwen2.5-0.5b", "qwen2.5-1.5b", "qwen2.5-3b", "qwen2.5-7b",
                                     "qwen3-0.6b",   "qwen3-1.7b",   "qwen3-4b"};
  BenchPlan plan;
};

constexpr char kUsage[] = "the first argument is probe, constants, contend, decode, start, shapes or write-gguf";

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  if (argc < 2) throw Error(kUsage);
  arguments.command = argv[1];
  BenchPlan& plan = arguments.plan;
  const std::map<std::string, std::function<void(const std::string&)>> flags = {
      {"--device", [&](const std::string& value) { arguments.device = value; }},
      {"--start", [&](const std::string& value) { arguments.start = value; }},
      {"--call", [&](const std::string& value) { arguments.call = value; }},
      {"--folder", [&](const std::string& value) { arguments.folder = value; }},
      {"--shapes", [&](const std::string& value) { arguments.shapes = list_of(value); }},
      {"--depths", [&](const std::string& value) { plan.depths = numbers_of(value); }},
      {"--tokens", [&](const std::string& value) { plan.tokens = number_of(value); }},
      {"--rounds", [&](const std::string& value) { plan.rounds = number_of(value); }},
      {"--prompts", [&](const std::string& value) { plan.prompts = numbers_of(value); }},
      {"--batches", [&](const std::string& value) { plan.batches = numbers_of(value); }},
      {"--predicted", [&](const std::string& value) { plan.predicted_gpu = value; }},
      {"--kernels", [&](const std::string& value) { plan.times_kernels = value == "yes"; }},
  };
  for (int i = 2; i < argc; i += 2) {
    const auto flag = flags.find(argv[i]);
    if (flag == flags.end()) throw Error("unknown flag " + std::string(argv[i]) + "; gpu_bench.cpp lists them");
    if (i + 1 == argc) throw Error(flag->first + " needs a value");
    flag->second(argv[i + 1]);
  }
  return arguments;
}

void measure_shapes(const Arguments& arguments) {
  const DeviceChoice choice = choose_device(arguments.device);
  if (choice.table == nullptr) throw Error("--device " + arguments.device + " is no GPU");
  const ContextPointer context = Context::open(*choice.table, choice.gpu);  // kept, because making it is slow
  const double ceiling = read_ceiling(context);
  ResultTable table("read ceiling", choice.gpu.name, {"target", "GB/s", "GB/s by clock and bus width"});
  table.row({ptx::spell(choice.gpu.target()), number(ceiling * 1e-9, 1), number(choice.gpu.peak_bandwidth * 1e-9, 1)});
  for (const std::string& shape : arguments.shapes) measure_shape(shape, arguments.plan, choice, ceiling);
}

void run(const Arguments& arguments) {
  if (arguments.command == "probe") {
    measure_probe(arguments.device);
  } else if (arguments.command == "contend" && arguments.call.empty()) {
    measure_contention(arguments.device);
  } else if (arguments.command == "contend") {
    for (const std::string& shape : arguments.shapes)
      measure_decoder_contention(arguments.device, shape, arguments.call, arguments.plan.tokens);
  } else if (arguments.command == "decode") {
    for (const std::string& shape : arguments.shapes)
      decode_once(arguments.device, shape, arguments.plan.prompts.at(0), arguments.plan.tokens);
  } else if (arguments.command == "constants") {
    setenv("CUDA_CACHE_DISABLE", "1", 1);  // otherwise the compiler's time is that of reading a file
    measure_constants(arguments.device);
  } else if (arguments.command == "start") {
    for (const std::string& shape : arguments.shapes) measure_start(arguments.device, shape, arguments.start);
  } else if (arguments.command == "shapes") {
    measure_shapes(arguments);
  } else if (arguments.command == "write-gguf") {
    for (const std::string& shape : arguments.shapes)
      ShapedModel(bench_shape(shape)).write(arguments.folder + "/" + shape + ".gguf");
  } else {
    throw Error(kUsage);
  }
}

}  // namespace
}  // namespace warpchat

int main(int argc, char** argv) {
  try {
    warpchat::run(warpchat::parse(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_bench: %s\n", error.what());
    return 1;
  }
}
