// Errors of the CUDA Driver API, with the failed call, CUDA's name of the error and its meaning for the user.
#pragma once
#include <string>
#include <string_view>

#include "engine/driver/driver_table.h"
#include "engine/remedy.h"

namespace warpchat {

class DriverError : public ErrorWithRemedy {
 public:
  DriverError(ptx::cuda::CUresult code, const std::string& sentence, Remedy way = {})
      : ErrorWithRemedy(sentence, way), code_(code) {}
  ptx::cuda::CUresult code() const { return code_; }

 private:
  ptx::cuda::CUresult code_;
};

// "WHAT: cuMemAlloc failed with CUDA_ERROR_OUT_OF_MEMORY: the GPU's memory is full; ...". what: the attempted action.
[[noreturn]] void throw_driver_error(const DriverTable& table, ptx::cuda::CUresult code, std::string_view call,
                                     std::string_view what);

// Meaning of a code for the user, with advice.
std::string meaning_of(const DriverTable& table, ptx::cuda::CUresult code);

inline void check(const DriverTable& table, ptx::cuda::CUresult code, std::string_view call, std::string_view what) {
  if (code != ptx::cuda::CUDA_SUCCESS) throw_driver_error(table, code, call, what);
}

// Checks at the boundary to the driver, also in release builds, since nothing behind it would stop a wrong number.
// Error: "WHAT, which is a fault of warpchat: ...".
[[noreturn]] void throw_broken_bound(std::string_view what);
inline void require(bool holds, std::string_view what) {
  if (!holds) throw_broken_bound(what);
}

}  // namespace warpchat
