// Whether the desktop's theme is dark: what the portal says (org.freedesktop.appearance, color-scheme), followed while
// the window runs; else what GTK's settings say.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>

namespace warpchat::gui {

class SystemTheme {
 public:
  explicit SystemTheme(std::function<void()> wake);  // called from another thread when it is known or has changed
  ~SystemTheme();
  SystemTheme(const SystemTheme&) = delete;
  SystemTheme& operator=(const SystemTheme&) = delete;

  void follow();                        // from now on; returns at once
  std::optional<bool> is_dark() const;  // nullopt: not known yet

 private:
  struct Watch;
  std::unique_ptr<Watch> watch_;
  std::thread thread_;
};

// What a settings.ini of GTK says; nullopt: nothing.
std::optional<bool> dark_in_gtk_settings(std::string_view ini);

}  // namespace warpchat::gui
