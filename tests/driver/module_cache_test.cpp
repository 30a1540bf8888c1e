// Compiled kernels on disk: what is found again, what counts as missing, what goes when the bound is reached, and that
// a module is compiled once.
#include "engine/driver/module_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/driver/module.h"
#include "ptx/builder.h"
#include "tests/support/error_of.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

struct Cache : testing::Test {
  ~Cache() override { fs::remove_all(folder); }
  std::string found(const ModuleKey& under) const {
    const std::optional<std::vector<char>> image = cache.find(under);
    return image ? std::string(image->begin(), image->end()) : "nothing";
  }
  void store(const ModuleKey& under, const std::string& image) const { cache.store(under, image); }

  const std::string folder =
      testing::TempDir() + "module_cache_test_" + testing::UnitTest::GetInstance()->current_test_info()->name();
  const ModuleCache cache{folder};
  const ModuleKey key = module_key("text", 90, 13000, false);
};

TEST_F(Cache, FindsWhatWasStoredUnderTheSameKeyOnly) {
  const std::string image("machine\0code", 12);
  EXPECT_EQ(found(key), "nothing");
  store(key, image);
  EXPECT_EQ(found(key), image);
  store(key, "newer");
  EXPECT_EQ(found(key), "newer");
  const struct {
    const char* what;
    ModuleKey other;
  } rows[] = {
      {"another text", module_key("texts", 90, 13000, false)},
      {"another target", module_key("text", 89, 13000, false)},
      {"another driver", module_key("text", 90, 12080, false)},
      {"the emulator's", module_key("text", 90, 13000, true)},
  };
  for (const auto& row : rows) EXPECT_EQ(found(row.other), "nothing") << row.what;
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1) << "no temporary file is left";
  EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
}

TEST_F(Cache, TakesADamagedEntryForMissingAndReplacesIt) {
  store(module_key("other", 90, 13000, false), "other image");
  const std::string foreign = read_file(cache.path_of(module_key("other", 90, 13000, false)));
  store(key, "some image");
  const std::string good = read_file(cache.path_of(key));
  std::vector<std::pair<std::string, std::string>> damages = {
      {"empty", ""}, {"text", "hello, world"}, {"of another key", foreign}, {"longer", good + "x"}};
  for (size_t n : {size_t{1}, size_t{63}, size_t{64}, good.size() - 1})
    damages.emplace_back("cut to " + std::to_string(n), good.substr(0, n));
  for (size_t at = 0; at < good.size(); ++at) {
    damages.emplace_back("byte " + std::to_string(at), good);
    damages.back().second[at] ^= 0x10;
  }
  for (const auto& [what, bytes] : damages) {
    write_file(cache.path_of(key), bytes);
    EXPECT_EQ(found(key), "nothing") << what;
    store(key, "some image");
    EXPECT_EQ(found(key), "some image") << what;
  }
}

TEST_F(Cache, RemovesWhatWasUnusedLongest) {
  const ModuleCache small(folder, 1000);  // three entries of 300 bytes with their headers
  std::vector<ModuleKey> keys;
  for (int i = 0; i < 4; ++i) keys.push_back(module_key("text " + std::to_string(i), 90, 13000, false));
  const std::string image(236, 'x'), unfinished = small.path_of(keys[0]) + "-abcdef";
  fs::create_directories(folder);
  write_file(folder + "/somebody's.cubin", std::string(5000, 'x'));  // not of the cache
  write_file(unfinished, std::string(500, 'x'));                     // of a program that was killed
  fs::last_write_time(unfinished, fs::file_time_type::min());
  const fs::file_time_type past = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (int i = 0; i < 3; ++i) {
    small.store(keys[i], image);
    fs::last_write_time(small.path_of(keys[i]), past + std::chrono::minutes(i));
  }
  EXPECT_FALSE(fs::exists(unfinished));
  EXPECT_TRUE(small.find(keys[0])) << "three fit; this is the one used last now";
  small.store(keys[3], image);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(small.find(keys[i]).has_value(), i != 1) << i;
  EXPECT_TRUE(fs::exists(folder + "/somebody's.cubin"));
  small.store(keys[1], std::string(1001, 'x'));
  EXPECT_FALSE(small.find(keys[1])) << "larger than all the cache may be";
  EXPECT_TRUE(small.find(keys[3]));
}

