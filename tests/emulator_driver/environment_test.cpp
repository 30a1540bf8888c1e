// The library in a program that loads it as libcuda.so.1: effects of its environment variables. Each run is a separate
// client process, because the variables are read once, at cuInit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ptx::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A folder where the library has libcuda's name.
class Environment : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::path(testing::TempDir()) / "libcuda_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
    std::filesystem::create_symlink(CUDA_EMULATOR, folder / "libcuda.so.1");
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  struct Output {
    int status;
    std::string out, errors;
  };
  static std::string content(const std::filesystem::path& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  Output run(const std::string& variables, const std::string& job, const std::string& input = "") {
    std::ofstream(folder / "in") << input;
    const std::string in_folder = "cd '" + folder.string() + "' && ";
    const int status = std::system(
        (in_folder + "env LD_LIBRARY_PATH=. " + variables + " '" DRIVER_CLIENT "' " + job + " <in >out 2>errors")
            .c_str());
    return {WEXITSTATUS(status), content(folder / "out"), content(folder / "errors")};
  }
  std::filesystem::path folder;
};

TEST_F(Environment, NothingWorksBeforeInit) {
  const Output o = run("", "uninitialised");
  EXPECT_EQ(o.status, 0) << o.errors;
  EXPECT_EQ(o.out,
            "cuDeviceGetCount: CUDA_ERROR_NOT_INITIALIZED\ncuCtxCreate: CUDA_ERROR_NOT_INITIALIZED\n"
            "cuMemAlloc: CUDA_ERROR_NOT_INITIALIZED\ncuDriverGetVersion: CUDA_SUCCESS\n");
}

TEST_F(Environment, DeviceIsChosenByProfile) {
  EXPECT_THAT(run("", "init").out, HasSubstr("sm_90 with "));
  EXPECT_EQ(run("CUDA_EMULATOR_DEVICE=sm_75", "init").out.substr(0, 18), "PTX emulator sm_75");
  EXPECT_EQ(run("CUDA_EMULATOR_DEVICE=sm_86,sms=7", "init").out, "PTX emulator sm_86 with 7 processors\n");
  EXPECT_EQ(run("CUDA_EMULATOR_DEVICE=", "init").out, run("", "init").out);
  const std::pair<const char*, const char*> wrong[] = {{"sm_12", "unknown target"},
                                                       {"sm_90,colour=red", "unknown part colour=red"},
                                                       {"sm_90,sms=0", "no processor"},
                                                       {"sm_90,sms=many", "cannot read a number"},
                                                       {"H100", "unknown part H100"}};
  for (const auto& [value, complaint] : wrong) {
    const Output o = run(std::string("CUDA_EMULATOR_DEVICE=") + value, "init");
    EXPECT_EQ(o.out, "cuInit: CUDA_ERROR_INVALID_VALUE\n") << value;
    EXPECT_THAT(o.errors, HasSubstr(complaint)) << value;
    EXPECT_THAT(o.errors, HasSubstr("emulator: ")) << value;
  }
}

constexpr char kHead[] = ".version 7.0\n.target sm_75\n.address_size 64\n";
// Thread i reads word i + 1, so the last thread reads beyond the buffer.
const std::string kReadsBehind = std::string(kHead) +
                                 ".visible .entry k(.param .u64 p) {\n"
                                 "  .reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
                                 "  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;\n"
                                 "  add.u64 %rd3, %rd1, %rd2;\n"
                                 "  ld.global.u32 %r2, [%rd3+4];\n"
                                 "  st.global.u32 [%rd3], %r2;\n  ret;\n}\n";
// Thread i doubles word i.
const std::string kRight = std::string(kHead) +
                           ".visible .entry k(.param .u64 p) {\n"
                           "  .reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
                           "  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;\n"
                           "  add.u64 %rd3, %rd1, %rd2;\n"
                           "  ld.global.u32 %r2, [%rd3]; add.u32 %r3, %r2, %r2; st.global.u32 [%rd3], %r3; ret;\n}\n";

TEST_F(Environment, ChecksAreOffUnlessAskedFor) {
  EXPECT_EQ(run("", "launch k 32", kRight).out, "sum 64\n");
  EXPECT_EQ(run("CUDA_EMULATOR_CHECKS=", "launch k 32", kReadsBehind).status, 0);
  EXPECT_EQ(run("CUDA_EMULATOR_CHECKS=all", "launch k 32", kRight).out, "sum 64\n");
  EXPECT_THAT(run("CUDA_EMULATOR_CHECKS=all", "launch k 32", kRight).errors, IsEmpty());
}

