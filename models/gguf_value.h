// Metadata values as C++ values, and as text for messages and listings.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/gguf_reader.h"

namespace warpchat {

using WideInt = __int128;  // holds every integer of every GGUF type

// Element i of a value of a fixed-size type; nullopt for other element types.
std::optional<WideInt> integer_at(const GgufValue& value, uint64_t i);
std::optional<double> float_at(const GgufValue& value, uint64_t i);

// Calls visit(std::string_view) for every string of a string or string array, until it returns false.
template <class Visit>
void for_each_string(const GgufValue& value, Visit visit) {
  const auto* at = reinterpret_cast<const char*>(value.elements.data());
  for (uint64_t i = 0; i < value.n_elements; ++i) {
    uint64_t length;
    __builtin_memcpy(&length, at, sizeof length);
    if (!visit(std::string_view(at + sizeof length, length))) return;
    at += sizeof length + length;
  }
}

// "string \"qwen2\"", "uint32 24", "array of 3 float32".
std::string describe(const GgufValue& value);

// The value on one line: long strings and arrays are shortened.
std::string text_of(const GgufValue& value);

}  // namespace warpchat
