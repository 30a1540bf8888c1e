// Loads file, tokeniser, template and sampling defaults, then the decoder on its device.
#include "engine/session/model.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "engine/cpu/memory_budget.h"
#include "engine/driver/device_task.h"
#include "engine/driver/driver_error.h"
#include "engine/gpu/device_record.h"
#include "engine/gpu/gpu_steps.h"
#include "engine/session/device_check.h"
#include "engine/session/model_memory.h"
#include "models/chat_template/chat_template.h"
#include "models/out_of_memory.h"
#include "models/weight_check.h"

namespace warpchat {

namespace {

SamplingParams read_sampling(const GgufFile& file) {
  SamplingParams p;
  auto read = [&](const char* key, float& value) {
    value = static_cast<float>(file.get_float(std::string("general.sampling.") + key, value));
  };
  p.top_k = static_cast<uint32_t>(std::min<uint64_t>(file.get_uint("general.sampling.top_k", p.top_k), UINT32_MAX));
  p.penalty_window = static_cast<uint32_t>(
      std::min<uint64_t>(file.get_uint("general.sampling.penalty_last_n", p.penalty_window), UINT32_MAX));
  read("top_p", p.top_p);
  read("min_p", p.min_p);
  read("temp", p.temperature);
  read("penalty_repeat", p.repeat_penalty);
  read("penalty_present", p.presence_penalty);
  read("penalty_freq", p.frequency_penalty);
  if (!(p.repeat_penalty > 0) || p.temperature < 0)
    throw Error(file.path() +
                ": general.sampling.* holds a negative temperature or a repeat penalty that is not above 0");
  return p;
}

class DeviceCheckFailed : public ErrorWithRemedy {
 public:
  explicit DeviceCheckFailed(const std::string& fault)
      : ErrorWithRemedy("the GPU failed its check (" + fault + ")", Remedy::Kind::kCheckDevice) {}
};

// Check of a GPU that is new to this driver and this build; runs in parallel with loading.
class FirstCheck {
 public:
  FirstCheck(const ModelOptions& options, const DeviceChoice& device, const DeviceRecord& record) : record_(record) {
    if (!options.check_device || device.gpu.is_emulated) return;
    const std::optional<std::string> known = record.read().check;
    if (known && !known->empty()) throw DeviceCheckFailed(*known);
    if (!known) check_ = {Context::watch_of(*device.table, device.gpu), [device] { return check_device(device); }};
  }
  void await() {
    if (!check_.is_valid()) return;
    const std::string fault = check_.get().fault();
    DeviceFacts facts = record_.read();
    facts.check = fault;
    record_.write(facts);
    if (!fault.empty()) throw DeviceCheckFailed(fault);
  }

