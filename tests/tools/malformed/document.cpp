#include "tests/tools/malformed/document.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>

#include "tests/support/gguf/gguf_writer.h"

namespace warpchat {
namespace {

template <class Items>
auto& named(Items& items, std::string_view name) {
  const auto found = std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.name == name; });
  if (found == items.end()) throw std::logic_error("the base file has no " + std::string(name));
  return *found;
}

// Walks a valid file; checks nothing.
class Walker {
 public:
  explicit Walker(const Bytes& bytes) : bytes_(bytes) {}

  std::vector<Field> walk() {
    const GgufFile file = GgufFile::view(bytes_, "base");
    note(Field::Kind::kMagic, 4);
    note(Field::Kind::kVersion, 4);
    note(Field::Kind::kTensorCount, 8);
    note(Field::Kind::kKeyCount, 8);
    for (const GgufValue& value : file.values()) walk_value(value);
    for (const TensorInfo& tensor : file.tensors()) walk_tensor(tensor);
    for (const TensorInfo& tensor : file.tensors()) {
      owner_ = tensor.name;
      at_ = static_cast<size_t>(tensor.data.data() - bytes_.data());
      note(Field::Kind::kData, tensor.data.size());
    }
    return std::move(fields_);
  }

 private:
  void note(Field::Kind kind, size_t size) {
    if (size) fields_.push_back({kind, owner_, at_, size});
    at_ += size;
  }
  void note_at(Field::Kind kind, size_t at, size_t size) { fields_.push_back({kind, owner_, at, size}); }

  void walk_value(const GgufValue& value) {
    owner_ = value.key;
    note(Field::Kind::kNameLength, 8);
    note(Field::Kind::kName, value.key.size());
    note(Field::Kind::kValueType, 4);
    if (value.type == GgufType::kString) {
      note(Field::Kind::kStringLength, 8);
      note(Field::Kind::kString, value.elements.size() - 8);
    } else if (value.type == GgufType::kArray) {
      note(Field::Kind::kElementType, 4);
      note(Field::Kind::kArrayLength, 8);
      if (value.element == GgufType::kString) note_strings(value);
      note(Field::Kind::kArray, value.elements.size());
    } else {
      note(Field::Kind::kScalar, value.elements.size());
    }
  }

  void note_strings(const GgufValue& value) {
    size_t at = at_, last = at_;
    for (uint64_t i = 0; i < value.n_elements; ++i) {
      uint64_t length;
      std::memcpy(&length, bytes_.data() + at, sizeof length);
      last = at;
      at += sizeof length + length;
    }
    note_at(Field::Kind::kStringLength, at_, 8);
    if (last != at_) note_at(Field::Kind::kStringLength, last, 8);
  }

  void walk_tensor(const TensorInfo& tensor) {
    owner_ = tensor.name;
    note(Field::Kind::kNameLength, 8);
    note(Field::Kind::kName, tensor.name.size());
    note(Field::Kind::kNDims, 4);
    for (uint32_t i = 0; i < tensor.n_dims; ++i) note(Field::Kind::kDimension, 8);
    note(Field::Kind::kTensorType, 4);
    note(Field::Kind::kOffset, 8);
  }

  const Bytes& bytes_;
  std::string owner_ = "header";
  size_t at_ = 0;
  std::vector<Field> fields_;
};

}  // namespace

Document Document::of(const GgufFile& file) {
  Document document;
  for (const GgufValue& value : file.values())
    document.keys.push_back({std::string(value.key), {value.encoded.begin(), value.encoded.end()}});
  for (const TensorInfo& tensor : file.tensors())
    document.tensors.push_back({tensor.name,
                                tensor.type,
                                {tensor.shape.begin(), tensor.shape.begin() + tensor.n_dims},
                                {tensor.data.begin(), tensor.data.end()}});
  return document;
}

bool Document::has_tensor(std::string_view name) const {
  return std::ranges::any_of(tensors, [&](const Tensor& tensor) { return tensor.name == name; });
}

bool Document::has_key(std::string_view name) const {
  return std::any_of(keys.begin(), keys.end(), [&](const Key& key) { return key.name == name; });
}
Document::Key& Document::key(std::string_view name) { return named(keys, name); }
Document::Tensor& Document::tensor(std::string_view name) { return named(tensors, name); }

Bytes Document::bytes() const {
  GgufWriter writer;
  for (const Key& key : keys) writer.add_encoded(key.name, key.encoded);
  for (const Tensor& tensor : tensors) writer.add_tensor(tensor.name, tensor.type, tensor.shape, tensor.data);
  return writer.bytes();
}

std::string_view kind_name(Field::Kind kind) {
  constexpr std::string_view kNames[] = {"magic",        "version",      "tensor_count", "key_count",     "name_length",
                                         "name",         "value_type",   "scalar",       "string_length", "string",
                                         "element_type", "array_length", "array",        "n_dims",        "dimension",
                                         "tensor_type",  "offset",       "data"};
  static_assert(std::size(kNames) == static_cast<size_t>(Field::Kind::kData) + 1);
  return kNames[static_cast<size_t>(kind)];
}

std::vector<Field> fields_of(const Bytes& bytes) { return Walker(bytes).walk(); }

}  // namespace warpchat
