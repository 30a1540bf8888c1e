// chat kernels: what a model's decoder launches on a GPU: every kernel with its launch, memory and cost, and its PTX.
#include <algorithm>
#include <filesystem>

#include "app/commands/commands.h"
#include "app/commands/kernel_speeds.h"
#include "app/model_loading.h"
#include "app/output.h"
#include "engine/gpu/gpu_memory.h"
#include "kernels/persistent_decoder.h"
#include "kernels/sampling.h"
#include "kernels/shapes.h"
#include "models/message.h"
#include "ptx/error.h"

namespace warpchat {

namespace {

struct Subject {
  std::string name;
  ModelShape shape;
};

Subject subject_of(const KernelsOptions& options) {
  if (!options.shape.empty() && !options.model.empty()) throw UsageError("--shape and --model exclude each other");
  if (!options.shape.empty()) {
    try {
      return {options.shape, model_shape(options.shape)};
    } catch (const Error& error) {
      throw UsageError(std::string("--shape: ") + error.what());
    }
  }
  const GgufFile file = GgufFile::open(find_model_file(options.model));
  const ModelConfig config = read_model_config(file);
  return {printable(file.path()), {config, formats_of(find_model_tensors(file, config))}};
}

ptx::Target target_of(const std::string& name) {
  try {
    return ptx::parse_target(name);
  } catch (const ptx::Error& error) {
    throw UsageError("--target " + name + ": " + error.what());
  }
}

std::string dimensions(const ptx::Dimensions& d) {
  std::string text = grouped(d.x);
  if (d.y > 1 || d.z > 1) text += " x " + grouped(d.y);
  if (d.z > 1) text += " x " + grouped(d.z);
  return text;
}

size_t lines_of(const ptx::Kernel& kernel) {
  return static_cast<size_t>(std::count(kernel.text.begin(), kernel.text.end(), '\n'));
}
size_t lines_of(const std::vector<ptx::Kernel>& kernels) {
  size_t lines = 0;
  for (const ptx::Kernel& kernel : kernels) lines += lines_of(kernel);
  return lines;
}

std::string listing(const std::vector<ptx::Kernel>& kernels) {
  TextTable table{{"kernel", "blocks", "threads", "shared bytes", "bytes moved", "flops", "PTX lines"}};
  for (const ptx::Kernel& k : kernels) {
    table.push_back({k.name, dimensions(k.launch.blocks), dimensions(k.launch.threads),
                     grouped(k.static_shared_bytes + k.dynamic_shared_bytes), grouped(k.cost.bytes),
                     grouped(k.cost.flops), grouped(lines_of(k))});
  }
  return aligned(table) + "\n" + counted(kernels.size(), "kernel") + ", " + counted(lines_of(kernels), "line") +
         " of PTX\n";
}

void write_texts(const std::vector<ptx::Kernel>& kernels, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error("cannot create the folder " + folder + ": " + error.message());
  for (const ptx::Kernel& kernel : kernels) {
    OutputFile file(folder + "/" + kernel.name + ".ptx");
    file.write(kernel.text.data(), kernel.text.size());
    file.finish();
  }
}

constexpr uint32_t kPromptColumns = 512;  // of a pass, as by default

}  // namespace

int run_command(const KernelsOptions& options) {
  const Subject subject = subject_of(options);
  if (!options.gpu.empty()) {
    write_output(predicted_speeds(subject.name, subject.shape, options.gpu));
    return 0;
  }
  const ptx::Target target = target_of(options.target);
  const ModelConfig& config = subject.shape.config;
  const uint32_t context =
      options.context > 0 ? options.context : std::min(config.context_length, kDefaultContextLimit);
  const DecoderSpecs of_token = decoder_specs(config, subject.shape.formats, context, PassKind::kToken, 1);
  std::vector<ptx::Kernel> kernels;
  for (const auto& [kind, columns] : {std::pair(PassKind::kToken, 1u), std::pair(PassKind::kPrompt, kPromptColumns)})
    for (ptx::Kernel& kernel :
         decoder_kernels(decoder_specs(config, subject.shape.formats, context, kind, columns), target))
      kernels.push_back(std::move(kernel));
  const SampleSpec sampling{.n_vocab = config.n_vocab, .advances = true};
  kernels.push_back(sample(sampling, target));
  std::vector<ptx::Kernel> persistent;
  persistent.push_back(persistent_decoder({of_token, sampling.ring, /*stamps=*/true}, target));
  if (!options.ptx_folder.empty()) {
    write_texts(kernels, options.ptx_folder);
    write_texts(persistent, options.ptx_folder);
  }
  write_output(subject.name + " on " + ptx::spell(target) + ", context " + grouped(context) + "\n\n" +
               listing(kernels) + "\nwith --launch persistent, a block on every processor\n\n" + listing(persistent) +
               "\nin all " + counted(lines_of(kernels) + lines_of(persistent), "line") + " of PTX\n");
  return 0;
}

}  // namespace warpchat
