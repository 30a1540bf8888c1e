// Finds nvcc's texts, runs their kernels for the other tests, and checks that some test runs every text.
#include "tests/cuda/cuda_text.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace ptx::emulator {
namespace {

const std::filesystem::path kTexts = std::filesystem::path(WARPCHAT_SOURCE_DIR) / "tests/cuda/ptx";

CudaText described(const std::filesystem::path& path) {
  std::vector<std::string> parts;
  std::stringstream name(path.filename().string());
  for (std::string part; std::getline(name, part, '.');) parts.push_back(part);
  const bool flavoured = parts.size() == 4;
  const CudaText text{path, parts[0], parts.size() > 1 ? parts[1] : "", flavoured ? parts[2] : "plain"};
  const std::set<std::string> targets = {"sm_75", "sm_80", "sm_90"},
                              flavours = {"plain", "o0", "debug", "lineinfo", "fast"};
  if (parts.size() < 3 || parts.size() > 4 || parts.back() != "ptx" || !targets.count(text.target) ||
      !flavours.count(text.flavour)) {
    throw std::runtime_error(path.string() + ": expected NAME.sm_75|80|90[.o0|debug|lineinfo|fast].ptx");
  }
  return text;
}

}  // namespace

std::vector<CudaText> cuda_texts(const std::string& kernels) {
  std::vector<CudaText> texts;
  for (const auto& entry : std::filesystem::directory_iterator(kTexts)) {
    CudaText text = described(entry.path());
    if (kernels.empty() || text.kernels == kernels) texts.push_back(std::move(text));
  }
  std::sort(texts.begin(), texts.end(), [](const CudaText& a, const CudaText& b) { return a.path < b.path; });
  return texts;
}

std::vector<CudaCase> cuda_cases(const std::string& kernels, CudaFilter filter) {
  std::vector<CudaCase> cases;
  for (const CudaText& text : cuda_texts(kernels)) {
    if (!filter(text)) continue;
    for (Mode mode : {Mode::kPlain, Mode::kChecked, Mode::kSeeded}) cases.push_back({text, mode});
  }
  return cases;
}

std::string case_name(const testing::TestParamInfo<CudaCase>& info) {
  const char* modes[] = {"", "_checked", "_seeded"};
  return info.param.text.target + "_" + info.param.text.flavour + modes[static_cast<int>(info.param.mode)];
}

void PrintTo(const CudaCase& c, std::ostream* out) { *out << c.text.path; }

std::set<std::string>& instantiated_kernels() {
  static std::set<std::string> names;
  return names;
}

void CudaKernels::SetUp() {
  std::ifstream file(GetParam().text.path);
  std::stringstream text;
  text << file.rdbuf();
  module = std::make_unique<Module>(text.str(), profile, memory);
}

void CudaKernels::launch_packed(const char* kernel, Dim3 grid, Dim3 block, std::vector<uint8_t> parameters) {
  const Code* code = module->find_function(kernel);
  if (code == nullptr) throw std::runtime_error("no kernel " + std::string(kernel) + " in " + GetParam().text.path);
  LaunchOptions options;
  options.cooperative = cooperative;
  if (GetParam().mode == Mode::kChecked) options.checks = Checks::all();
  if (GetParam().mode == Mode::kSeeded) {
    options.seed = 20;
    options.weak_memory = options.jitter = true;
  }
  Launch launch({code, grid, block, dynamic_shared_bytes, std::move(parameters), options}, *module, profile, memory);
  if (launch.run(2) != LaunchState::kDone) throw std::runtime_error(launch.fault().message());
}

void expect_close(const std::string& what, const std::vector<double>& got, const std::vector<double>& want,
                  double absolute, double relative) {
  ASSERT_EQ(got.size(), want.size()) << what;
  size_t wrong = 0, worst = 0;
  double worst_excess = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    double excess = std::fabs(got[i] - want[i]) / (absolute + relative * std::fabs(want[i]));
    if (std::isnan(want[i]) || std::isinf(want[i])) {
      excess = (std::isnan(want[i]) ? std::isnan(got[i]) : got[i] == want[i]) ? 0 : INFINITY;
    } else if (got[i] == want[i]) {
      excess = 0;
    } else if (!(excess >= 0)) {
      excess = INFINITY;
    }
    if (excess > 1) ++wrong;
    if (excess > worst_excess) worst_excess = excess, worst = i;
  }
  EXPECT_LE(worst_excess, 1) << what << ": element " << worst << " is " << got[worst] << ", expected " << want[worst]
                             << ", " << worst_excess << " times the error allowed; " << wrong << " of " << got.size()
                             << " wrong";
}

std::vector<float> random_floats(size_t count, float min, float greatest, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> in_range(min, greatest);
  std::vector<float> values(count);
  for (float& value : values) value = in_range(random);
  return values;
}

TEST(CudaTexts, EveryTextIsRunBySomeTest) {
  for (const CudaText& text : cuda_texts())
    EXPECT_TRUE(instantiated_kernels().count(text.kernels)) << text.path << " belongs to no test";
}

TEST(CudaTexts, EveryKernelFileHasAText) {
  std::set<std::string> compiled, files;
  for (const CudaText& text : cuda_texts())
    if (text.flavour == "plain") compiled.insert(text.kernels);
  for (const auto& entry : std::filesystem::directory_iterator(kTexts.parent_path()))
    if (entry.path().extension() == ".cu") files.insert(entry.path().stem());
  EXPECT_EQ(compiled, files);
}

}  // namespace ptx::emulator
