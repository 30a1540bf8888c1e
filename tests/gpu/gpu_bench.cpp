// Measures a GPU: what its memory gives at best, and on models of known shapes what every kernel reaches of that, and
// tokens per second. Writes Markdown.
//   gpu_bench [--device cuda] [--shapes qwen2.5-0.5b,qwen2.5-3b] [--depths 0,4096,32000] [--tokens 64]
//   [--prompts 512,4096] [--batches 1,2,4,8,16,32,64]
// gpu_bench --write-gguf FOLDER [--shapes ...] measures nothing: it writes the models as FOLDER/SHAPE.gguf, for other
// programs to measure.
#include <algorithm>
#include <cstdio>
#include <sstream>

#include "engine/driver/device_choice.h"
#include "engine/driver/module.h"
#include "kernels/shapes.h"
#include "models/message.h"
#include "ptx/builder.h"
#include "tests/gpu/measure_shape.h"
#include "tests/gpu/shaped_model.h"

namespace warpchat {
namespace {

// Reads n * 16 bytes as a stream and does next to nothing with them.
ptx::Kernel read_stream(uint64_t n, uint32_t blocks, ptx::Target target) {
  using namespace ptx;
  constexpr uint32_t kThreads = 512;
  constexpr int kAtOnce = 8;
  Builder b("read_stream", target);
  Global<u32> from = b.global<u32>("from", n * 4), out = b.global<u32>("out", blocks * kThreads);
  Reg<u32> thread = b.block() * kThreads + b.thread();
  Var<u32> sum = b.var("sum", 0u);
  const uint64_t stride = uint64_t{blocks} * kThreads;
  b.for_("chunk", b.convert<u64>(thread), n, stride * kAtOnce, [&](Reg<u64> chunk) {
    std::vector<Vec<u32, 4>> loaded;
    for (int i = 0; i < kAtOnce; ++i) loaded.push_back(from.load<4>((chunk + stride * i) * 4, kReadOnce));
    for (const Vec<u32, 4>& words : loaded)
      for (int i = 0; i < 4; ++i) sum = sum ^ words[i];
  });
  out.store(thread, sum);
  return b.finish(Launch{blocks, kThreads});
}

// Bytes per second, the best of some launches over a buffer far larger than any cache.
double read_ceiling(const ContextPointer& context) {
  const uint32_t blocks = context->device().n_sms * 4;
  const uint64_t turn = uint64_t{blocks} * 512 * 8;  // chunks of 16 bytes in one round of all threads
  const uint64_t wanted = context->device().is_emulated ? 1 << 16 : uint64_t{2} << 30 >> 4;
  const uint64_t n = std::max<uint64_t>(1, wanted / turn) * turn;
  const Module module(context, {read_stream(n, blocks, context->device().target())});
  const Stream stream(context);
  const DeviceMemory from(context, n * 16, "a measurement"), out(context, uint64_t{blocks} * 512 * 4, "a measurement");
  stream.fill(from.address(), 1, n * 16);
  double best = 0;
  for (int i = 0; i < 10; ++i) {
    const GpuEvent before(context, GpuEvent::Timing::kOn), after(context, GpuEvent::Timing::kOn);
    stream.record(before);
    module.kernel(0).launch(stream, {from, out});
    stream.record(after);
    stream.wait();
    best = std::max(best, static_cast<double>(n) * 16 / std::max(1e-9, after.seconds_since(before)));
  }
  return best;
}

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> items;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) items.push_back(item);
  return items;
}

std::vector<uint32_t> numbers_of(const std::string& text) {
  std::vector<uint32_t> numbers;
  for (const std::string& item : list_of(text)) numbers.push_back(static_cast<uint32_t>(std::stoul(item)));
  return numbers;
}

struct Arguments {
  std::string device = "cuda";
  std::vector<std::string> shapes = shape_names();
  BenchPlan plan;
  std::string gguf_folder;  // empty: measure
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; i += 2) {
    const std::string flag = argv[i];
    if (i + 1 == argc) throw Error(flag + " needs a value");
    const std::string value = argv[i + 1];
    if (flag == "--device") {
      arguments.device = value;
    } else if (flag == "--shapes") {
      arguments.shapes = list_of(value);
    } else if (flag == "--depths") {
      arguments.plan.depths = numbers_of(value);
    } else if (flag == "--tokens") {
      arguments.plan.tokens = static_cast<uint32_t>(std::stoul(value));
    } else if (flag == "--prompts") {
      arguments.plan.prompts = numbers_of(value);
    } else if (flag == "--batches") {
      arguments.plan.batches = numbers_of(value);
    } else if (flag == "--write-gguf") {
      arguments.gguf_folder = value;
    } else {
      throw Error("unknown flag " + flag +
                  "; use --device, --shapes, --depths, --tokens, --prompts, --batches, --write-gguf");
    }
  }
  return arguments;
}

void write_models(const Arguments& arguments) {
  for (const std::string& shape : arguments.shapes)
    ShapedModel(model_shape(shape)).write(arguments.gguf_folder + "/" + shape + ".gguf");
}

void run(const Arguments& arguments) {
  const DeviceChoice choice = choose_device(arguments.device);
  if (choice.table == nullptr) throw Error("--device " + arguments.device + " is no GPU");
  double ceiling = 0;
  {
    const ContextPointer context = Context::open(*choice.table, choice.gpu);
    ceiling = read_ceiling(context);
  }
  std::printf("# %s, %s\n\nMeasured read ceiling %.1f GB/s (clock and bus width promise %.1f).\n",
              choice.gpu.name.c_str(), ptx::spell(choice.gpu.target()).c_str(), ceiling * 1e-9,
              choice.gpu.peak_bandwidth * 1e-9);
  for (const std::string& shape : arguments.shapes) measure_shape(shape, arguments.plan, choice, ceiling);
}

}  // namespace
}  // namespace warpchat

int main(int argc, char** argv) {
  try {
    const warpchat::Arguments arguments = warpchat::parse(argc, argv);
    arguments.gguf_folder.empty() ? warpchat::run(arguments) : warpchat::write_models(arguments);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_bench: %s\n", error.what());
    return 1;
  }
}
