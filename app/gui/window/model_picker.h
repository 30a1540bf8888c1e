// The models' panel: local models, named endpoints, search results of the hub, other names; device, launch mode and
// context.
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
  bool shows_emulators = false;  // among the devices, for kernel developers

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
  std::string key_of_;  // the endpoint that key_ belongs to; it is sent to no other
  std::string device_;  // the selected device; a button moves the model there
};

}  // namespace warpchat::gui
