// For LD_PRELOAD: gives GLFW a desktop's behaviour that a bare X server lacks. The file $MONITOR_SCALE holds the
// current scale of the monitor, which may change, as on the way to another monitor. A unit of window and pointer is
// $PIXELS_A_UNIT pixels, as on Wayland.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

struct GLFWwindow;
using PointerCallback = void (*)(GLFWwindow*, double, double);

namespace {

PointerCallback pointer_callback;

std::FILE* open_named_by(const char* variable) {
  const char* path = std::getenv(variable);
  return path != nullptr ? std::fopen(path, "rb") : nullptr;
}

template <class Function>
Function* real(Function* /*replaced*/, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

int pixels_a_unit() {
  const char* pixels = std::getenv("PIXELS_A_UNIT");
  return pixels != nullptr ? std::atoi(pixels) : 1;
}

}  // namespace

extern "C" void glfwGetWindowSize(GLFWwindow* window, int* width, int* height) {
  real(&glfwGetWindowSize, "glfwGetWindowSize")(window, width, height);
  if (width != nullptr) *width /= pixels_a_unit();
  if (height != nullptr) *height /= pixels_a_unit();
}

extern "C" PointerCallback glfwSetCursorPosCallback(GLFWwindow* window, PointerCallback wanted) {
  pointer_callback = wanted;
  return real(&glfwSetCursorPosCallback, "glfwSetCursorPosCallback")(
      window, [](GLFWwindow* w, double x, double y) { pointer_callback(w, x / pixels_a_unit(), y / pixels_a_unit()); });
}

extern "C" void glfwGetWindowContentScale(GLFWwindow* /*window*/, float* x, float* y) {
  float scale = 1;
  if (std::FILE* file = open_named_by("MONITOR_SCALE")) {
    if (std::fscanf(file, "%f", &scale) != 1) scale = 1;
    std::fclose(file);
  }
  *x = *y = scale;
}
