// Links of several texts: declarations find their definitions, local names stay local, and mismatches are reported by
// name.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "ptx/driver_api_others.h"
#include "tests/emulator_driver/driver_test.h"

namespace ptx::cuda {
namespace {

using ::testing::HasSubstr;

const std::string kHead = ".version 8.0\n.target sm_75\n.address_size 64\n";
const std::string kDeclareTwice = ".extern .func (.param .b32 r) twice(.param .b32 x);\n";

// word[0] = f(word[0]), through a call.
std::string kernel_calling(const std::string& f, const std::string& name = "k") {
  return ".visible .entry " + name +
         "(.param .u64 p) {\n"
         "  .reg .b64 %rd<2>; .reg .b32 %r<3>; .param .b32 in; .param .b32 out;\n"
         "  ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; st.param.b32 [in], %r1;\n"
         "  call (out), " +
         f + ", (in);\n  ld.param.b32 %r2, [out]; st.global.u32 [%rd1], %r2; ret;\n}\n";
}

// x -> x * factor
std::string function(const std::string& linkage, const std::string& name, int factor) {
  return linkage + " .func (.param .b32 r) " + name +
         "(.param .b32 x) {\n  .reg .b32 %r<3>; ld.param.b32 %r1, [x];\n  mul.lo.u32 %r2, %r1, " +
         std::to_string(factor) + "; st.param.b32 [r], %r2; ret;\n}\n";
}

class Links : public DriverTest {
 protected:
  struct Linked {
    CUresult result;
    std::string log;
    std::vector<char> image;
  };
  // Inputs are named a, b, ...; stops at the first call that fails.
  static Linked link(const std::vector<std::string>& texts, unsigned max_registers = 255) {
    char log[1024] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_MAX_REGISTERS};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log), reinterpret_cast<void*>(uintptr_t{max_registers})};
    CUlinkState state = nullptr;
    ok(cuLinkCreate_v2(3, options, values, &state));
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < texts.size() && result == CUDA_SUCCESS; ++i) {
      std::string text = kHead + texts[i];
      const char name[] = {static_cast<char>('a' + i), 0};
      result = cuLinkAddData_v2(state, CU_JIT_INPUT_PTX, text.data(), text.size() + 1, name, 0, nullptr, nullptr);
    }
    void* data = nullptr;
    size_t size = 0;
    if (result == CUDA_SUCCESS) result = cuLinkComplete(state, &data, &size);
    Linked linked{result, log, {}};
    if (result == CUDA_SUCCESS) linked.image.assign(static_cast<char*>(data), static_cast<char*>(data) + size);
    ok(cuLinkDestroy(state));
    return linked;
  }
  uint32_t run(const std::vector<char>& image, uint32_t word_in, const char* name = "k") {
    CUmodule m = nullptr;
    CUfunction f = nullptr;
    ok(cuModuleLoadData(&m, image.data()));
    ok(cuModuleGetFunction(&f, m, name));
    const CUdeviceptr p = upload<uint32_t>({word_in});
    ok(launch(f, 1, 1, nullptr, p));
    return word(p);
  }
};

TEST_F(Links, CallWhatAnotherTextDefines) {
  const std::string caller = kDeclareTwice + kernel_calling("twice"), callee = function(".visible", "twice", 2);
  for (const auto& texts : {std::vector{caller, callee}, {callee, caller}}) {
    const Linked linked = link(texts);
    ASSERT_EQ(name_of(linked.result), "CUDA_SUCCESS") << linked.log;
    EXPECT_EQ(run(linked.image, 21), 42u);
  }
  // Kernels in both texts, functions that call back, and an undefined function without a call, which is no error.
  const Linked both = link({kDeclareTwice + kernel_calling("twice") + function(".visible", "five", 5),
                            ".extern .func (.param .b32 r) five(.param .b32 x);\n.extern .func unused();\n" +
                                function(".visible", "twice", 2) + kernel_calling("five", "l")});
  ASSERT_EQ(name_of(both.result), "CUDA_SUCCESS") << both.log;
  EXPECT_EQ(run(both.image, 3), 6u);
  EXPECT_EQ(run(both.image, 3, "l"), 15u);
}

TEST_F(Links, NamesOfOneTextStayItsOwn) {
  const Linked linked =
      link({kDeclareTwice + function("", "own", 7) + kernel_calling("own", "l") + kernel_calling("twice"),
            function("", "own", 100) + function(".visible", "twice", 2) + kernel_calling("own", "m")});
  ASSERT_EQ(name_of(linked.result), "CUDA_SUCCESS") << linked.log;
  EXPECT_EQ(run(linked.image, 3), 6u);
  EXPECT_EQ(run(linked.image, 3, "l"), 21u);
  EXPECT_EQ(run(linked.image, 3, "m"), 300u);
}

// Both texts have a table with the same name and a pointer to it. An initialiser means its own text's table.
TEST_F(Links, InitialisersMeanTheirOwnText) {
  const auto reader = [](const char* kernel, int value) {
    return ".global .align 4 .b32 table[2] = {1, " + std::to_string(value) +
           "};\n.global .align 8 .u64 at = generic(table)+4;\n.visible .entry " + kernel +
           "(.param .u64 p) {\n  .reg .b64 %rd<3>; .reg .b32 %r<2>;\n"
           "  ld.param.u64 %rd1, [p]; ld.global.u64 %rd2, [at]; ld.u32 %r1, [%rd2]; st.global.u32 [%rd1], %r1; "
           "ret;\n}\n";
  };
  const Linked linked = link({reader("k", 5), reader("l", 6)});
  ASSERT_EQ(name_of(linked.result), "CUDA_SUCCESS") << linked.log;
  EXPECT_EQ(run(linked.image, 0), 5u);
  EXPECT_EQ(run(linked.image, 0, "l"), 6u);
}

