// Incremental SHA-256.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace warpchat {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void add(std::span<const std::byte> bytes);
  std::string finish();  // 64 lower-case hexadecimal digits; no add afterwards

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The hash of a file's content; empty if it cannot be read. progress: bytes so far; it may throw.
std::string sha256_of_file(const std::string& path, const std::function<void(uint64_t)>& progress);

bool is_sha256(const std::string& text);  // 64 lower-case hexadecimal digits

}  // namespace warpchat