 private:
  const DeviceRecord& record_;
  DeviceTask<DeviceCheck> check_;
};

std::unique_ptr<Decoder> make_gpu_decoder(const ModelOptions& options, const Model& model, const DeviceChoice& device) {
  const DeviceRecord record(options.device_record, device.gpu);
  const std::optional<LaunchMode> untimed = device.gpu.is_emulated ? std::optional(LaunchMode::kStream) : std::nullopt;
  const GpuOptions gpu{
      .device = device,
      .sizes = gpu_sizes(options, model.config, model.context),
      .launch = options.launch ? options.launch : untimed,
      .progress = options.progress,
      .failed_modes = record.read().failed_modes,
      .on_failed_mode = [record](LaunchMode mode, const std::string& why) { record.add_failed_mode(mode, why); },
      .verifies_modes = !device.gpu.is_emulated};
  check_scales(model.file);
  FirstCheck check(options, device, record);
  // In a task, since the driver may hang.
  const DeviceTask<std::unique_ptr<Steps>> loading(Context::watch_of(*device.table, device.gpu), [&] {
    std::unique_ptr<Steps> steps = make_gpu_steps(model.config, model.tensors, gpu);
    if (options.launch) steps->set_launch_mode(*options.launch);  // throws if the mode does not work here
    return steps;
  });
  std::unique_ptr<Steps>& steps = loading.get();
  check.await();
  return std::make_unique<Decoder>(model.config, std::move(steps));
}

std::unique_ptr<Decoder> make_cpu_decoder(const ModelOptions& options, const Model& model) {
  CpuOptions cpu = cpu_options(options, model.config, model.context);
  cpu.threads = options.threads;
  cpu.progress = options.progress;
  // Checks only tensors that are not packed, since packing checks the others. A model that does not fit was refused
  // before.
  const auto is_read_in_place = [](const TensorInfo& t) {
    return t.type == TensorType::kF32 || t.name == "token_embd.weight";
  };
  if (cpu_memory_needed(model.config, model.tensors, cpu) <= available_memory())
    check_scales(model.file, is_read_in_place);
  return std::make_unique<Decoder>(model.config, make_cpu_steps(model.config, model.tensors, cpu));
}

// Null, with a reason, if a GPU chosen by default does not work; the CPU is used instead.
std::unique_ptr<Decoder> try_gpu_decoder(const ModelOptions& options, Model& model, const DeviceChoice& device) {
  const auto give_up = [&](const Error& error) {
    if (!options.device.empty() || options.launch) throw;
    const std::string sentence = error.what();
    model.device_reason = model.device + ": " + sentence.substr(0, sentence.find(';'));
    return nullptr;
  };
  try {
    return make_gpu_decoder(options, model, device);
  } catch (const DriverError& error) {
    return give_up(error);
  } catch (const UnsupportedModel& error) {
    return give_up(error);
  } catch (const DeviceLost& error) {
    return give_up(error);
  } catch (const DeviceCheckFailed& error) {
    model.has_faulty_gpu = true;
    return give_up(error);
  }
}

// The named device, or the default for a model of that size.
DeviceChoice device_for(const ModelOptions& options, const Model& model) {
  const uint64_t needed =
      gpu_memory_budget(model.config, model.tensors, gpu_sizes(options, model.config, model.context))
          .total(model.context);
  DeviceChoice device = choose_device(options.device, needed);
  if (device.table == nullptr && device.lacks_memory && options.another_model_loaded)
    throw MemoryShortage(device.reason + "; unload the current model first", Remedy::Kind::kUseCpu);
  return device;
}

}  // namespace

std::string find_chat_template(const GgufFile& file, const Tokenizer& tokenizer) {
  if (file.has("tokenizer.chat_template")) return std::string(file.get_string("tokenizer.chat_template"));
  return tokenizer.find("<|im_start|>") >= 0 ? std::string(kChatMlTemplate) : "";
}

uint32_t choose_context(const ModelOptions& options, const ModelConfig& config) {
  if (options.context > 0) return options.context;
  return options.context_from_model ? config.context_length : std::min(config.context_length, kDefaultContextLimit);
}

Model::Model(GgufFile mapped) : file(std::move(mapped)) {}

std::unique_ptr<Model> Model::load(const ModelOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  std::unique_ptr<Model> model(new Model(GgufFile::open(options.path)));
  model->config = read_model_config(model->file);
  model->tokenizer = Tokenizer::from(model->file);
  if (model->tokenizer->n_vocab() != model->config.n_vocab)
    throw Error(options.path + ": the tokenizer has " + std::to_string(model->tokenizer->n_vocab()) +
                " tokens, the embedding " + std::to_string(model->config.n_vocab) + "; the file is inconsistent");
  model->chat_template = find_chat_template(model->file, *model->tokenizer);
  model->file_sampling = read_sampling(model->file);
  model->tensors = find_model_tensors(model->file, model->config);
  model->context = choose_context(options, model->config);
  {
    const DeviceChoice device = device_for(options, *model);
    model->device_reason = device.reason;
    model->device = !options.device.empty()   ? options.device
                    : device.table != nullptr ? "cuda:" + std::to_string(device.gpu.index)
                                              : "cpu";
    if (device.table != nullptr) model->decoder = try_gpu_decoder(options, *model, device);
  }
  if (!model->decoder) {
    if (options.device.empty()) model->device = "cpu";
    model->decoder = make_cpu_decoder(options, *model);
  }
  throw_if_out_of_memory();  // a model in the reserve would leave none for what comes later
  model->load_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return model;
}

}  // namespace warpchat
