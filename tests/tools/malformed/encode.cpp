#include "tests/tools/malformed/encode.h"

#include "tests/support/gguf/gguf_writer.h"

namespace warpchat {
namespace {

// The one entry of a file that a writer made.
template <class Add>
Bytes written(Add add) {
  GgufWriter writer;
  add(writer);
  const Bytes file = writer.bytes();
  const auto encoded = GgufFile::view(file, "entry").values().at(0).encoded;
  return {encoded.begin(), encoded.end()};
}

template <class T>
void append(Bytes& out, T value) {
  const size_t end = out.size();
  out.resize(end + sizeof value);
  std::memcpy(out.data() + end, &value, sizeof value);
}

}  // namespace

Bytes text(std::string_view value) {
  return written([&](GgufWriter& writer) { writer.add_string("k", value); });
}
Bytes texts(const std::vector<std::string>& values) {
  return written([&](GgufWriter& writer) { writer.add_strings("k", values); });
}
Bytes ints(const std::vector<int32_t>& values) {
  return written([&](GgufWriter& writer) { writer.add_ints("k", values); });
}
Bytes floats(const std::vector<float>& values) {
  return written([&](GgufWriter& writer) { writer.add_floats("k", values); });
}

Bytes nested_arrays(uint32_t depth) {
  Bytes encoded;
  append(encoded, GgufType::kArray);
  for (uint32_t i = 1; i < depth; ++i) {
    append(encoded, GgufType::kArray);
    append(encoded, uint64_t{1});
  }
  append(encoded, GgufType::kUint8);
  append(encoded, uint64_t{0});
  return encoded;
}

Bytes with_key(const Base& base, const std::string& key, const Bytes& encoded) {
  return edited(base, [&](Document& document) {
    if (document.has_key(key))
      document.key(key).encoded = encoded;
    else
      document.keys.push_back({key, encoded});
  });
}

}  // namespace warpchat
