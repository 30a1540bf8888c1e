#include "tests/gpu/measure_start.h"

#include <chrono>

#include "engine/decoder.h"
#include "engine/driver/context.h"
#include "engine/gpu/gpu_steps.h"
#include "engine/token_source.h"
#include "tests/gpu/results.h"
#include "tests/gpu/shaped_model.h"

namespace warpchat {
namespace {

using Clock = std::chrono::steady_clock;

class Start {
 public:
  Start(const std::string& device, const std::string& shape, const std::string& start) : shape_(shape), start_(start) {
    const ModelShape sizes = bench_shape(shape);
    model_.emplace(sizes);  // in memory, like a file in the page cache
    begin_ = last_ = Clock::now();
    choice_ = choose_device(device);
    if (choice_.table == nullptr) throw Error("--device " + device + " is no GPU");
    table_.emplace("start", choice_.gpu.name,
                   std::vector<std::string>{"shape", "start", "part", "ms", "ms since the start"});
    part("driver's start");
  }

  void run() {
    const ContextPointer context = Context::open(*choice_.table, choice_.gpu);
    part("context");
    const uint32_t n_positions = std::min(4096u, model_->config().context_length);
    std::unique_ptr<Steps> own =
        make_gpu_steps(model_->config(), model_->tensors(), {choice_, {.context = n_positions}});
    part("weights packed and uploaded, a prompt's kernels compiled meanwhile");
    Steps& steps = *own;
    Decoder decoder(model_->config(), std::move(own));
    decoder.forward(std::vector<Token>(kPrompt, 1), 0, Logits::kLast);
    decoder.wait();
    part("prompt of 16 tokens");
    uint32_t position = kPrompt;
    for (const LaunchMode mode : kLaunchModes) {
      if (!steps.can_launch(mode)) continue;
      steps.set_launch_mode(mode);
      const std::string name(name_of(mode));
      const Token token = 1;
      decoder.forward({&token, 1}, position++, Logits::kLast);
      SamplingParams greedy;
      greedy.temperature = 0;
      {
        const auto source = make_token_source(decoder, {greedy, {token}, position, 0, 2});
        const std::atomic<bool> stop = false;
        source->next(stop);
        source->next(stop);
      }
      part("first tokens by " + name);
    }
  }

 private:
  static constexpr uint32_t kPrompt = 16;
  void part(const std::string& name) {
    const auto now = Clock::now();
    const auto ms = [](Clock::duration d) { return number(std::chrono::duration<double>(d).count() * 1e3, 1); };
    table_->row({shape_, start_, name, ms(now - last_), ms(now - begin_)});
    last_ = now;
  }

  std::string shape_, start_;
  std::optional<ShapedModel> model_;
  Clock::time_point begin_, last_;
  DeviceChoice choice_;
  std::optional<ResultTable> table_;
};

}  // namespace

void measure_start(const std::string& device, const std::string& shape, const std::string& start) {
  Start(device, shape, start).run();
}

}  // namespace warpchat
