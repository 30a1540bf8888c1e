#include "tests/support/gguf/gguf_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cerrno>
#include <cstring>

#include "models/text_format.h"

namespace warpchat {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::string_view kAlignmentKey = "general.alignment";
constexpr uint32_t kUnstatedAlignment = 32;

void append_bytes(Bytes& out, const void* bytes, size_t n_bytes) {
  const size_t end = out.size();
  out.resize(end + n_bytes);
  if (n_bytes) std::memcpy(out.data() + end, bytes, n_bytes);
}

template <class T>
void append(Bytes& out, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  append_bytes(out, &value, sizeof value);
}

void append_string(Bytes& out, std::string_view text) {
  append(out, uint64_t{text.size()});
  append_bytes(out, text.data(), text.size());
}

template <class T>
Bytes scalar(GgufType type, T value) {
  Bytes payload;
  append(payload, type);
  append(payload, value);
  return payload;
}

template <class T>
Bytes array(GgufType element, std::span<const T> values) {
  Bytes payload;
  append(payload, GgufType::kArray);
  append(payload, element);
  append(payload, uint64_t{values.size()});
  for (const T& value : values) {
    if constexpr (std::is_same_v<T, std::string>)
      append_string(payload, value);
    else
      append(payload, value);
  }
  return payload;
}

void pad(Bytes& out, uint32_t alignment) { out.resize((out.size() + alignment - 1) / alignment * alignment); }

uint64_t aligned(uint64_t size, uint32_t alignment) { return (size + alignment - 1) / alignment * alignment; }

// Writes all bytes; returns 0 or errno.
int write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace

void GgufWriter::add_uint32(std::string_view key, uint32_t value) {
  add_encoded(key, scalar(GgufType::kUint32, value));
}
void GgufWriter::add_uint64(std::string_view key, uint64_t value) {
  add_encoded(key, scalar(GgufType::kUint64, value));
}
void GgufWriter::add_float32(std::string_view key, float value) { add_encoded(key, scalar(GgufType::kFloat32, value)); }
void GgufWriter::add_bool(std::string_view key, bool value) {
  add_encoded(key, scalar(GgufType::kBool, static_cast<uint8_t>(value)));
}
void GgufWriter::add_string(std::string_view key, std::string_view value) {
  Bytes payload;
  append(payload, GgufType::kString);
  append_string(payload, value);
  add_encoded(key, std::move(payload));
}
void GgufWriter::add_strings(std::string_view key, std::span<const std::string> values) {
  add_encoded(key, array(GgufType::kString, values));
}
void GgufWriter::add_floats(std::string_view key, std::span<const float> values) {
  add_encoded(key, array(GgufType::kFloat32, values));
}
void GgufWriter::add_ints(std::string_view key, std::span<const int32_t> values) {
  add_encoded(key, array(GgufType::kInt32, values));
}

void GgufWriter::add_bools(std::string_view key, const std::vector<bool>& values) {
  add_encoded(key,
              array(GgufType::kBool, std::span<const uint8_t>(std::vector<uint8_t>(values.begin(), values.end()))));
}

void GgufWriter::add_encoded(std::string_view key, std::vector<std::byte> payload) {
  entries_.push_back({std::string(key), std::move(payload)});
}

void GgufWriter::add_tensor(std::string_view name, TensorType type, std::span<const uint64_t> shape,
                            std::span<const std::byte> data) {
  assert(!shape.empty() && shape.size() <= 4);
  uint64_t rows = 1;
  for (uint64_t size : shape.subspan(1)) rows *= size;
  assert(data.size() == rows * bytes_per_row(type, shape[0]));
  (void)rows;
  tensors_.push_back({std::string(name), type, {shape.begin(), shape.end()}, {data.begin(), data.end()}});
}

void GgufWriter::copy_metadata(const GgufFile& from, std::span<const std::string> except) {
  const auto concerns_file = [](std::string_view key) { return key == kAlignmentKey || key.starts_with("split."); };
  for (const GgufValue& value : from.values())
    if (!concerns_file(value.key) && std::find(except.begin(), except.end(), value.key) == except.end())
      add_encoded(value.key, {value.encoded.begin(), value.encoded.end()});
}

std::vector<std::byte> GgufWriter::header(uint32_t alignment) const {
  assert(std::has_single_bit(alignment) && alignment >= 8);
  const bool states_alignment = alignment != kUnstatedAlignment;
  Bytes out;
  append_bytes(out, "GGUF", 4);
  append(out, uint32_t{3});
  append(out, uint64_t{tensors_.size()});
  append(out, uint64_t{entries_.size() + states_alignment});
  for (const KeyValue& entry : entries_) {
    append_string(out, entry.key);
    append_bytes(out, entry.payload.data(), entry.payload.size());
  }
  if (states_alignment) {
    append_string(out, kAlignmentKey);
    append(out, GgufType::kUint32);
    append(out, alignment);
  }
  uint64_t offset = 0;
  for (const Tensor& tensor : tensors_) {
    append_string(out, tensor.name);
    append(out, static_cast<uint32_t>(tensor.shape.size()));
    for (uint64_t size : tensor.shape) append(out, size);
    append(out, tensor.type);
    append(out, offset);
    offset += aligned(tensor.data.size(), alignment);
  }
  pad(out, alignment);
  return out;
}

std::vector<std::byte> GgufWriter::bytes(uint32_t alignment) const {
  Bytes out = header(alignment);
  for (const Tensor& tensor : tensors_) {
    append_bytes(out, tensor.data.data(), tensor.data.size());
    pad(out, alignment);
  }
  return out;
}

void GgufWriter::write(const std::string& path, uint32_t alignment) const {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  int error = file < 0 ? errno : 0;
  if (!error) error = write_all(file, header(alignment));
  const Bytes zeros(alignment);
  for (const Tensor& tensor : tensors_) {
    if (!error) error = write_all(file, tensor.data);
    const uint64_t padding = aligned(tensor.data.size(), alignment) - tensor.data.size();
    if (!error) error = write_all(file, std::span(zeros).first(padding));
  }
  if (file >= 0 && ::close(file) != 0 && !error) error = errno;
  if (error) throw Error("cannot write " + printable(path, 4096) + ": " + std::strerror(error));
}

}  // namespace warpchat
