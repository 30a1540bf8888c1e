// chat bench: tokens per second of prompts and of tokens one by one, as llama-bench measures them: random tokens, no
// sampling, one warm-up before each test, the cache filled to the depth before the clock starts.
#include <algorithm>
#include <cctype>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <random>
#include <span>

#include "app/commands/bench_report.h"
#include "app/commands/commands.h"
#include "app/model_choice/devices.h"
#include "app/model_choice/model_loading.h"
#include "app/platform/output.h"
#include "app/platform/spinner.h"
#include "engine/cpu/cores.h"
#include "engine/gpu/measured_tokens.h"
#include "models/tensor_type.h"

namespace warpchat {

namespace {

std::string utc_time() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

std::vector<Token> random_tokens(uint32_t n, uint32_t n_vocab) {
  std::mt19937 random(1);
  std::vector<Token> tokens(n);
  for (Token& token : tokens) token = static_cast<Token>(random() % n_vocab);
  return tokens;
}

void prefill(Decoder& decoder, std::span<const Token> tokens, uint32_t position, uint32_t sequence = 0) {
  if (!tokens.empty()) decoder.logits(*decoder.prefill(tokens, position, sequence));
}

// Every sequence decodes the same tokens in the requested launch mode. All logits are copied to the host.
void decode(Decoder& decoder, std::span<const Token> tokens, uint32_t position, uint32_t sequences) {
  if (sequences == 1 && decoder.steps().teacher_force(tokens, position, [](std::span<const float>) {})) return;
  std::vector<Run> runs;
  for (size_t n = 0; n < tokens.size(); ++n, ++position) {
    runs.clear();
    for (uint32_t i = 0; i < sequences; ++i) runs.push_back({i, position, tokens.subspan(n, 1), Logits::kLast});
    decoder.forward(runs);
    decoder.logits(0);
  }
}

double timed_run(Decoder& decoder, const BenchResult& test) {
  const uint32_t n_vocab = decoder.config().n_vocab;
  const std::vector<Token> before = random_tokens(test.depth, n_vocab);
  const std::vector<Token> tokens = random_tokens(test.n_prompt + test.n_generate, n_vocab);
  for (uint32_t sequence = 0; sequence < test.n_parallel; ++sequence) prefill(decoder, before, 0, sequence);
  const auto start = std::chrono::steady_clock::now();
  if (test.n_prompt > 0)
    prefill(decoder, tokens, test.depth);
  else
    decode(decoder, tokens, test.depth, test.n_parallel);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<BenchResult> planned_tests(const BenchOptions& options) {
  std::vector<BenchResult> tests;
  for (uint32_t depth : options.depth) {
    for (uint32_t n : options.n_prompt)
      if (n > 0) tests.push_back({.n_prompt = n, .depth = depth});
    for (uint32_t n : options.n_generate)
      if (n > 0) tests.push_back({.n_generate = n, .depth = depth, .n_parallel = options.parallel});
  }
  if (tests.empty()) throw UsageError("nothing to measure: -p and -n are both 0");
  return tests;
}

// The most frequent format of the weights: "Q4_K".
std::string main_format(const GgufFile& file) {
  std::string_view name = "F32";
  uint64_t max = 0;
  for (const TensorTypeTraits& type : supported_tensor_types()) {
    uint64_t bytes = 0;
    for (const TensorInfo& tensor : file.tensors())
      if (tensor.type == type.type) bytes += tensor.data.size();
    if (bytes > max) max = bytes, name = type.name;
  }
  return std::string(name);
}

// "CPU", "CUDA" or "EMULATOR": the first word of the decoder's own description.
std::string backend_of(const Model& model) {
  std::string name = model.decoder->steps().description();
  name.resize(std::min(name.find(':'), name.size()));
  for (char& letter : name) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return name;
}

BenchSubject subject_of(const Model& model, const BenchOptions& options) {
  BenchSubject subject{std::filesystem::path(model.file.path()).filename().string(),
                       "",
                       0,
                       0,
                       backend_of(model),
                       processor_name(),
                       options.threads > 0 ? options.threads : fast_cores().n,
                       options.batch,
                       std::min(options.batch, options.micro_batch),
                       options.cache_type_k,
                       options.cache_type_v};
  for (const TensorInfo& tensor : model.file.tensors()) {
    subject.bytes += tensor.data.size();
    subject.n_parameters += tensor.k() * tensor.rows();
  }
  subject.model = std::string(model.file.get_string("general.architecture", "")) + " ";
  const std::string_view size = model.file.get_string("general.size_label", "");
  if (!size.empty()) subject.model += std::string(size) + " ";
  subject.model += main_format(model.file);
  return subject;
}

// How the test's tokens are launched: "" on the CPU.
std::string launch_of(const Steps& steps, const BenchResult& test) {
  if (!steps.is_gpu()) return "";
  return std::string(test.n_generate > 0 ? steps.launch_of(test.n_parallel, /*is_constrained=*/false)
                                         : name_of(LaunchMode::kStream));
}

void tell_what_was_not_measured(const Model& model, const std::vector<BenchResult>& tests) {
  const std::string_view persistent = name_of(LaunchMode::kPersistent);
  if (model.decoder->steps().launch_of(1, /*is_constrained=*/false) != persistent) return;
  for (const BenchResult& test : tests)
    if (test.n_generate > 0 && test.launch != persistent)
      return print_error("the persistent decoder serves one sequence; " + test_name(test) + " was decoded by " +
                         test.launch + "; for persistent leave out -np");
}

}  // namespace

int run_command(const BenchOptions& options) {
  std::vector<BenchResult> tests = planned_tests(options);
  uint32_t context = 0;
  for (const BenchResult& test : tests) context = std::max(context, test.n_prompt + test.n_generate + test.depth);
  const std::unique_ptr<Model> model = load_model(options, context, options.parallel);
  settle_launch_mode(*model->decoder);
  for (BenchResult& test : tests) {
    test.launch = launch_of(model->decoder->steps(), test);
    BenchResult warm_up = test;
    if (model->decoder->config().experts.n == 0)
      warm_up.n_generate =
          std::min(test.n_generate, 1u);  // with experts a whole run: their weights are packed at first use
    Spinner spinner("measuring " + test_name(test));
    timed_run(*model->decoder, warm_up);
    test.test_time = utc_time();
    for (uint32_t i = 0; i < options.repetitions; ++i) test.seconds.push_back(timed_run(*model->decoder, test));
  }
  save_profile(*model, options);
  tell_what_was_not_measured(*model, tests);
  const std::string report = bench_report(subject_of(*model, options), tests, options.format);
  options.format.starts_with("json") ? write_json(report) : write_output(report);
  return 0;
}

}  // namespace warpchat
