// For LD_PRELOAD: gives GLFW a desktop's behaviour that a bare X server lacks. The file $MONITOR_SCALE holds the
// current scale of the monitor, which may change, as on the way to another monitor. A unit of window and pointer is
// $PIXELS_A_UNIT pixels, as on Wayland. The file $COMMITTED_TEXT (UTF-32) comes through the character callback at once,
// as an input method commits it, and is then removed.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

struct GLFWwindow;
using CharacterCallback = void (*)(GLFWwindow*, unsigned);
using PointerCallback = void (*)(GLFWwindow*, double, double);

namespace {

CharacterCallback callback;
PointerCallback pointer_callback;
GLFWwindow* called_window;

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

extern "C" CharacterCallback glfwSetCharCallback(GLFWwindow* window, CharacterCallback wanted) {
  callback = wanted, called_window = window;
  return real(&glfwSetCharCallback, "glfwSetCharCallback")(window, wanted);
}

extern "C" void glfwPollEvents() {
  real(&glfwPollEvents, "glfwPollEvents")();
  std::FILE* file = open_named_by("COMMITTED_TEXT");
  if (file == nullptr) return;
  uint32_t character = 0;
  while (std::fread(&character, sizeof character, 1, file) == 1) callback(called_window, character);
  std::fclose(file);
  unlink(std::getenv("COMMITTED_TEXT"));
}
