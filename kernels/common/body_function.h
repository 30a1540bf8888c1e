// A kernel body as a device function, which several kernels call. A function takes VirtualBlock's arguments, then the
// addresses that its call() takes, in order.
#pragma once
#include <string>
#include <utility>

#include "kernels/common/virtual_block.h"

namespace warpchat {

class BodyFunction {
 public:
  uint32_t shared_bytes() const { return function_->shared_bytes; }  // per block

 protected:
  explicit BodyFunction(ptx::FunctionPointer function) : function_(std::move(function)) {}
  ptx::FunctionPointer function_;
};

template <class T>
ptx::Global<T> address(ptx::Builder& b, const std::string& name, int alignment = 16) {
  return b.template global_argument<T>(name, ptx::Sharing::kWarp, alignment);
}

// Calls body(block), which declares its arguments and then emits the function.
template <class F>
ptx::FunctionPointer function_of(const std::string& name, ptx::Target target, F&& body) {
  ptx::Builder b(name, target);
  const VirtualBlock block = VirtualBlock::of_caller(b);
  body(b, block);
  return b.finish_function();
}

}  // namespace warpchat
