// Misuses of the builder, one per MISUSE number, each beside the correct form. The file compiles without MISUSE and
// must not compile with any of them. CMakeLists.txt makes each a test.
#include "ptx/builder.h"

namespace ptx {

void misuse(Builder& b, Reg<u32> n, Reg<f32> x, Reg<f16x2> h, Global<f32> p, Shared<f32> s) {
  Var<f32> sum = b.var("sum", 0.0f);

#if MISUSE == 1  // a Reg is assigned once
  x = x + 1.0f;
#else
  sum = x + 1.0f;
#endif

#if MISUSE == 2  // a variable has one name
  Var<f32> other = sum;
#else
  Var<f32> other = b.var("other", sum);
#endif

#if MISUSE == 3  // types do not mix
  sum = x + n;
#else
  sum = x + b.convert<f32>(n);
#endif

#if MISUSE == 4  // signed and unsigned products are different instructions
  Reg<s32> product = n * n;
#else
  Reg<s32> product = (n * n).as<s32>();
#endif

#if MISUSE == 5  // a C++ if cannot test a value on the GPU
  if (n < 3) sum = 0.0f;
#else
  b.if_(n < 3, [&] { sum = 0.0f; });
#endif

#if MISUSE == 6  // sizes do not change silently
  Reg<u64> offset = n;
#else
  Reg<u64> offset = wide(n);
#endif

#if MISUSE == 7  // shared memory is not global memory
  b.copy_async(p, p, Bytes<16>{});
#else
  b.copy_async(s, p, Bytes<16>{});
#endif

#if MISUSE == 8  // cp.async has three sizes
  b.copy_async(s, p, Bytes<12>{});
#else
  b.copy_async(s, p, Bytes<8>{});
#endif

#if MISUSE == 9  // the shape sets the fragments' sizes
  b.mma(Vec<f16x2, 2>(h, h), Vec<f16x2, 2>(h, h), Vec<f32, 4>(x, x, x, x));
#else
  b.mma(Vec<f16x2, 2>(h, h), Vec<f16x2, 1>(h), Vec<f32, 4>(x, x, x, x));
#endif

#if MISUSE == 10  // a pointer is advanced by an index; a loop would not see an assignment
  p = p + n;
#else
  Global<f32> next = p + n;
#endif
}

}  // namespace ptx
