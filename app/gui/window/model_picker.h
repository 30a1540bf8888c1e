// Models that were found, endpoints with a name, what the hub has; anything else by its name; where and how to run
// them.
#pragma once
#include <string>
#include <vector>

#include "app/gui/window/model_rows.h"
#include "app/gui/window/shortcuts.h"
#include "app/gui/window/text_field.h"

namespace warpchat::gui {

class ModelPicker {
 public:
  void open(Frame& f);
  bool is_open() const { return is_open_; }
  bool close() { return std::exchange(is_open_, false); }
  void draw(Frame& f);
  bool shows_emulators = false;  // among the devices, for those who write kernels

 private:
  bool shows(const Frame& f, const DeviceChoiceRow& device) const;
  void draw_field_and_models(Frame& f, Rect field, Rect list);
  bool draw_key(Frame& f, Rect& list, const ModelChoice& endpoint);
  void draw_models(Frame& f, Rect rect, const std::vector<ModelRow>& rows);
  void draw_model(Frame& f, Rect rect, const ModelRow& row);
  void draw_devices(Frame& f, Rect rect);
  void draw_device(Frame& f, Rect row, const DeviceChoiceRow& device);
  void draw_launch_and_context(Frame& f, Rect rect);
  void draw_size(Frame& f, Rect& inner, const ModelChoice& model);
  void load(Frame& f, const ModelChoice& model);

  bool is_open_ = false, appearing_ = false;
  bool devices_among_models_ = false;  // there is no room for a list of their own
  std::string folders_;                // that are searched for models
  TextField field_, context_, key_;
  std::string key_of_;  // the endpoint that key_ is meant for, and goes to alone
  std::string device_;  // that was pointed at: a second button moves the model there
};

}  // namespace warpchat::gui
