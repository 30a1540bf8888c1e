// Modules from text: JIT options and logs, functions, global variables; libraries, which are modules with another name.
#include <cstring>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "tests/emulator_driver/driver_test.h"

namespace ptx::cuda {
namespace {

using ::testing::HasSubstr;

class Modules : public DriverTest {
 protected:
  // Loads with an error log of `room` bytes; returns the log and its filled length.
  struct Loaded {
    CUresult result;
    std::string log;
    size_t filled;
  };
  Loaded load_with_log(const std::string& text, size_t room = 4096) {
    std::vector<char> error(room + 8, '#'), info(256, '#');
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER,
                              CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,  CU_JIT_MAX_REGISTERS,    CU_JIT_GENERATE_LINE_INFO};
    void* values[] = {reinterpret_cast<void*>(room),
                      error.data(),
                      info.data(),
                      reinterpret_cast<void*>(info.size()),
                      reinterpret_cast<void*>(uintptr_t{64}),
                      reinterpret_cast<void*>(uintptr_t{1})};
    CUmodule m = nullptr;
    const CUresult result = cuModuleLoadDataEx(&m, text.c_str(), 6, options, values);
    for (size_t i = room; i < error.size(); ++i) EXPECT_EQ(error[i], '#') << "written after the log";
    const size_t filled = static_cast<unsigned>(reinterpret_cast<uintptr_t>(values[0]));
    return {result, room > 0 ? std::string(error.data()) : "", filled};
  }
};

const std::string kHead = ".version 8.0\n.target sm_90\n.address_size 64\n";

TEST_F(Modules, BadTextIsInvalidPtxWithLineAndColumn) {
  const Loaded bad =
      load_with_log(kHead + ".visible .entry k() {\n  .reg .b32 %r<3>;\n    add.u32 %r1, %r2;\n  ret;\n}\n");
  EXPECT_RESULT(CUDA_ERROR_INVALID_PTX, bad.result);
  EXPECT_THAT(bad.log, HasSubstr("line 6, column 5"));
  EXPECT_THAT(bad.log, HasSubstr("add.u32 %r1, %r2;"));
  EXPECT_EQ(bad.filled, bad.log.size());
}

TEST_F(Modules, LogIsCutToItsRoom) {
  const std::string text = kHead + ".visible .entry k() { nonsense; ret; }\n";
  const Loaded cut = load_with_log(text, 16);
  EXPECT_RESULT(CUDA_ERROR_INVALID_PTX, cut.result);
  EXPECT_EQ(cut.log.size(), 15u);
  EXPECT_RESULT(CUDA_ERROR_INVALID_PTX, load_with_log(text, 0).result);
  CUmodule m = nullptr;
  EXPECT_RESULT(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&m, text.c_str()));
}

TEST_F(Modules, RefusalsAreToldToProgramsWithoutALog) {
  testing::internal::CaptureStderr();
  EXPECT_RESULT(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, (kHead + "nonsense\n").c_str()));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("emulator: ptx line 4, column 1: "));
  testing::internal::CaptureStderr();
  EXPECT_RESULT(CUDA_ERROR_INVALID_PTX, load_with_log(kHead + "nonsense\n").result);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(Modules, GoodTextHasAnEmptyLog) {
  const Loaded good = load_with_log(kKernels);
  EXPECT_RESULT(CUDA_SUCCESS, good.result);
  EXPECT_EQ(good.log, "");
}

TEST_F(Modules, TextsAndImagesThatAreNone) {
  const struct {
    const char* image;
    CUresult result;
  } rows[] = {
      {"", CUDA_ERROR_INVALID_IMAGE},
      {"hello, world", CUDA_ERROR_INVALID_PTX},
      {"\x7f"
       "ELF\2\1\1",
       CUDA_ERROR_NO_BINARY_FOR_GPU},
      {"\x50\xed\x55\xba\1", CUDA_ERROR_NO_BINARY_FOR_GPU},
      {".version 99.0\n.target sm_90\n", CUDA_ERROR_UNSUPPORTED_PTX_VERSION},
      {".version 8.0\n", CUDA_ERROR_INVALID_PTX},
      {".target sm_90\n", CUDA_ERROR_INVALID_PTX},
      {".version 9.0\n.target sm_120\n", CUDA_ERROR_INVALID_PTX},
      {nullptr, CUDA_ERROR_INVALID_VALUE},
  };
  for (const auto& row : rows) {
    CUmodule m = nullptr;
    EXPECT_RESULT(row.result, cuModuleLoadData(&m, row.image)) << (row.image ? row.image : "null");
    EXPECT_EQ(m, nullptr);
  }
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(nullptr, kKernels));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuModuleLoadDataEx(&module, kKernels, 1, nullptr, nullptr));
}

