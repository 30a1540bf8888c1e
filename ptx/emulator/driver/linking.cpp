// Links: PTX texts in, an emulator image out. The texts are checked as for loading, so that errors a compiler or linker
// would report appear in the log.
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

const JitLog& error_log(const LinkState& link, const JitOptions& options) {
  return options.error.buffer != nullptr ? options.error : link.options.error;
}

template <class Body>
CUresult with_log(const JitLog& log, CUresult otherwise, Body body) {
  try {
    body();
  } catch (const InvalidPtx& problem) {
    log.refuse(problem.log);
    return problem.unsupported_version ? CUDA_ERROR_UNSUPPORTED_PTX_VERSION : otherwise;
  }
  log.write("");
  return CUDA_SUCCESS;
}

CUresult add_text(Driver& d, LinkState& link, std::string_view text, const char* name, const JitOptions& options) {
  return with_log(error_log(link, options), CUDA_ERROR_INVALID_PTX, [&] {
    d.device->check_input(text);
    const std::string own = name != nullptr && *name != 0 ? name : "input " + std::to_string(link.inputs.size() + 1);
    link.inputs.push_back({own, std::string(text)});
    link.image.clear();
  });
}

CUresult complete(Driver& d, LinkState& link) {
  std::vector<LinkInput> inputs;
  for (const LinkState::Input& input : link.inputs) inputs.push_back({input.name, input.text});
  return with_log(link.options.error, CUDA_ERROR_INVALID_IMAGE, [&] {
    d.device->load(inputs);
    link.image = make_image(inputs, link.options.max_registers);
  });
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

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name,
                          unsigned count, CUjit_option* options, void** values) {
  return with_link(state, [&](Driver& d, LinkState& link) -> CUresult {
    if (data == nullptr || size == 0 || (count > 0 && (options == nullptr || values == nullptr)))
      return CUDA_ERROR_INVALID_VALUE;
    if (type > CU_JIT_INPUT_LIBRARY) return CUDA_ERROR_INVALID_VALUE;
    const JitOptions own = {count, options, values};
    if (type != CU_JIT_INPUT_PTX) {
      error_log(link, own).refuse("the emulator links PTX text; this input is machine code for a GPU");
      return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    const char* text = static_cast<const char*>(data);
    return add_text(d, link, {text, strnlen(text, size)}, name, own);
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
  return with_link(state, [&](Driver& d, LinkState& link) -> CUresult {
    if (image == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (link.inputs.empty()) return CUDA_ERROR_INVALID_IMAGE;
    if (link.image.empty())
      if (CUresult result = complete(d, link); result != CUDA_SUCCESS) return result;
    *image = link.image.data();
    if (size != nullptr) *size = link.image.size() + 1;  // with the NUL
    return CUDA_SUCCESS;
  });
}

CUresult cuLinkDestroy(CUlinkState state) {
  return with_link(state, [&](Driver& d, LinkState&) -> CUresult {
    d.links.extract(state);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
}  // namespace ptx::cuda
