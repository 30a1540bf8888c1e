// One input text of a link.
#pragma once

#include <string>
#include <string_view>

namespace ptx::emulator {

struct LinkInput {
  std::string name;  // for messages
  std::string_view text;
};

}  // namespace ptx::emulator