// PTX text becomes an image, the image becomes a module. The link owns the image: keeping it needs a copy.
TEST_F(Modules, FromALink) {
  std::string text = kKernels;
  CUlinkState link = nullptr;
  ok(cuLinkCreate_v2(0, nullptr, nullptr, &link));
  void* data = nullptr;
  size_t size = 0;
  EXPECT_RESULT(CUDA_ERROR_INVALID_IMAGE, cuLinkComplete(link, &data, &size)) << "nothing was added";
  ok(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, text.data(), text.size() + 1, "kernels", 0, nullptr, nullptr));
  ok(cuLinkComplete(link, &data, &size));
  const std::vector<char> image(static_cast<char*>(data), static_cast<char*>(data) + size);
  ok(cuLinkDestroy(link));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuLinkDestroy(link));
  EXPECT_RESULT(CUDA_SUCCESS, cuModuleLoadData(&module, image.data()));
  const CUdeviceptr p = upload<uint32_t>({4});
  ok(launch(kernel("append"), 1, 1, nullptr, p, 2u));
  EXPECT_EQ(word(p), 42u);
}

TEST_F(Modules, LinksRefuseWhatModulesRefuse) {
  const std::string bad = kHead + ".visible .entry k() {\n  nonsense;\n  ret;\n}\n";
  const std::string too_new = ".version 99.0\n.target sm_90\n", machine_code =
                                                                    "\x7f"
                                                                    "ELF\2\1\1";
  const struct {
    const char* why;
    CUjitInputType type;
    const std::string& input;
    CUresult result;
    const char* log;
  } rows[] = {
      {"broken text", CU_JIT_INPUT_PTX, bad, CUDA_ERROR_INVALID_PTX, "line 5, column 3"},
      {"text of a later compiler", CU_JIT_INPUT_PTX, too_new, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "version"},
      {"machine code", CU_JIT_INPUT_CUBIN, machine_code, CUDA_ERROR_NO_BINARY_FOR_GPU, ""},
      {"no kind of input", 99, bad, CUDA_ERROR_INVALID_VALUE, ""},
  };
  for (const auto& row : rows) {
    char log[512] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    CUlinkState link = nullptr;
    ok(cuLinkCreate_v2(2, options, values, &link));
    std::string input = row.input;
    EXPECT_RESULT(row.result, cuLinkAddData_v2(link, row.type, input.data(), input.size() + 1, "", 0, nullptr, nullptr))
        << row.why;
    EXPECT_THAT(log, HasSubstr(row.log)) << row.why;
    ok(cuLinkDestroy(link));
  }
}

TEST_F(Modules, FromAFile) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "emulator_driver_module.ptx";
  std::ofstream(path) << kKernels;
  CUmodule m = nullptr;
  EXPECT_RESULT(CUDA_SUCCESS, cuModuleLoad(&m, path.c_str()));
  EXPECT_RESULT(CUDA_SUCCESS, cuModuleUnload(m));
  std::filesystem::remove(path);
  EXPECT_RESULT(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&m, path.c_str()));
}

TEST_F(Modules, Functions) {
  CUfunction f = kernel("scale"), missing = nullptr;
  EXPECT_RESULT(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&missing, module, "nothing"));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&missing, nullptr, "scale"));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuModuleGetFunction(nullptr, module, "scale"));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuModuleGetFunction(&missing, module, nullptr));
  unsigned count = 0;
  ok(cuModuleGetFunctionCount(&count, module));
  EXPECT_EQ(count, 13u);
  std::vector<CUfunction> all(count);
  ok(cuModuleEnumerateFunctions(all.data(), count, module));
  EXPECT_EQ(all[0], f);  // in text order
  const char* name = nullptr;
  ok(cuFuncGetName(&name, all[1]));
  EXPECT_STREQ(name, "add");
  CUmodule of = nullptr;
  ok(cuFuncGetModule(&of, f));
  EXPECT_EQ(of, module);
  size_t offset = 0, bytes = 0;
  const std::pair<size_t, size_t> mixed[] = {{0, 1}, {8, 8}, {16, 4}, {20, 2}, {24, 8}};
  for (size_t i = 0; i < 5; ++i) {
    ok(cuFuncGetParamInfo(kernel("mixed"), i, &offset, &bytes));
    EXPECT_EQ(std::make_pair(offset, bytes), mixed[i]) << i;
  }
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(kernel("mixed"), 5, &offset, &bytes));
}

