// A loaded model: the mapped file, its tokeniser and template, and a decoder on a device.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/decoder.h"
#include "engine/launch_mode.h"
#include "engine/sampler.h"
#include "kernels/kv_cache.h"
#include "models/gguf_reader.h"
#include "models/model_config.h"
#include "models/tokenizer/tokenizer.h"

namespace warpchat {

constexpr uint32_t kDefaultContextLimit = 8192;

// Jinja source of the file's chat template; ChatML if it has none and its vocabulary has <|im_start|>; else empty.
std::string find_chat_template(const GgufFile& file, const Tokenizer& tokenizer);

struct ModelOptions {
  std::string path;
  std::string device = "cpu";            // engine/driver/device_choice.h; empty: the default
  uint32_t threads = 0;                  // 0: one per physical core
  bool context_from_model = false;       // the model's own context length, however long (-c 0)
  uint32_t context = 0;                  // positions; 0: the model's own, at most kDefaultContextLimit
  uint32_t batch = 512;                  // positions in one prefill pass
  uint32_t sequences = 1;                // answered side by side
  std::optional<uint64_t> cache_bytes;   // of the KV cache that they share, at least a context's; none: one for each
  KvTypes cache = {};                    // how keys and values are stored
  std::optional<LaunchMode> launch;      // on a GPU; none: the fastest, on the emulator kStream
  std::function<void(double)> progress;  // 0..1 while loading; may be empty
  bool beside_another = false;           // model that may be given up: MemoryShortage in place of the CPU by default
  std::string device_record;             // file of engine/gpu/device_record.h; empty: nothing is remembered
  bool check_device = true;              // where it was not checked before; the emulator is not
};

// Positions of the KV cache that the options ask for.
uint32_t choose_context(const ModelOptions& options, const ModelConfig& config);

struct Model {
  // Error: one sentence naming file and fault.
  static std::unique_ptr<Model> load(const ModelOptions& options);

  GgufFile file;
  ModelConfig config;
  ModelTensors tensors;
  std::unique_ptr<Tokenizer> tokenizer;
  std::string chat_template;     // Jinja source; empty if the file has none and ChatML does not fit either
  SamplingParams file_sampling;  // built-in defaults with the file's general.sampling.* keys applied
  std::unique_ptr<Decoder> decoder;
  uint32_t context;             // positions of the KV cache
  std::string device;           // where it is, as ModelOptions takes it
  std::string device_reason;    // why not on the first GPU, where no device was named; else empty
  bool has_faulty_gpu = false;  // that is the reason: it failed its check
  double load_seconds;

 private:
  explicit Model(GgufFile mapped);
};

}  // namespace warpchat
