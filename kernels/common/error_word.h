// How a kernel reports an input out of range: four u32 in device memory, zeroed by the host before a pass and read
// after it. The first report wins.
#pragma once
#include <cstdint>
#include <string>

#include "ptx/builder.h"

namespace warpchat {

enum class KernelError : uint32_t {
  kNone = 0,
  kTokenOutOfRange,     // value: the token, limit: n_vocab
  kPositionOutOfRange,  // value: the position, limit: max_positions
  kLengthOutOfRange,    // value: the length in keys, limit: the maximum
  kLogitNotFinite,      // value: the token, limit: n_vocab
  kPageOutOfRange,      // value: the page, limit: n_pages
};

struct ErrorWord {
  KernelError code = KernelError::kNone;
  uint32_t value = 0, limit = 0;  // what was found, and the first value out of range
  uint32_t column = 0;            // in the pass
};
static_assert(sizeof(ErrorWord) == 16);
inline constexpr uint32_t kErrorWords = 4;

// "position 4,096 in column 2, the cache ends at 4,096".
std::string describe(const ErrorWord& word);

// Called by one thread: sets the word unless it is already set. error: [kErrorWords]
void report_error(ptx::Builder& b, const ptx::Global<ptx::u32>& error, KernelError code, ptx::In<ptx::u32> value,
                  ptx::In<ptx::u32> limit, ptx::In<ptx::u32> column);

}  // namespace warpchat
