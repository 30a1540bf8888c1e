// The emulator's driver with faults on demand and a count of live objects. Its functions are static and call the
// emulator's, so only one FaultyDriver may exist at a time.
//   FaultyDriver driver;
//   driver.fail("cuMemAlloc", 3, CUDA_ERROR_OUT_OF_MEMORY);  // the third call from now on
//   ... driver.device() ...
//   EXPECT_EQ(driver.alive(), "");
#pragma once
#include <array>
#include <cassert>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tests/support/test_device.h"

namespace warpchat {

class FaultyDriver {
 public:
  FaultyDriver() {
    assert(current_ == nullptr);
    current_ = this;
    using enum Index;
#define WARPCHAT_WRAP(name, symbol) \
  table_.name = Wrapper<decltype(DriverTable::name), name##_>::wrap(emulator_table().name);
    WARPCHAT_DRIVER_FUNCTIONS(WARPCHAT_WRAP)
    WARPCHAT_WRAP(cuEventElapsedTime, )
#undef WARPCHAT_WRAP
  }
  ~FaultyDriver() { current_ = nullptr; }
  FaultyDriver(const FaultyDriver&) = delete;

  DeviceChoice device() const { return {&table_, choose_device("emulator").gpu, ""}; }
  DriverTable& table() { return table_; }  // for a test's own functions

  // Makes the call-th call of the function from now on fail with this code, without effect. kLost: every later call
  // fails, too, until the device's context is released by all.
  enum class Extent { kOnce, kLost };
  void fail(std::string_view function, uint64_t call, ptx::cuda::CUresult code, Extent extent = Extent::kOnce) {
    const std::lock_guard lock(mutex_);
    plan_ = {true, false, std::string(function), calls_[std::string(function)] + call, code, extent};
  }
  bool has_failed() const { return plan_.has_failed; }
  // From now on, modules get a text that no compiler accepts.
  void damage_modules(bool on) { damages_modules_ = on; }

  uint64_t calls(const std::string& function) { return calls_[function]; }
  const std::map<std::string, uint64_t>& all_calls() const { return calls_; }
  // Number of calls by function that work() makes, without functions that release something.
  template <class Work>
  std::map<std::string, uint64_t> calls_of(Work&& work) {
    const std::map<std::string, uint64_t> before = calls_;
    work();
    std::map<std::string, uint64_t> calls;
    for (const auto& [function, n] : calls_) {
      const auto known = before.find(function);
      const uint64_t n_before = known == before.end() ? 0 : known->second;
      if (n > n_before && !ends_something(function)) calls[function] = n - n_before;
    }
    return calls;
  }
  // Objects that were made and not yet released: "cuMemAlloc 2, cuEventCreate 1"; empty if none.
  std::string alive() const {
    std::string text;
    for (const auto& [maker, ender] : kPairs) {
      const auto made = made_.find(std::string(maker)), ended = calls_.find(std::string(ender));
      const uint64_t n = (made == made_.end() ? 0 : made->second) - (ended == calls_.end() ? 0 : ended->second);
      if (n != 0) text += (text.empty() ? "" : ", ") + std::string(maker) + " " + std::to_string(n);
    }
    return text;
  }
  // True for functions that release an object. A broken driver fails them, but the owner must call them all the same.
  static bool ends_something(std::string_view function) {
    for (const auto& [maker, ender] : kPairs)
      if (function == ender) return true;
    return false;
  }

