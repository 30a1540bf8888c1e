// A folder for a test's store, removed at the end.
#pragma once
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace warpchat {

class StoreFolder {
 public:
  StoreFolder() {
    std::string name = testing::TempDir() + "warpchat_store_XXXXXX";
    if (mkdtemp(name.data())) path_ = name;
  }
  ~StoreFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string file() const { return path_ + "/conversations.db"; }

 private:
  std::string path_;
};

}  // namespace warpchat