TEST_F(Links, WeakDefinitionsGiveWay) {
  const std::string weak = function(".weak", "twice", 2), strong = function(".visible", "twice", 4);
  const std::string kernel = kernel_calling("twice");
  EXPECT_EQ(run(link({weak + kernel, weak}).image, 1), 2u);
  EXPECT_EQ(run(link({weak + kernel, strong}).image, 1), 4u);
  EXPECT_EQ(run(link({strong, weak + kernel}).image, 1), 4u);
}

// Variables of other texts, in addresses and in initialisers, and functions' addresses.
TEST_F(Links, VariablesOfOtherTexts) {
  const std::string user = ".extern .global .align 4 .b8 table[12];\n" + kDeclareTwice +
                           ".visible .global .align 8 .u64 pointers[2] = {generic(table)+4, twice};\n"
                           ".visible .entry k(.param .u64 p) {\n"
                           "  .reg .b64 %rd<5>; .reg .b32 %r<7>; .param .b32 in; .param .b32 out;\n"
                           "  ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [table+8];\n"
                           "  ld.global.u64 %rd2, [pointers]; ld.u32 %r2, [%rd2]; ld.global.u64 %rd3, [pointers+8];\n"
                           "  add.u32 %r3, %r1, %r2; st.param.b32 [in], %r3;\n"
                           "  proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                           "  call (out), %rd3, (in), proto;\n"
                           "  ld.param.b32 %r4, [out]; st.global.u32 [%rd1], %r4; ret;\n}\n";
  const std::string owner =
      ".visible .global .align 4 .b32 table[3] = {10, 20, 30};\n" + function(".visible", "twice", 2);
  const Linked linked = link({user, owner});
  ASSERT_EQ(name_of(linked.result), "CUDA_SUCCESS") << linked.log;
  EXPECT_EQ(run(linked.image, 0), 100u);
  CUmodule m = nullptr;
  CUdeviceptr table = 0;
  size_t bytes = 0;
  ok(cuModuleLoadData(&m, linked.image.data()));
  ok(cuModuleGetGlobal_v2(&table, &bytes, m, "table"));
  EXPECT_EQ(bytes, 12u);
  EXPECT_EQ(download<uint32_t>(table, 3), (std::vector<uint32_t>{10, 20, 30}));
}

TEST_F(Links, WhatDoesNotFitIsToldByName) {
  const std::string caller = kDeclareTwice + kernel_calling("twice");
  const struct {
    std::vector<std::string> texts;
    CUresult result;
    const char* log;
  } rows[] = {
      {{caller}, CUDA_ERROR_INVALID_IMAGE, "twice"},
      {{caller, kernel_calling("own", "l") + function("", "own", 2)}, CUDA_ERROR_INVALID_PTX, "own"},
      {{caller, function("", "twice", 2)}, CUDA_ERROR_INVALID_IMAGE, "a uses twice, which no input defines"},
      {{".extern .global .b32 v;\n.visible .global .u64 p = v;\n", ""},
       CUDA_ERROR_INVALID_IMAGE,
       "a uses v, which no input defines"},
      {{function(".visible", "twice", 2), caller, function(".visible", "twice", 3)},
       CUDA_ERROR_INVALID_IMAGE,
       "twice is defined in a and in c"},
      {{caller, ".visible .func twice(.param .b64 x) { ret; }\n"},
       CUDA_ERROR_INVALID_IMAGE,
       "function twice has other parameters in a than in b"},
      {{caller, "nonsense;\n"}, CUDA_ERROR_INVALID_PTX, "line 4, column 1"},
  };
  for (const auto& row : rows) {
    const Linked linked = link(row.texts);
    EXPECT_EQ(name_of(linked.result), name_of(row.result)) << row.log;
    EXPECT_THAT(linked.log, HasSubstr(row.log));
  }
}

TEST_F(Links, FilesAndRegisters) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "emulator_driver_linked.ptx";
  std::ofstream(path) << kHead << ".visible .entry k() { .reg .b32 %r<2000>; ret; }\n";
  CUlinkState state = nullptr;
  CUjit_option option = CU_JIT_MAX_REGISTERS;
  void *value = reinterpret_cast<void*>(uintptr_t{48}), *data = nullptr;
  size_t size = 0;
  ok(cuLinkCreate(1, &option, &value, &state));
  EXPECT_RESULT(CUDA_ERROR_FILE_NOT_FOUND, cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/none", 0, nullptr, nullptr));
  ok(cuLinkAddFile(state, CU_JIT_INPUT_PTX, path.c_str(), 0, nullptr, nullptr));
  std::filesystem::remove(path);
  ok(cuLinkComplete(state, &data, &size));
  CUfunction f = nullptr;
  int registers = 0;
  ok(cuModuleLoadData(&module, data));
  ok(cuModuleGetFunction(&f, module, "k"));
  ok(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
  EXPECT_EQ(registers, 48);
  const std::string broken(static_cast<char*>(data), size - 10);
  ok(cuLinkDestroy(state));
  EXPECT_RESULT(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, broken.c_str()));
}

}  // namespace
}  // namespace ptx::cuda