// Where nothing can be written the kernels are compiled again and again, and nobody is told.
TEST_F(Cache, IsNoErrorWhereNothingCanBeWritten) {
  fs::create_directories(folder);
  write_file(folder + "/file", "");
  for (const std::string& where : {folder + "/file", folder + "/file/below", std::string("/proc/none")}) {
    const ModuleCache closed(where);
    EXPECT_NO_THROW(closed.store(key, std::string("image"))) << where;
    EXPECT_FALSE(closed.find(key)) << where;
  }
  fs::create_directories(cache.path_of(key));  // in the entry's place
  store(key, "image");
  EXPECT_EQ(found(key), "nothing");
  EXPECT_FALSE(ModuleCache().is_on());
  ModuleCache().store(key, std::string("image"));
  EXPECT_FALSE(ModuleCache().find(key));
}

// A limit on the sizes of files stands for a full disk.
TEST_F(Cache, LeavesNothingBehindOnAFullDisk) {
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit full{100, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &full);
  store(key, std::string(10000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(found(key), "nothing");
  EXPECT_TRUE(fs::is_empty(folder));
}

// y[i] = 7
ptx::Kernel sevens() {
  ptx::Builder b("sevens", ptx::sm_75);
  ptx::Global<ptx::u32> y = b.global<ptx::u32>("y", 32);
  y.store(b.thread(), 7u);
  return b.finish(ptx::Launch{1, 32});
}

int links = 0;  // how often the counting table below compiled

struct CachedModule : Cache {
  CachedModule() {
    links = 0;
    table.cuLinkComplete = [](ptx::cuda::CUlinkState state, void** image, size_t* size) {
      ++links;
      return test_device().table->cuLinkComplete(state, image, size);
    };
  }
  void expect_sevens() {
    const Module module(context, {sevens()}, cache);
    const Stream stream(context);
    const DeviceMemory y(context, 128, "y");
    module.kernel(0).launch(stream, {y});
    std::vector<uint32_t> values(32);
    stream.download(std::as_writable_bytes(std::span(values)), y.address());
    stream.wait();
    EXPECT_THAT(values, testing::Each(7u));
  }
  std::string entry() const { return fs::directory_iterator(folder)->path(); }

  DriverTable table = *test_device().table;
  ContextPointer context = Context::open(table, test_device().gpu);
};

TEST_F(CachedModule, IsCompiledOnce) {
  expect_sevens();
  EXPECT_EQ(links, 1);
  expect_sevens();
  EXPECT_EQ(links, 1);
  fs::resize_file(entry(), 80);
  expect_sevens();
  EXPECT_EQ(links, 2) << "the entry was damaged";
  expect_sevens();
  EXPECT_EQ(links, 2);
}

// Sound by its header, and still not what this driver made.
TEST_F(CachedModule, IsCompiledWhereTheDriverRefusesTheEntry) {
  int version = 0;
  table.cuDriverGetVersion(&version);
  const GpuDevice& gpu = context->device();
  const ModuleKey of_sevens = module_key(ptx::module_text(std::vector{sevens()}),
                                         static_cast<uint32_t>(10 * gpu.major + gpu.minor), version, gpu.is_emulated);
  for (const std::string& image : {std::string("\x7f"
                                               "ELF\2\1\1\0machine code",
                                               20),
                                   std::string("no image", 9)}) {
    cache.store(of_sevens, image);
    expect_sevens();
    EXPECT_NE(found(of_sevens), image) << "it is replaced";
  }
  EXPECT_EQ(links, 2);
}

TEST_F(CachedModule, BringsTheCompilersLogToo) {
  ptx::Kernel broken = sevens();
  broken.entry.insert(broken.entry.find("st.global"), "frobnicate.f32 %a, %b;\n  ");
  EXPECT_THAT(error_of([&] { Module(context, {broken}, cache); }),
              AllOf(HasSubstr("compiling the kernels ("), HasSubstr("frobnicate"), HasSubstr("cuLinkAddData failed")));
  EXPECT_FALSE(fs::exists(folder)) << "nothing was stored";
}

}  // namespace
}  // namespace warpchat
