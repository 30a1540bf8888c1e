// FIPS 180-4's example, and a text in pieces.
#include "engine/hub/sha256.h"

#include <gtest/gtest.h>

#include <string_view>

namespace warpchat {
namespace {

void add(Sha256& hash, std::string_view text) { hash.add(std::as_bytes(std::span(text))); }

TEST(Sha256, KnownDigests) {
  Sha256 abc;
  add(abc, "a");
  add(abc, "bc");
  EXPECT_EQ(abc.finish(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256().finish(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256, WhatIsOne) {
  EXPECT_TRUE(is_sha256(std::string(64, 'f')));
  EXPECT_FALSE(is_sha256(std::string(64, 'F')));
  EXPECT_FALSE(is_sha256(std::string(63, 'f')));
  EXPECT_FALSE(is_sha256(std::string(63, 'f') + "/"));
}

}  // namespace
}  // namespace warpchat