TEST_F(Modules, UnloadedHandlesAreNoneAnyMore) {
  CUfunction f = kernel("append");
  const CUdeviceptr p = upload<uint32_t>({0});
  ok(launch(f, 1, 1, nullptr, p, 1u));
  EXPECT_RESULT(CUDA_SUCCESS, cuModuleUnload(module));
  EXPECT_EQ(word(p), 1u);  // queued work has run
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, launch(f, 1, 1, nullptr, p, 1u));
}

TEST_F(Modules, GlobalVariables) {
  kernel("read_globals");
  CUdeviceptr counter = 0, limit = 0, table = 0;
  size_t bytes = 0;
  ok(cuModuleGetGlobal_v2(&counter, &bytes, module, "counter"));
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(word(counter), 5u);
  ok(cuModuleGetGlobal_v2(&table, &bytes, module, "table"));
  EXPECT_EQ(bytes, 16u);
  EXPECT_EQ(download<float>(table, 4), (std::vector<float>{1, 2, 3, 4}));
  ok(cuModuleGetGlobal_v2(&limit, nullptr, module, "limit"));
  ok(cuModuleGetGlobal_v2(nullptr, &bytes, module, "limit"));
  EXPECT_EQ(bytes, 4u);
  const uint32_t seven = 7;
  ok(cuMemcpyHtoD_v2(limit, &seven, 4));
  ok(cuMemsetD32_v2(counter, 6, 1));
  const CUdeviceptr to = upload<uint32_t>({0, 0, 0});
  ok(launch(kernel("read_globals"), 1, 1, nullptr, to));
  EXPECT_EQ(download<uint32_t>(to, 3), (std::vector<uint32_t>{6, 7, 3}));
  EXPECT_RESULT(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal_v2(&table, &bytes, module, "nothing"));
  EXPECT_RESULT(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal_v2(&table, &bytes, module, "scale"));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuModuleGetGlobal_v2(&table, &bytes, module, nullptr));
  // Loading the same text again gives separate variables.
  CUmodule second = nullptr;
  ok(cuModuleLoadData(&second, kKernels));
  CUdeviceptr other = 0;
  ok(cuModuleGetGlobal_v2(&other, nullptr, second, "counter"));
  EXPECT_NE(other, counter);
  EXPECT_EQ(word(other), 5u);
}

TEST_F(Modules, Libraries) {
  CUlibrary library = nullptr;
  CUkernel k = nullptr;
  CUfunction f = nullptr;
  unsigned count = 0;
  ok(cuLibraryLoadData(&library, kKernels, nullptr, nullptr, 0, nullptr, nullptr, 0));
  ok(cuLibraryGetKernel(&k, library, "append"));
  ok(cuKernelGetFunction(&f, k));
  ok(cuLibraryGetKernelCount(&count, library));
  EXPECT_EQ(count, 13u);
  const CUdeviceptr p = upload<uint32_t>({4});
  ok(launch(f, 1, 1, nullptr, p, 2u));
  ok(launch(reinterpret_cast<CUfunction>(k), 1, 1, nullptr, p, 3u));  // a kernel handle may replace its function
  EXPECT_EQ(word(p), 423u);
  CUdeviceptr counter = 0;
  size_t bytes = 0;
  ok(cuLibraryGetGlobal(&counter, &bytes, library, "counter"));
  EXPECT_EQ(word(counter), 5u);
  EXPECT_RESULT(CUDA_ERROR_NOT_FOUND, cuLibraryGetKernel(&k, library, "nothing"));
  EXPECT_RESULT(CUDA_SUCCESS, cuLibraryUnload(library));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuLibraryUnload(library));
}

}  // namespace
}  // namespace ptx::cuda
