// Uses a separate lock file, since the database itself may be renamed.
#include "engine/store/store_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <thread>

namespace warpchat {

namespace {

constexpr std::chrono::milliseconds kBetweenTries{20};
constexpr int kTries = 250;

std::string local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &parts);
  return text;
}

bool lock(int descriptor) {
  for (int i = 0; i < kTries; ++i) {
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return true;  // file system without locks: continue
    std::this_thread::sleep_for(kBetweenTries);
  }
  return false;
}

}  // namespace

std::string store_path(const std::string& folder) { return folder + "/conversations.db"; }

bool can_write_to(const std::string& folder) {
  return faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) == 0 &&
         faccessat(AT_FDCWD, store_path(folder).c_str(), W_OK, AT_EACCESS) == 0;
}

StoreFile::StoreFile(const std::string& folder) : path_(store_path(folder)) {
  const std::string lock_path = path_ + ".lock";
  lock_ = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly);
  if (lock_ < 0)
    throw Error("cannot write to " + folder + ": " + std::strerror(errno) +
                (errno == ELOOP ? "; remove the link " + lock_path : "; check its permissions or free some space"));
  if (lock(lock_)) return;
  close(lock_);
  throw Error("cannot open " + path_ + ": another program has been opening it for 5 seconds; close that program");
}

StoreFile::~StoreFile() { close(lock_); }

bool StoreFile::is_suspect() const { return access(damage_mark(path_).c_str(), F_OK) == 0; }

void StoreFile::trust() const {
  const std::string mark = damage_mark(path_);
  if (unlink(mark.c_str()) != 0 && errno != ENOENT)
    throw Error("cannot remove " + mark + ": " + std::strerror(errno) + "; remove it yourself");
}

std::string StoreFile::set_aside() const {
  const std::string stem = path_ + ".damaged-" + local_time();
  std::string to = stem;
  for (int i = 2; access(to.c_str(), F_OK) == 0; ++i) to = stem + "-" + std::to_string(i);
  if (std::rename(path_.c_str(), to.c_str()) != 0)
    throw Error("cannot set the damaged " + path_ + " aside: " + std::strerror(errno) + "; move it away yourself");
  for (const char* suffix : {"-wal", "-shm"}) std::rename((path_ + suffix).c_str(), (to + suffix).c_str());
  return to;
}

void check_pages(const Database& database) {
  Statement check = database.prepare("PRAGMA quick_check(1)");
  if (!check.step()) return;
  const std::string found = check.text(0);
  if (found != "ok") throw DamagedDatabase("cannot use " + database.path() + ": " + found);
}

}  // namespace warpchat
