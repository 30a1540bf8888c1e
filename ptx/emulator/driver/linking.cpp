// Links: one PTX text in, an image of the emulator's own out. The text is read here as it will be when it is loaded, so
// that what a compiler would refuse is refused with the same log.
#include <cstring>
#include <fstream>
#include <iterator>

#include "ptx/driver_api_others.h"
#include "ptx/emulator/driver/driver.h"

namespace ptx::emulator::driver {

namespace {

template <class Body>
CUresult with_link(const void* handle, Body body) {
  return in_context([&](Driver& d, Context&, auto&) -> CUresult {
    LinkState* link = d.links.find(handle);
    return link == nullptr ? CUDA_ERROR_INVALID_HANDLE : body(d, *link);
  });
}

CUresult add_text(Driver& d, LinkState& link, std::string_view text, const JitOptions& options) {
  const JitLog& log = options.error.buffer != nullptr ? options.error : link.options.error;
  if (!link.image.empty()) {
    log.write("the emulator links one input");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  try {
    d.device->load(text);
  } catch (const InvalidPtx& problem) {
    log.write(problem.log);
    return problem.unsupported_version ? CUDA_ERROR_UNSUPPORTED_PTX_VERSION : CUDA_ERROR_INVALID_PTX;
  }
  log.write("");
  link.image = make_image(text);
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace ptx::emulator::driver

namespace ptx::cuda {
using namespace ptx::emulator::driver;
extern "C" {

CUresult cuLinkCreate_v2(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
  return in_context([&](Driver& d, Context& context, auto&) -> CUresult {
    if (state == nullptr || (count > 0 && (options == nullptr || values == nullptr))) return CUDA_ERROR_INVALID_VALUE;
    auto link = std::make_unique<LinkState>();
    link->context = &context;
    link->options = {count, options, values};
    *state = reinterpret_cast<CUlinkState>(d.links.add(std::move(link)));
    return CUDA_SUCCESS;
  });
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t size, const char*, unsigned count,
                          CUjit_option* options, void** values) {
  return with_link(state, [&](Driver& d, LinkState& link) -> CUresult {
    if (data == nullptr || size == 0 || (count > 0 && (options == nullptr || values == nullptr)))
      return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_JIT_INPUT_PTX)
      return type > CU_JIT_INPUT_LIBRARY ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NO_BINARY_FOR_GPU;
    const char* text = static_cast<const char*>(data);
    return add_text(d, link, {text, strnlen(text, size)}, {count, options, values});
  });
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned count,
                          CUjit_option* options, void** values) {
  if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::ifstream file(path, std::ios::binary);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  std::string data((std::istreambuf_iterator<char>(file)), {});
  return cuLinkAddData_v2(state, type, data.data(), data.size(), path, count, options, values);
}

CUresult cuLinkComplete(CUlinkState state, void** image, size_t* size) {
  return with_link(state, [&](Driver&, LinkState& link) -> CUresult {
    if (image == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (link.image.empty()) return CUDA_ERROR_INVALID_IMAGE;
    *image = link.image.data();
    if (size != nullptr) *size = link.image.size() + 1;  // with the NUL
    return CUDA_SUCCESS;
  });
}

CUresult cuLinkDestroy(CUlinkState state) {
  return with_link(state, [&](Driver& d, LinkState&) -> CUresult {
    d.links.take(state);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
}  // namespace ptx::cuda
