#include "models/gguf_value.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstring>

#include "models/gguf_part.h"
#include "models/text_format.h"

namespace warpchat {
namespace {

constexpr uint64_t kListedElements = 8;
constexpr size_t kListedBytes = 200;

template <class T>
T load(const GgufValue& value, uint64_t i) {
  assert((i + 1) * sizeof(T) <= value.elements.size());
  T element;
  std::memcpy(&element, value.elements.data() + i * sizeof(T), sizeof(T));
  return element;
}

std::string text_of_element(const GgufValue& value, uint64_t i) {
  if (value.element == GgufType::kBool) return load<uint8_t>(value, i) ? "true" : "false";
  if (const auto number = float_at(value, i)) {
    char text[32];
    std::snprintf(text, sizeof text, value.element == GgufType::kFloat32 ? "%.9g" : "%.17g", *number);
    return text;
  }
  const WideInt number = *integer_at(value, i);
  return number < 0 ? std::to_string(static_cast<int64_t>(number)) : std::to_string(static_cast<uint64_t>(number));
}

std::string text_of_strings(const GgufValue& value) {
  std::string text;
  uint64_t shown = 0;
  for_each_string(value, [&](std::string_view element) {
    text += (shown ? ", \"" : "\"") + printable(element, kListedBytes) + "\"";
    return ++shown < kListedElements;
  });
  return text;
}

}  // namespace

std::optional<WideInt> integer_at(const GgufValue& value, uint64_t i) {
  switch (value.element) {
    case GgufType::kUint8:
      return load<uint8_t>(value, i);
    case GgufType::kInt8:
      return load<int8_t>(value, i);
    case GgufType::kUint16:
      return load<uint16_t>(value, i);
    case GgufType::kInt16:
      return load<int16_t>(value, i);
    case GgufType::kUint32:
      return load<uint32_t>(value, i);
    case GgufType::kInt32:
      return load<int32_t>(value, i);
    case GgufType::kUint64:
      return load<uint64_t>(value, i);
    case GgufType::kInt64:
      return load<int64_t>(value, i);
    default:
      return std::nullopt;
  }
}

std::optional<double> float_at(const GgufValue& value, uint64_t i) {
  if (value.element == GgufType::kFloat32) return load<float>(value, i);
  if (value.element == GgufType::kFloat64) return load<double>(value, i);
  return std::nullopt;
}

std::string describe(const GgufValue& value) {
  if (value.type == GgufType::kArray) return "array of " + grouped(value.n_elements) + " " + type_name(value.element);
  return std::string(type_name(value.type)) + " " + text_of(value);
}

std::string text_of(const GgufValue& value) {
  if (value.element == GgufType::kArray) return "[" + counted(value.n_elements, "array") + "]";
  std::string text;
  if (value.element == GgufType::kString) {
    text = text_of_strings(value);
  } else {
    for (uint64_t i = 0; i < std::min(value.n_elements, kListedElements); ++i)
      text += (i ? ", " : "") + text_of_element(value, i);
  }
  if (value.type != GgufType::kArray) return text;
  return "[" + text + (value.n_elements > kListedElements ? ", ...]" : "]");
}

}  // namespace warpchat
