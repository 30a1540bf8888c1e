// Whole kernels as text: the header and the registers that every test body may use.
#pragma once

#include <string>

#include "tests/emulator/harness.h"

namespace ptx::emulator {

// A kernel around `body`. %out and %in (both .b64), %thread and %block are loaded; `before` is placed at module scope.
inline std::string kernel(const std::string& body, const std::string& before = "", uint32_t target = 90) {
  return ".version 9.0\n.target sm_" + std::to_string(target) + "\n.address_size 64\n" + before +
         ".visible .entry k(.param .b64 p_out, .param .b64 p_in)\n{\n"
         ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<32>, %thread, %block; .reg .b64 %rd<16>, %out, %in; .reg "
         ".f32 "
         "%f<32>; .reg .f64 %fd<8>; .reg .f16x2 %hx<8>; .reg .u32 %u<8>;\n"
         "ld.param.b64 %out, [p_out];\nld.param.b64 %in, [p_in];\nmov.u32 %thread, %tid.x;\nmov.u32 %block, "
         "%ctaid.x;\n" +
         body + "\nret;\n}\n";
}

// Stores %r0 at out[global thread]
inline const char* const kStoreResult =
    "mov.u32 %r30, %ntid.x;\nmad.lo.s32 %r30, %block, %r30, %thread;\nmad.wide.u32 %rd15, %r30, 4, "
    "%out;\nst.global.b32 "
    "[%rd15], %r0;\n";

struct Result {
  std::string fault;            // "" if the kernel ended well
  std::vector<uint32_t> words;  // the kernel's output
};

// Runs kernel `k` of the text with `n` uninitialised words for out and the given input.
inline Result run_text(const std::string& text, Dim3 grid, Dim3 block, size_t n, const std::vector<uint32_t>& in = {0},
                       LaunchOptions options = {}, uint32_t shared = 0) {
  Device device(profile_named("sm_120"));
  try {
    const Module module(text, device.profile, device.memory);
    uint32_t* out = reinterpret_cast<uint32_t*>(device.memory.allocate(n * 4, "out"));
    uint32_t* input = device.upload(in);
    Result result;
    result.fault = run(device, module, "k", grid, block, pack_parameters(out, input), shared, options);
    result.words = device.download(out, n);
    return result;
  } catch (const std::exception& error) {
    return {error.what(), {}};
  }
}

}  // namespace ptx::emulator
