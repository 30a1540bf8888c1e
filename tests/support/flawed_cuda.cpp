// The emulator as libcuda.so.1, with a compiler that makes a mistake. FLAW="NAME|FROM|TO" replaces every FROM by TO in
// the functions of modules whose text contains NAME. Without FLAW there is no mistake.
#include <cstdlib>
#include <cstring>
#include <string>

#include "ptx/driver_api.h"

namespace ptx::cuda {
namespace {

std::string flawed(std::string text) {
  const char* flaw = std::getenv("FLAW");
  if (flaw == nullptr) return text;
  const std::string all = flaw;
  const size_t first = all.find('|'), second = all.find('|', first + 1);
  const std::string from = all.substr(first + 1, second - first - 1), to = all.substr(second + 1);
  if (text.find(all.substr(0, first)) == std::string::npos) return text;
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace

extern "C" CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, CUjit_option* options,
                                       void** values) {
  const std::string text = flawed(static_cast<const char*>(image));
  return cuLibraryLoadData(reinterpret_cast<CUlibrary*>(module), text.c_str(), options, values, count, nullptr, nullptr,
                           0);
}

}  // namespace ptx::cuda
