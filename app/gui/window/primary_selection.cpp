// GLFW has it among its native functions. They are looked up, because a GLFW that is built for Wayland lacks them.
#include "app/gui/window/primary_selection.h"

#include <dlfcn.h>

namespace warpchat::gui {

namespace {

template <class Function>
Function* glfw_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

std::string primary_selection() {
  static auto* const get = glfw_function<const char*()>("glfwGetX11SelectionString");
  const char* text = get ? get() : nullptr;
  return text ? text : "";
}

void set_primary_selection(const std::string& text) {
  static auto* const set = glfw_function<void(const char*)>("glfwSetX11SelectionString");
  if (set) set(text.c_str());
}

}  // namespace warpchat::gui
