// The only place that parses JSON: endpoints, hubs, files and stored text may hold anything.
#pragma once
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "models/error.h"

namespace warpchat {

struct JsonLimits {
  uint32_t depth = 64;  // nested arrays and objects; the library copies, prints and compares values recursively
  size_t bytes = size_t{64} << 20;
  size_t values = 5'000'000;
};

class JsonError : public Error {  // "it is not valid JSON (byte 17)", "its JSON is nested deeper than 64 levels"
 public:
  JsonError(const std::string& sentence, size_t at, bool has_bad_syntax)
      : Error(sentence), byte(at), is_syntax(has_bad_syntax) {}
  size_t byte;     // offset of the fault
  bool is_syntax;  // false: valid so far, but beyond a limit
};

// Json: nlohmann::json, or nlohmann::ordered_json, whose objects may have some 30,000 members. JsonError for bad syntax
// (also ill-formed UTF-8), a number that does not fit, and values beyond the limits.
template <class Json = nlohmann::json>
Json parse_untrusted_json(std::string_view text, const JsonLimits& limits = {});

// A discarded value instead of JsonError.
template <class Json = nlohmann::json>
Json try_parse_untrusted_json(std::string_view text, const JsonLimits& limits = {});

}  // namespace warpchat
