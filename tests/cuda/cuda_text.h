// Runs nvcc's texts in tests/cuda/ptx: the fixture gets one text of a kernel file in one mode of the emulator.
// INSTANTIATE_CUDA(Suite, "file") runs a suite over every text of FILE.cu: with checks off, with all on, and with
// seeded schedules, delayed stores and jittered approximations. INSTANTIATE_CUDA_FOR selects texts by a filter.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "ptx/emulator/emulator.h"

namespace ptx::emulator {

struct CudaText {
  std::string path, kernels, target, flavour;  // "reductions", "sm_90", "plain"
};

// The texts of one kernel file, or of all (""), sorted; throws if a name in ptx/ is not NAME.sm_XX[.FLAVOUR].ptx.
std::vector<CudaText> cuda_texts(const std::string& kernels = "");

enum class Mode { kPlain, kChecked, kSeeded };

struct CudaCase {
  CudaText text;
  Mode mode = Mode::kPlain;
};
using CudaFilter = bool (*)(const CudaText&);  // selects a suite's texts
std::vector<CudaCase> cuda_cases(const std::string& kernels, CudaFilter filter);
inline int target_of(const CudaText& text) { return std::stoi(text.target.substr(3)); }
inline bool every_text(const CudaText&) { return true; }
inline bool from_sm_80(const CudaText& text) { return target_of(text) >= 80; }
inline bool from_sm_90(const CudaText& text) { return target_of(text) >= 90; }
inline bool fast_math(const CudaText& text) { return text.flavour == "fast"; }
inline bool exact_math(const CudaText& text) { return !fast_math(text); }
std::string case_name(const testing::TestParamInfo<CudaCase>& info);  // "sm_90_debug_checked"
void PrintTo(const CudaCase& c, std::ostream* out);
std::set<std::string>& instantiated_kernels();  // the files that some suite runs

class CudaKernels : public testing::TestWithParam<CudaCase> {
 protected:
  CudaKernels() : memory(1ull << 31) {}
  void SetUp() override;

  int target() const { return target_of(GetParam().text); }
  bool fast() const { return fast_math(GetParam().text); }
  bool jitters() const { return GetParam().mode == Mode::kSeeded; }

  template <class T>
  T* upload(const std::vector<T>& values) {
    T* p = reinterpret_cast<T*>(memory.allocate(values.size() * sizeof(T)));
    std::memcpy(static_cast<void*>(p), values.data(), values.size() * sizeof(T));
    memory.mark_initialised(reinterpret_cast<uint64_t>(p), values.size() * sizeof(T));
    return p;
  }
  template <class T>
  T* zeros(size_t count) {
    return upload(std::vector<T>(count));
  }
  template <class T>
  T* filled(size_t count, T value) {
    return upload(std::vector<T>(count, value));
  }
  template <class T>
  static std::vector<T> download(const T* p, size_t count) {
    return std::vector<T>(p, p + count);
  }

  // Runs a kernel to its end; throws on a fault. Packs arguments with their own alignment.
  template <class... Arguments>
  void launch(const char* kernel, Dim3 grid, Dim3 block, const Arguments&... arguments) {
    std::vector<uint8_t> bytes;
    (pack(bytes, arguments), ...);
    launch_packed(kernel, grid, block, std::move(bytes));
  }

  Profile profile;
  Memory memory;
  std::unique_ptr<Module> module;
  uint32_t dynamic_shared_bytes = 0;  // for the next launches
  bool cooperative = false;

 private:
  template <class T>
  static void pack(std::vector<uint8_t>& bytes, const T& value) {
    bytes.resize((bytes.size() + alignof(T) - 1) / alignof(T) * alignof(T));
    const auto* p = reinterpret_cast<const uint8_t*>(&value);
    bytes.insert(bytes.end(), p, p + sizeof value);
  }
  void launch_packed(const char* kernel, Dim3 grid, Dim3 block, std::vector<uint8_t> parameters);
};

// got[i] may differ from want[i] by absolute + relative * |want[i]|; NaN and infinities must agree. Reports the worst.
void expect_close(const std::string& what, const std::vector<double>& got, const std::vector<double>& want,
                  double absolute, double relative);

template <class T>
std::vector<double> as_doubles(const std::vector<T>& values) {
  return std::vector<double>(values.begin(), values.end());
}

// Random numbers with a fixed seed.
template <class T>
std::vector<T> random_integers(size_t count, T min, T greatest, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int64_t> in_range(min, greatest);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(in_range(random));
  return values;
}
std::vector<float> random_floats(size_t count, float min, float greatest, unsigned seed = 1);

#define INSTANTIATE_CUDA(Suite, kernels) INSTANTIATE_CUDA_FOR(Suite, kernels, ptx::emulator::every_text)
#define INSTANTIATE_CUDA_FOR(Suite, kernels, filter)                                                   \
  static const bool k##Suite##Runs = ptx::emulator::instantiated_kernels().insert(kernels).second;     \
  INSTANTIATE_TEST_SUITE_P(Cuda, Suite, testing::ValuesIn(ptx::emulator::cuda_cases(kernels, filter)), \
                           ptx::emulator::case_name)

}  // namespace ptx::emulator
