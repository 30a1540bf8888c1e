#include "ptx/error.h"

#include <string_view>

namespace ptx {

std::string spell(Where where) {
  constexpr std::string_view kThisFile = __FILE__;
  constexpr std::string_view kRoot = kThisFile.substr(0, kThisFile.rfind("ptx/error.cpp"));
  std::string_view file = where.file_name();
  if (!kRoot.empty() && file.starts_with(kRoot)) {
    file.remove_prefix(kRoot.size());
  } else {
    file.remove_prefix(file.rfind('/') + 1);  // npos + 1 is 0
  }
  return std::string(file) + ":" + std::to_string(where.line());
}

}  // namespace ptx
