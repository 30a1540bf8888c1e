// Finds the end of a JSON object as it grows, and the members that a call has. It follows strings and brackets alone:
// whether the object is valid JSON is decided once it is whole (call_reader.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/calls/markup.h"

namespace warpchat::calls {

class JsonShape {
 public:
  enum class Step : uint8_t {
    kGoesOn,
    kKey,   // a key of the object has ended
    kName,  // the text that is the call's name has ended
    kEnds,  // the object has
    kBreaks
  };
  // The character of text at `at`. Characters follow each other from the opening bracket on.
  Step step(std::string_view text, size_t at);

  bool is_in_key() const { return in_string_ && depth_ == 1 && !is_value_; }
  Range string() const { return string_; }  // the last one, or the open one, with its quotes
  // The values of the object's members, with quotes and brackets; of several with one key the first.
  Range name() const { return name_; }
  Range arguments() const { return arguments_; }
  Range id() const { return id_; }
  bool has_arguments() const { return has_arguments_; }  // their key was there

 private:
  enum class Field : uint8_t { kName, kArguments, kId, kOther };

  Step end_string(std::string_view text);
  Step close(char bracket, size_t at);
  void begin_value(size_t at);
  void end_value();

  uint64_t lists_ = 0;  // a bit for each open bracket, the innermost lowest: whether it is a list's
  uint8_t depth_ = 0;
  bool in_string_ = false, is_escaped_ = false;
  bool is_value_ = false;  // behind a colon of the object itself
  bool has_value_ = false, has_arguments_ = false;
  Field field_ = Field::kOther;
  size_t value_from_ = 0, last_ = 0;  // last_: behind the last character that is not blank
  Range string_, name_, arguments_, id_;
};

}  // namespace warpchat::calls
