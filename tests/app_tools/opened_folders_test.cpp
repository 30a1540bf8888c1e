// Paths that a model names: what is below the opened folders is found, and nothing else is.
#include "app/tools/opened_folders.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "app/tools/file_text.h"
#include "tests/app_tools/temporary_folder.h"
#include "tests/support/error_of.h"

namespace warpchat {
namespace {

constexpr char kSecret[] = "the secret outside";

class Folders : public testing::Test {
 protected:
  Folders() {
    outside_.write("secret.txt", kSecret);
    folder_.write("a.txt", "a");
    folder_.write("sub/b.txt", "b");
    folder_.write("sub/deep/c.txt", "c");
  }
  std::string read(std::string_view path) const {
    const FoundEntry entry = OpenedFolders({folder_.path()}).open(path);
    return entry.is_folder() ? "folder " + entry.path : entry.path + "=" + read_at(entry, 0, 100);
  }
  std::string fault(std::string_view path) const {
    return error_of([&] { read(path); });
  }
  TemporaryFolder folder_, outside_;
};

TEST_F(Folders, HaveFilesByRelativeAndAbsolutePaths) {
  EXPECT_EQ(read("a.txt"), "a.txt=a");
  EXPECT_EQ(read("./sub//./b.txt"), "sub/b.txt=b");
  EXPECT_EQ(read("sub/deep/../b.txt"), "sub/b.txt=b");
  EXPECT_EQ(read(folder_.path_of("sub/b.txt")), "sub/b.txt=b");
  EXPECT_EQ(read(folder_.path()), "folder .");
  EXPECT_EQ(read("."), "folder .");
  EXPECT_EQ(read("sub/deep/"), "folder sub/deep");
  const std::string label = folder_.path().substr(folder_.path().rfind('/') + 1);
  EXPECT_EQ(read(label + "/a.txt"), "a.txt=a") << "with the name of the folder, as models write it";
}

TEST_F(Folders, DoNotOpenWhatIsOutside) {
  const std::string beside = folder_.path() + "x";
  for (const std::string& path : {std::string(".."), std::string("../"), std::string("sub/../../"), outside_.path(),
                                  outside_.path_of("secret.txt"), std::string("/"), std::string("/etc/passwd"), beside,
                                  folder_.path() + "/../" + outside_.path().substr(5) + "/secret.txt"})
    EXPECT_NE(fault(path), "no error") << path;
  EXPECT_EQ(fault("../x"), "cannot read ../x: it leads out of the opened folder");
  EXPECT_EQ(fault("/etc/passwd"), "cannot read /etc/passwd: it is not in the opened folders, " + folder_.path());
  EXPECT_EQ(fault("no.txt"), "cannot read no.txt: no such file or folder");
  EXPECT_EQ(fault("a.txt/x"), "cannot read a.txt/x: a part of its path is a file, not a folder");
  EXPECT_NE(fault(std::string("a.txt\0.png", 10)), "no error");
  EXPECT_NE(fault(std::string(100'000, 'x')), "no error");
  EXPECT_NE(fault("~/x"), "no error");
}

TEST_F(Folders, FollowLinksThatStayInside) {
  folder_.link("sub/b.txt", "to_b");
  folder_.link("../a.txt", "sub/to_a");
  folder_.link(folder_.path_of("sub"), "absolute");
  folder_.link("to_b", "to_to_b");
  EXPECT_EQ(read("to_b"), "sub/b.txt=b");
  EXPECT_EQ(read("sub/to_a"), "a.txt=a");
  EXPECT_EQ(read("absolute/deep/c.txt"), "sub/deep/c.txt=c");
  EXPECT_EQ(read("to_to_b"), "sub/b.txt=b");
}

TEST_F(Folders, RefuseLinksThatLeadOut) {
  folder_.link(outside_.path_of("secret.txt"), "file");
  folder_.link(outside_.path(), "folder");
  folder_.link("..", "parent");
  folder_.link("../../../../../../../../etc/passwd", "sub/many");
  folder_.link("/", "root");
  folder_.link("/proc/self/cwd", "magic");
  folder_.link("folder", "twice");
  folder_.link("loop", "loop");
  folder_.link(folder_.path() + "/../" + folder_.path().substr(5), "out_and_in");
  for (const char* path : {"file", "folder", "folder/secret.txt", "parent", "parent/x", "sub/many", "root/etc/passwd",
                           "magic", "twice/secret.txt", "loop", "out_and_in/a.txt"})
    EXPECT_NE(fault(path), "no error") << path;
  EXPECT_EQ(fault("file"), "cannot read file: a link in its path leads out of the opened folder");
}

TEST_F(Folders, RefuseWhatIsNoFileWithoutWaiting) {
  ASSERT_EQ(mkfifo(folder_.path_of("pipe").c_str(), 0600), 0);
  const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{.sun_family = AF_UNIX};
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s", folder_.path_of("socket").c_str());
  ASSERT_EQ(bind(listening, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  for (const char* name : {"pipe", "socket"})
    EXPECT_EQ(fault(name), std::string("cannot read ") + name + ": it is a device, a pipe or a socket, not a file");
  close(listening);
  const OpenedFolders system({"/dev", "/proc", "/sys"});
  for (const char* path : {"/dev/zero", "/dev/null", "/proc/self/environ", "/proc/kmsg", "/sys/kernel", "/proc"})
    EXPECT_NE(error_of([&] { system.open(path); }), "no error") << path;
}

TEST_F(Folders, AreSeveralWithLabels) {
  TemporaryFolder parent;
  parent.write("x/notes/one.txt", "1");
  parent.write("y/notes/two.txt", "2");
  const OpenedFolders folders({parent.path_of("x/notes"), parent.path_of("y/notes/"), parent.path_of("x/notes")});
  EXPECT_EQ(folders.labels(), (std::vector<std::string>{"notes", "notes_2"}));
  EXPECT_EQ(folders.open("notes_2/two.txt").path, "notes_2/two.txt");
  EXPECT_EQ(folders.open("two.txt").path, "notes_2/two.txt");
  EXPECT_EQ(folders.open(parent.path_of("x/notes/one.txt")).path, "notes/one.txt");
  EXPECT_TRUE(folders.is_list("."));
  EXPECT_NE(error_of([&] { folders.open("../x/notes/one.txt"); }), "no error");
}

TEST_F(Folders, MustBeFolders) {
  EXPECT_NE(error_of([&] { OpenedFolders({folder_.path_of("a.txt")}); }).find("it is a file"), std::string::npos);
  EXPECT_NE(error_of([&] { OpenedFolders({folder_.path_of("none")}); }).find("no such file"), std::string::npos);
  EXPECT_EQ(error_of([] { OpenedFolders({}).open("a"); }), "cannot read a: no folder is opened");
}

TEST_F(Folders, MayBeOpenedThroughALink) {
  outside_.link(folder_.path(), "to_folder");
  const OpenedFolders folders({outside_.path_of("to_folder")});
  EXPECT_EQ(folders.open("a.txt").path, "a.txt");
  EXPECT_EQ(folders.open(outside_.path_of("to_folder/a.txt")).path, "a.txt");
}

TEST_F(Folders, FindNamesThatAreNotUtf8AsTheyAreShown) {
  folder_.write("caf\xe9.txt", "latin");
  folder_.write("new\nline", "break");
  EXPECT_EQ(read("caf\\xe9.txt"), "caf\\xe9.txt=latin");
  EXPECT_EQ(read("new\\x0aline"), "new\\x0aline=break");
}

TEST_F(Folders, KeepNoDescriptors) {
  folder_.link("loop", "loop");
  const size_t before = n_open_descriptors();
  for (int i = 0; i < 10; ++i) {
    read("sub/deep/c.txt");
    fault("loop");
    fault("sub/deep/none");
  }
  EXPECT_EQ(n_open_descriptors(), before);
  std::string deep;
  for (int i = 0; i < 150; ++i) deep += "d/";
  std::filesystem::create_directories(folder_.path_of(deep));
  EXPECT_NE(fault(deep), "no error") << "each folder takes a descriptor";
}

TEST_F(Folders, AreNotLeftWhileLinksAreSwapped) {
  std::atomic<bool> ends = false;
  std::jthread swapping([&] {  // a folder, then a link that leads out, under one name
    outside_.write("deep/c.txt", kSecret);
    const std::string name = folder_.path_of("swapped"), hidden = folder_.path_of("hidden");
    std::filesystem::rename(folder_.path_of("sub"), name);
    while (!ends) {
      std::filesystem::rename(name, hidden);
      std::filesystem::create_symlink(outside_.path(), name);
      std::filesystem::remove(name);
      std::filesystem::rename(hidden, name);
    }
  });
  size_t n_read = 0, n_refused = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(400);
  while (std::chrono::steady_clock::now() < end) {
    try {
      const std::string text = read("swapped/deep/c.txt");
      EXPECT_EQ(text.find(kSecret), std::string::npos);
      ++n_read;
    } catch (const Error&) {
      ++n_refused;
    }
  }
  ends = true;
  EXPECT_GT(n_read + n_refused, 10u);
}

}  // namespace
}  // namespace warpchat
