// Device and host code for the error word.
#include "kernels/common/error_word.h"

#include "models/text_format.h"

namespace warpchat {

using namespace ptx;

void report_error(Builder& b, const Global<u32>& error, KernelError code, In<u32> value, In<u32> limit,
                  In<u32> column) {
  Reg<u32> before = error.compare_and_swap(0, static_cast<uint32_t>(code));
  b.if_(before == 0, [&] {
    error.store(1, value);
    error.store(2, limit);
    error.store(3, column);
  });
}

std::string describe(const ErrorWord& word) {
  const std::string found = grouped(word.value) + " in column " + std::to_string(word.column) + ", ";
  switch (word.code) {
    case KernelError::kNone:
      return "nothing";
    case KernelError::kTokenOutOfRange:
      return "token " + found + "the vocabulary ends before " + grouped(word.limit);
    case KernelError::kPositionOutOfRange:
      return "position " + found + "the cache ends before " + grouped(word.limit);
    case KernelError::kLengthOutOfRange:
      return "length " + found + "attention covers " + grouped(word.limit) + " keys";
    case KernelError::kLogitNotFinite:
      return "the logit of token " + grouped(word.value) + " in column " + std::to_string(word.column) +
             " is not finite; the model's file is damaged or its activations overflow";
    case KernelError::kPageOutOfRange:
      return "page " + found + "the cache ends before " + grouped(word.limit);
  }
  return "error " + std::to_string(static_cast<uint32_t>(word.code)) + " with " + grouped(word.value);
}

}  // namespace warpchat
