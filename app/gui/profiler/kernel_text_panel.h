// The chosen kernel: how it is launched, what it costs, and the text that was generated for it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "app/gui/profiler/profiler_overlay.h"

namespace warpchat::gui {

// Where each line of a text begins, and a last entry behind its end.
std::vector<size_t> line_starts(const std::string& text);

class KernelTextPanel {
 public:
  // Fills the content region. row: of the profile.
  void draw(const ProfilerData& data, const OperationProfile& row, const ProfilerOverlay::Look& look);

 private:
  void draw_lines(const ProfilerOverlay::Look& look) const;
  std::shared_ptr<const std::string> shown_;  // what lines_ are of
  std::vector<size_t> lines_;
};

}  // namespace warpchat::gui
