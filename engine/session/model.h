// A loaded model: the mapped file, its tokeniser and template, and a decoder on a device.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/decoder.h"
#include "engine/launch_mode.h"
#include "engine/sampler.h"
#include "kernels/attention/kv_cache.h"
#include "models/gguf_reader.h"
#include "models/model_config.h"
#include "models/tokenizer/tokenizer.h"

namespace warpchat {

constexpr uint32_t kDefaultContextLimit = 8192;

// Jinja source of the file's chat template; ChatML if it has none but its vocabulary has <|im_start|>; else empty.
std::string find_chat_template(const GgufFile& file, const Tokenizer& tokenizer);

struct ModelOptions {
  std::string path;
  std::string device = "cpu";            // engine/driver/device_choice.h; empty: the default
  uint32_t threads = 0;                  // 0: one per physical core
  bool context_from_model = false;       // use the model's own context length without limit (-c 0)
  uint32_t context = 0;                  // positions; 0: the model's own, up to kDefaultContextLimit
  uint32_t batch = 512;                  // positions per prefill pass
  uint32_t sequences = 1;                // answered concurrently
  std::optional<uint64_t> cache_bytes;   // shared KV cache, at least one context; none: a context per sequence
  KvTypes cache = {};                    // element types of the KV cache
  std::optional<LaunchMode> launch;      // for a GPU; none: the fastest, or kStream on the emulator
  std::function<void(double)> progress;  // 0..1 while loading; may be empty
  bool another_model_loaded = false;     // another model could be unloaded: MemoryShortage instead of the default CPU
  std::string device_record;             // file of engine/gpu/device_record.h; empty: nothing is stored
  bool check_device = true;              // unless checked before; never on the emulator
};

// KV cache positions according to the options.
uint32_t choose_context(const ModelOptions& options, const ModelConfig& config);

struct Model {
  // Throws Error naming the file and the fault.
  static std::unique_ptr<Model> load(const ModelOptions& options);

  GgufFile file;
  ModelConfig config;
  ModelTensors tensors;
  std::unique_ptr<Tokenizer> tokenizer;
  std::string chat_template;     // Jinja source; empty if the file has none and ChatML does not fit
  SamplingParams file_sampling;  // built-in defaults, overridden by the file's general.sampling.* keys
  std::unique_ptr<Decoder> decoder;
  uint32_t context;             // KV cache positions
  std::string device;           // the actual device, as in ModelOptions
  std::string device_reason;    // why the default device is not the first GPU; else empty
  bool has_faulty_gpu = false;  // because it failed its check
  double load_seconds;

 private:
  explicit Model(GgufFile mapped);
};

}  // namespace warpchat
