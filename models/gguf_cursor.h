// A bounds-checked reader of a GGUF file's bytes. Every read names its field. A read past the end throws Error with
// file, subject, field and byte.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "models/error.h"
#include "models/text_format.h"

namespace warpchat {

class GgufCursor {
 public:
  GgufCursor(std::span<const std::byte> bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  // Sets the subject of messages by fail(): "key llama.block_count".
  void enter(std::string subject) { subject_ = std::move(subject); }

  uint64_t position() const { return position_; }
  uint64_t remaining() const { return bytes_.size() - position_; }
  uint64_t file_bytes() const { return bytes_.size(); }

  std::span<const std::byte> read_bytes(uint64_t n_bytes, const char* field) {
    if (n_bytes > remaining())
      fail("needs " + counted(n_bytes, "byte") + " at byte " + grouped(position_) + " for its " + field +
           ", the file ends at byte " + grouped(bytes_.size()) + "; download it again");
    const auto taken = bytes_.subspan(position_, n_bytes);
    position_ += n_bytes;
    return taken;
  }

  // Bytes from an earlier position to this one.
  std::span<const std::byte> since(uint64_t begin) const { return bytes_.subspan(begin, position_ - begin); }

  template <class T>
  T read(const char* field) {
    static_assert(std::is_arithmetic_v<T>);
    T value;
    std::memcpy(&value, read_bytes(sizeof(T), field).data(), sizeof(T));
    return value;
  }

  // A uint64 length, then that many bytes.
  std::string_view read_string(const char* field) {
    const auto n_bytes = read<uint64_t>(field);
    const auto text = read_bytes(n_bytes, field);
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }

  [[noreturn]] void fail(const std::string& predicate) const {
    throw Error("cannot load " + printable(path_, 4096) + ": " + subject_ + " " + predicate);
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& path_;
  std::string subject_ = "it";
  uint64_t position_ = 0;
};

}  // namespace warpchat
