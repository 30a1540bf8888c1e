// Measures a GPU: what its memory gives at best, and on models of known shapes what every kernel reaches of that, and
// tokens per second. Writes Markdown.
//   gpu_bench [--device cuda] [--launch stream|graph] [--shapes qwen2.5-0.5b,qwen2.5-3b] [--depths 0,4096,32768]
//   [--tokens 64]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <sstream>

#include "engine/decoder.h"
#include "engine/driver/module.h"
#include "engine/gpu/gpu_steps.h"
#include "engine/profile_report.h"
#include "models/message.h"
#include "ptx/builder.h"
#include "tests/gpu/shaped_model.h"

namespace warpchat {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

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
    const Event before(context, Event::Timing::kOn), after(context, Event::Timing::kOn);
    stream.record(before);
    module.kernel(0).launch(stream, {from, out});
    stream.record(after);
    stream.wait();
    best = std::max(best, static_cast<double>(n) * 16 / std::max(1e-9, after.seconds_since(before)));
  }
  return best;
}

// Tokens per second of single-token passes from position `depth`; what lies before in the cache is zeros.
double decode_speed(Decoder& decoder, uint32_t depth, uint32_t tokens) {
  std::vector<double> seconds;
  for (uint32_t i = 0; i < tokens + 2; ++i) {
    const Token token = static_cast<Token>(i + 1);
    const auto start = Clock::now();
    decoder.forward({&token, 1}, depth + i, Logits::kLast);
    decoder.logits(0);
    if (i >= 2) seconds.push_back(seconds_since(start));  // the first two warm caches and clocks up
  }
  return 1 / median(seconds);
}

double prefill_speed(Decoder& decoder, uint32_t tokens) {
  std::vector<Token> prompt(tokens, 1);
  decoder.forward(std::span(prompt).first(std::min(2u, tokens)), 0, Logits::kLast);  // compiles the prompt's kernels
  decoder.logits(std::min(2u, tokens) - 1);
  const auto start = Clock::now();
  for (uint32_t at = 0; at < tokens; at += decoder.max_columns()) {
    const uint32_t n = std::min(decoder.max_columns(), tokens - at);
    decoder.forward(std::span(prompt).subspan(at, n), at, at + n == tokens ? Logits::kLast : Logits::kNone);
    if (at + n == tokens) decoder.logits(n - 1);
  }
  return tokens / seconds_since(start);
}

struct Plan {
  std::string device = "cuda";
  LaunchMode launch = LaunchMode::kStream;
  std::vector<std::string> shapes = shape_names();
  std::vector<uint32_t> depths = {0, 4096, 32000};
  uint32_t tokens = 64, prompt = 512;
};

void measure(const std::string& name, const Plan& plan, const DeviceChoice& choice, double ceiling) {
  const ShapedModel model(model_shape(name));
  const uint32_t context = std::min(model.config().context_length,
                                    *std::max_element(plan.depths.begin(), plan.depths.end()) + plan.tokens + 512);
  const auto start = Clock::now();
  Decoder decoder(model.config(), make_gpu_steps(model.config(), model.tensors(),
                                                 {choice, {.context = context}, plan.launch, false, {}}));
  const double load_seconds = seconds_since(start);
  Profile& profile = decoder.steps().profile();
  profile.set_peak_bandwidth(ceiling);
  std::printf(
      "\n## %s\n\n%s bytes of weights, loaded in %.1f s\n\n| test | tokens/s | of the read ceiling |\n"
      "| --- | ---: | ---: |\n",
      name.c_str(), grouped(model.n_bytes()).c_str(), load_seconds);
  profile.set_enabled(false);
  for (uint32_t depth : plan.depths) {
    if (depth + plan.tokens + 2 > context) continue;
    const double speed = decode_speed(decoder, depth, plan.tokens);
    const uint64_t cached = uint64_t{4} * model.config().n_layers * model.config().n_kv_heads * model.config().head_dim;
    const double bytes = static_cast<double>(model.n_bytes() + cached * depth);
    std::printf("| decode at %u | %.1f | %.1f%% |\n", depth, speed, 100 * bytes * speed / ceiling);
  }
  const uint32_t prompt = std::min(plan.prompt, context);
  prefill_speed(decoder, prompt);
  std::printf("| prefill of %u | %.1f | |\n\n", prompt, prefill_speed(decoder, prompt));
  profile.set_enabled(true);
  decode_speed(decoder, 0, plan.tokens);
  std::printf("%s\n", profile_markdown(profile, name + ", kernels of decode at 0").c_str());
  std::fflush(stdout);
}

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> items;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) items.push_back(item);
  return items;
}

Plan parse(int argc, char** argv) {
  Plan plan;
  for (int i = 1; i < argc; i += 2) {
    const std::string flag = argv[i];
    if (i + 1 == argc) throw Error(flag + " needs a value");
    const std::string value = argv[i + 1];
    if (flag == "--device") {
      plan.device = value;
    } else if (flag == "--launch") {
      const std::optional<LaunchMode> mode = launch_mode_named(value);
      if (!mode) throw Error("unknown launch mode " + value);
      plan.launch = *mode;
    } else if (flag == "--shapes") {
      plan.shapes = list_of(value);
    } else if (flag == "--depths") {
      plan.depths.clear();
      for (const std::string& depth : list_of(value)) plan.depths.push_back(static_cast<uint32_t>(std::stoul(depth)));
    } else if (flag == "--tokens") {
      plan.tokens = static_cast<uint32_t>(std::stoul(value));
    } else if (flag == "--prompt") {
      plan.prompt = static_cast<uint32_t>(std::stoul(value));
    } else {
      throw Error("unknown flag " + flag + "; use --device, --launch, --shapes, --depths, --tokens, --prompt");
    }
  }
  return plan;
}

void run(const Plan& plan) {
  const DeviceChoice choice = choose_device(plan.device);
  if (choice.table == nullptr) throw Error("--device " + plan.device + " is no GPU");
  double ceiling = 0;
  {
    const ContextPointer context = Context::open(*choice.table, choice.gpu);
    ceiling = read_ceiling(context);
  }
  std::printf("# %s, %s\n\nMeasured read ceiling %.1f GB/s (clock and bus width promise %.1f).\n",
              choice.gpu.name.c_str(), ptx::spell(choice.gpu.target()).c_str(), ceiling * 1e-9,
              choice.gpu.peak_bandwidth * 1e-9);
  for (const std::string& shape : plan.shapes) measure(shape, plan, choice, ceiling);
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
