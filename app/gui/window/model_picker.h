// Models that were found, endpoints with a name, what can be fetched; anything else by its name; where and how to run
// them.
#pragma once
#include <string>
#include <vector>

#include "app/gui/window/shortcuts.h"
#include "app/gui/window/text_field.h"

namespace warpchat::gui {

class ModelPicker {
 public:
  void open(Frame& f);
  bool is_open() const { return is_open_; }
  bool close() { return std::exchange(is_open_, false); }
  void draw(Frame& f);

 private:
  void draw_filter(Frame& f, Rect rect);
  void draw_models(Frame& f, Rect rect);
  void draw_model(Frame& f, Rect rect, const ModelChoice& model, size_t index);
  void draw_path(Frame& f, Rect rect);
  void draw_devices(Frame& f, Rect rect);
  void draw_launch_and_context(Frame& f, Rect rect);
  void draw_size(Frame& f, Rect& inner, const ModelChoice& model);
  void load(Frame& f, const ModelChoice& model);
  void load_named(Frame& f, const std::string& text);
  void choose(Frame& f, const LoadModel& wish);

  bool is_open_ = false, appearing_ = false;
  TextField filter_, path_, context_;
};

// Whether every word of the filter is in the name, without regard to case.
bool matches_filter(std::string_view name, std::string_view filter);

}  // namespace warpchat::gui
