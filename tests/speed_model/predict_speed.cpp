// predict_speed: how fast a model's decoder would be on a GPU, by the speed model.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "models/error.h"
#include "models/gguf_reader.h"
#include "models/model_config.h"
#include "models/text_format.h"
#include "tests/speed_model/kernel_speeds.h"

namespace warpchat {

namespace {

constexpr int kError = 1, kUsage = 2;

class UsageError : public Error {
 public:
  using Error::Error;
};

struct Choice {
  std::string shape, model;  // exactly one is set
  std::string gpu, constants = "expected";
};

int report(const std::string& sentence, int exit_code) {
  std::fprintf(stderr, "predict_speed: %s\n", sentence.c_str());
  return exit_code;
}

void write_output(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw Error("cannot write to standard output");
}

// Returns the result of `find`; its error becomes one of the option's value.
template <class Find>
decltype(auto) value_of(const std::string& option, const Find& find) {
  try {
    return find();
  } catch (const Error& error) {
    throw UsageError(option + ": " + error.what());
  }
}

std::string prediction(const Choice& choice) {
  if (choice.shape.empty() == choice.model.empty()) throw UsageError("give either --shape NAME or --model FILE");
  if (choice.gpu.empty()) throw UsageError("give --gpu NAME: h200, h100, h100-pcie or 4090");
  const GpuTraits& gpu = value_of("--gpu", [&]() -> const GpuTraits& { return gpu_named(choice.gpu); });
  const ConstantSet constants = value_of("--constants", [&] { return constant_set_named(choice.constants); });
  if (!choice.shape.empty()) {
    const ModelShape shape = value_of("--shape", [&] { return model_shape(choice.shape); });
    return predicted_speeds(choice.shape, shape, gpu, constants);
  }
  const GgufFile file = GgufFile::open(choice.model);
  const ModelConfig config = read_model_config(file);
  return predicted_speeds(printable(file.path()), {config, formats_of(find_model_tensors(file, config))}, gpu,
                          constants);
}

int run(int argc, char** argv) {
  CLI::App app("Predicts how fast a GPU decodes a model, and where the time goes.", "predict_speed");
  Choice choice;
  app.add_option("--shape", choice.shape, "a known model's shape in Q4_K_M: qwen2.5-3b, qwen3.5-35b-a3b, ...")
      ->option_text("NAME");
  app.add_option("-m,--model", choice.model, "a GGUF file instead of a shape")->option_text("FILE");
  app.add_option("--gpu", choice.gpu, "h200, h100, h100-pcie or 4090")->option_text("NAME");
  app.add_option("--constants", choice.constants,
                 "the assumed latencies: frozen (kernels were tuned by them), expected, the default, or harsh")
      ->option_text("SET");
  try {
    app.parse(argc, argv);
    write_output(prediction(choice));
    return 0;
  } catch (const CLI::CallForHelp&) {
    write_output(app.help());
    return 0;
  } catch (const CLI::ParseError& error) {
    return report(error.what(), kUsage);
  } catch (const UsageError& error) {
    return report(error.what(), kUsage);
  }
}

}  // namespace

}  // namespace warpchat

int main(int argc, char** argv) {
  try {
    return warpchat::run(argc, argv);
  } catch (const std::exception& error) {
    return warpchat::report(error.what(), warpchat::kError);
  }
}
