// chat kernels: what a model's decoder launches on a GPU: every kernel with its launch, memory and cost, and its PTX.
#include <algorithm>
#include <filesystem>

#include "app/commands/commands.h"
#include "app/model_choice/model_loading.h"
#include "app/platform/output.h"
#include "engine/decoder.h"
#include "engine/gpu/gpu_memory.h"
#include "kernels/persistent/persistent_decoder.h"
#include "kernels/persistent/token_functions.h"
#include "kernels/sampling/mask_logits.h"
#include "kernels/sampling/sampling.h"
#include "kernels/shapes.h"
#include "models/text_format.h"
#include "models/text_table.h"
#include "ptx/error.h"

namespace warpchat {

namespace {

constexpr uint32_t kBatchColumns = 64;

struct Subject {
  std::string name;
  ModelShape shape;
};

Subject subject_of(const KernelsOptions& options) {
  if (!options.shape.empty() && !options.model.empty()) throw UsageError("use --shape or --model, not both");
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

using Kernels = std::vector<ptx::Kernel>;

size_t lines_of(const std::string& text) { return static_cast<size_t>(std::count(text.begin(), text.end(), '\n')); }

// What the kernels call, each once.
std::vector<ptx::FunctionPointer> functions_of(const Kernels& kernels) {
  std::vector<ptx::FunctionPointer> functions;
  for (const ptx::Kernel& kernel : kernels)
    for (const ptx::FunctionPointer& function : kernel.functions)
      if (std::ranges::none_of(functions, [&](const auto& f) { return f->name == function->name; }))
        functions.push_back(function);
  return functions;
}

std::string listing(const Kernels& kernels) {
  TextTable table{{"kernel", "blocks", "threads", "shared bytes", "bytes moved", "flops", "PTX lines"}};
  for (const ptx::Kernel& k : kernels) {
    table.push_back({k.name, dimensions(k.launch.blocks), dimensions(k.launch.threads),
                     grouped(k.static_shared_bytes + k.dynamic_shared_bytes), grouped(k.cost.bytes),
                     grouped(k.cost.flops), grouped(lines_of(k.declarations + k.entry))});
  }
  std::string text = aligned(table);
  const std::vector<ptx::FunctionPointer> functions = functions_of(kernels);
  if (functions.empty()) return text;
  table = {{"called functions", "shared bytes", "PTX lines"}};
  for (const ptx::FunctionPointer& f : functions)
    table.push_back({f->name, grouped(f->shared_bytes), grouped(lines_of(f->declarations + f->text))});
  return text + "\n" + aligned(table);
}

// The kernels of a model, grouped in the modules that are compiled.
struct Module {
  std::string name, title;
  Kernels kernels;
  std::string text() const { return ptx::module_text(kernels); }
};

void write_texts(const std::vector<Module>& modules, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error("cannot create the folder " + folder + ": " + error.message());
  for (const Module& module : modules) {
    write_file(folder + "/" + module.name + ".ptx", module.text());
  }
}

std::vector<Module> modules_of(const ModelConfig& config, const DecoderFormats& formats, uint32_t context,
                               ptx::Target target) {
  const Network network = text_decoder(config);
  const auto list = [&](PassKind kind, uint32_t columns) {
    return launch_list(network, config, formats, {kind, columns, context});
  };
  const auto kernels = [&](PassKind kind, uint32_t columns) { return kernels_of(list(kind, columns), target); };
  const LaunchList of_token = list(PassKind::kDecode, 1);
  const SampleSpec sampling{.n_vocab = config.n_vocab, .ring = sample_ring(context), .advances = true};
  Module token{"token", "a token, with --launch persistent by the last kernel alone", kernels_of(of_token, target)};
  token.kernels.push_back(mask_logits({.n_vocab = config.n_vocab}, target));  // for answers of a required form
  token.kernels.push_back(sample(sampling, target));
  token.kernels.push_back(persistent_decoder({of_token, sampling.ring, /*stamps=*/true}, target));
  Module few{"few", "a token each of 2 to " + grouped(kFewSequences) + " sequences",
             kernels(PassKind::kSmallBatch, kFewSequences)};
  Module batch{"batch", "a token each of up to " + grouped(kBatchColumns) + " sequences",
               kernels(PassKind::kBatch, kBatchColumns)};
  Module prompt{"prompt", "a prompt", kernels(PassKind::kPrefill, GpuSizes().batch)};
  return {std::move(token), std::move(few), std::move(batch), std::move(prompt)};
}

}  // namespace

int run_command(const KernelsOptions& options) {
  const Subject subject = subject_of(options);
  const ptx::Target target = target_of(options.target);
  const ModelConfig& config = subject.shape.config;
  const uint32_t context =
      options.context > 0 ? options.context : std::min(config.context_length, kDefaultContextLimit);
  const std::vector<Module> modules = modules_of(config, subject.shape.formats, context, target);
  if (!options.ptx_folder.empty()) write_texts(modules, options.ptx_folder);
  std::string text = subject.name + " on " + ptx::spell(target) + ", context " + grouped(context) + "\n";
  size_t n_kernels = 0, n_lines = 0;
  for (const Module& module : modules) {
    const size_t lines = lines_of(module.text());
    text += "\n" + module.title + ": " + counted(module.kernels.size(), "kernel") + ", " + counted(lines, "line") +
            " of PTX\n" + listing(module.kernels);
    n_kernels += module.kernels.size(), n_lines += lines;
  }
  write_output(text + "\nin all " + counted(n_kernels, "kernel") + ", " + counted(n_lines, "line") + " of PTX\n");
  return 0;
}

}  // namespace warpchat