TEST_F(Environment, FindingsEndTheLaunchWithADescription) {
  for (const char* checks : {"all", "bounds", "bounds,shared_races"}) {
    const Output o = run(std::string("CUDA_EMULATOR_CHECKS=") + checks, "launch k 32", kReadsBehind);
    EXPECT_EQ(o.out, "cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS\n") << checks;
    EXPECT_THAT(o.errors, HasSubstr("k line 8")) << checks;
    EXPECT_THAT(o.errors, HasSubstr("ld.global.u32")) << checks;
  }
  // Uninitialised memory, found with only that check on.
  const std::string leaves = "CLIENT_LEAVES_MEMORY=1 CUDA_EMULATOR_CHECKS=";
  EXPECT_THAT(run(leaves + "uninitialised", "launch k 32", kRight).out, HasSubstr("CUDA_ERROR_LAUNCH_FAILED"));
  EXPECT_THAT(run(leaves + "bounds", "launch k 32", kRight).out, HasSubstr("sum"));
}

// As with a real driver, a child cannot use what was initialised before the fork, and must not hang.
TEST_F(Environment, ForkedChildrenGetAnError) {
  const Output o = run("", "fork");
  EXPECT_EQ(o.status, 0) << o.errors;
  const char *child = "CUDA_ERROR_NOT_INITIALIZED", *parent = "CUDA_SUCCESS";
  for (const auto& [process, result] : {std::pair{"child", child}, {"parent", parent}}) {
    const std::string r = result;
    EXPECT_THAT(o.out, HasSubstr(std::string(process) + ": cuInit " + r + ", cuDeviceGetCount " + r +
                                 ", cuCtxSynchronize " + r + "\n"));
  }
}

// A kernel with .global texts "x < 1" and "a.cu" that calls a function of the device's own library.
std::string calling(const std::string& declaration, const std::string& call) {
  return std::string(kHead) + ".global .align 1 .b8 what[6] = {120, 32, 60, 32, 49, 0};\n" +
         ".global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};\n" + declaration +
         ".visible .entry k(.param .u64 p) {\n"
         "  .reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
         "  .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4; .param .b32 result;\n"
         "  mov.u64 %rd1, what; cvta.global.u64 %rd1, %rd1; mov.u64 %rd2, file; cvta.global.u64 %rd2, %rd2;\n"
         "  st.param.b64 [p0], %rd1; st.param.b64 [p1], %rd2; st.param.b32 [p2], 7;\n"
         "  st.param.b64 [p3], %rd2; st.param.b64 [p4], 1;\n" +
         call + "\n  ret;\n}\n";
}

TEST_F(Environment, KernelsPrint) {
  const std::string text = calling(".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n",
                                   "  call (result), vprintf, (p0, p1);");
  EXPECT_EQ(run("", "launch k 2", text).out, "x < 1x < 1sum 2\n");
}

TEST_F(Environment, AssertionsAreToldWithoutChecks) {
  const std::string text = calling(
      ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n",
      "  call __assertfail, (p0, p1, p2, p3, p4);");
  const Output o = run("", "launch k 2", text);
  EXPECT_EQ(o.out, "cuCtxSynchronize: CUDA_ERROR_ASSERT\n");
  EXPECT_THAT(o.errors, HasSubstr("fails the assertion `x < 1` at a.cu:7; block 0 thread 0"));
}

TEST_F(Environment, SeedsVaryWhatMayVary) {
  for (const char* seed : {"", "1", "77"})
    EXPECT_EQ(run(std::string("CUDA_EMULATOR_SEED=") + seed, "launch k 32", kRight).out, "sum 64\n") << seed;
  for (const char* wrong : {"0", "-1", "1x", "many"}) {
    const Output o = run(std::string("CUDA_EMULATOR_SEED=") + wrong, "init");
    EXPECT_EQ(o.out, "cuInit: CUDA_ERROR_INVALID_VALUE\n") << wrong;
    EXPECT_THAT(o.errors, HasSubstr("CUDA_EMULATOR_SEED")) << wrong;
  }
}

TEST_F(Environment, UnknownChecksAreRefused) {
  const Output o = run("CUDA_EMULATOR_CHECKS=bounds,spelling", "init");
  EXPECT_EQ(o.out, "cuInit: CUDA_ERROR_INVALID_VALUE\n");
  EXPECT_THAT(o.errors, HasSubstr("spelling"));
}

TEST_F(Environment, LoadsDrainOrNot) {
  EXPECT_EQ(run("CUDA_EMULATOR_LOADS_DRAIN=1", "launch k 32", kRight).out, "sum 64\n");
  const Output o = run("CUDA_EMULATOR_LOADS_DRAIN=yes", "init");
  EXPECT_EQ(o.out, "cuInit: CUDA_ERROR_INVALID_VALUE\n");
  EXPECT_THAT(o.errors, HasSubstr("CUDA_EMULATOR_LOADS_DRAIN is yes, expected 0 or 1"));
}

}  // namespace
}  // namespace ptx::cuda
