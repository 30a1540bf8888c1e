// One of the texts that become one module.
#pragma once

#include <string>
#include <string_view>

namespace ptx::emulator {

struct LinkInput {
  std::string name;  // for messages
  std::string_view text;
};

}  // namespace ptx::emulator
