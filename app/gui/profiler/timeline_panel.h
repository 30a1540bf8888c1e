// The last tokens on a time line: calls as a whole, and below them what each multiprocessor did.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "app/gui/profiler/profiler_overlay.h"
#include "app/gui/profiler/timeline.h"

struct ImDrawList;
struct ImVec2;

namespace warpchat::gui {

class TimelinePanel {
 public:
  // Fills the content region. token: to be marked, by its number in the answer.
  void draw(const std::shared_ptr<const ProfilerData>& data, std::optional<uint64_t> token,
            const ProfilerOverlay::Look& look);

 private:
  struct Canvas;
  void set_data(const std::shared_ptr<const ProfilerData>& data, bool dark);
  void steer(const Canvas& canvas, TimeView whole);
  void draw_axis(const Canvas& canvas) const;
  void draw_tokens(const Canvas& canvas, std::optional<uint64_t> token) const;
  void draw_lanes(const Canvas& canvas);
  float draw_wait(const Canvas& canvas, const TraceSpan& span, ImVec2 from, ImVec2 to) const;
  void draw_label(const Canvas& canvas, uint32_t operation, ImVec2 from, ImVec2 to) const;
  const std::vector<TimelineBar>& bars_of(size_t lane, float pixels);
  void show_hovered(const Canvas& canvas) const;

  std::shared_ptr<const ProfilerData> shown_;  // what lanes_ are of
  std::vector<TimelineLane> lanes_;
  std::vector<Colour> colours_;
  TimeView view_;
  bool follows_ = true;  // the newest tokens
  float scroll_ = 0;     // pixels of lanes above the canvas
  // Cached while nothing changes, so that the cost of a frame depends on what is visible.
  std::vector<std::optional<std::vector<TimelineBar>>> bars_;
  TimeView bars_view_;
  float bars_pixels_ = 0;
};

}  // namespace warpchat::gui