 private:
  using CUresult = ptx::cuda::CUresult;
  enum class Index {
#define WARPCHAT_INDEX(name, symbol) name##_,
    WARPCHAT_DRIVER_FUNCTIONS(WARPCHAT_INDEX) cuEventElapsedTime_
#undef WARPCHAT_INDEX
  };
  static constexpr std::string_view kNames[] = {
#define WARPCHAT_NAME(name, symbol) #name,
      WARPCHAT_DRIVER_FUNCTIONS(WARPCHAT_NAME) "cuEventElapsedTime"
#undef WARPCHAT_NAME
  };
  static constexpr std::pair<std::string_view, std::string_view> kPairs[] = {
      {"cuMemAlloc", "cuMemFree"},
      {"cuMemHostAlloc", "cuMemFreeHost"},
      {"cuModuleLoadDataEx", "cuModuleUnload"},
      {"cuStreamCreate", "cuStreamDestroy"},
      {"cuEventCreate", "cuEventDestroy"},
      {"cuStreamEndCapture", "cuGraphDestroy"},
      {"cuGraphInstantiate", "cuGraphExecDestroy"},
      {"cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease"},
  };
  struct Plan {
    bool is_set = false, has_failed = false;
    std::string function;
    uint64_t call = 0;
    CUresult code = ptx::cuda::CUDA_SUCCESS;
    Extent extent = Extent::kOnce;
  };

  // The code that this call must return, or success if it is passed on.
  CUresult fault_of(const std::string& function) {
    const std::lock_guard lock(mutex_);
    const uint64_t call = ++calls_[function];
    if (function.starts_with("cuGetError")) return ptx::cuda::CUDA_SUCCESS;
    if (plan_.is_set && function == plan_.function && call == plan_.call) plan_.has_failed = true;
    const bool here = plan_.has_failed && function == plan_.function && call == plan_.call;
    const bool lost = plan_.has_failed && plan_.extent == Extent::kLost &&
                      made_["cuDevicePrimaryCtxRetain"] != calls_["cuDevicePrimaryCtxRelease"];
    if (plan_.has_failed && plan_.extent == Extent::kLost && !here && !lost) plan_ = {};  // the context is gone
    return here || lost ? plan_.code : ptx::cuda::CUDA_SUCCESS;
  }
  void count_made(const std::string& function) {
    const std::lock_guard lock(mutex_);
    ++made_[function];
  }

  template <class Function, Index kIndex>
  struct Wrapper;
  template <class... A, Index kIndex>
  struct Wrapper<CUresult (*)(A...), kIndex> {
    static inline CUresult (*original)(A...) = nullptr;
    static CUresult (*wrap(CUresult (*function)(A...)))(A...) {
      original = function;
      return call;
    }
    static CUresult call(A... arguments) {
      const std::string name(kNames[static_cast<size_t>(kIndex)]);
      FaultyDriver& driver = *current_;
      std::tuple<A...> given(arguments...);
      if constexpr (kIndex == Index::cuModuleLoadDataEx_)
        if (driver.damages_modules_) std::get<1>(given) = kDamagedModule;
      const CUresult fault = driver.fault_of(name);
      // Releasing takes effect even if it fails, or the emulator would keep the object.
      const bool ends = ends_something(name) || kIndex == Index::cuStreamEndCapture_;
      if (fault != ptx::cuda::CUDA_SUCCESS && !ends) return fault;
      const CUresult code = std::apply(original, given);
      if constexpr (kIndex == Index::cuStreamEndCapture_) {
        if (fault != ptx::cuda::CUDA_SUCCESS && code == ptx::cuda::CUDA_SUCCESS) {
          emulator_table().cuGraphDestroy(*std::get<1>(given));
          *std::get<1>(given) = nullptr;
        }
      }
      if (fault != ptx::cuda::CUDA_SUCCESS) return fault;
      if (code == ptx::cuda::CUDA_SUCCESS) driver.count_made(name);
      return code;
    }
  };

  static constexpr char kDamagedModule[] = ".version 7.0\n.target sm_75\n.address_size 64\nfrobnicate;\n";
  static inline FaultyDriver* current_ = nullptr;
  DriverTable table_;
  std::mutex mutex_;
  std::map<std::string, uint64_t> calls_, made_;
  Plan plan_;
  bool damages_modules_ = false;
};

}  // namespace warpchat
