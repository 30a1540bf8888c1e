// The models' panel: local models, servers with their models, search results of the hub, other names; device, launch
// mode and context.
#pragma once
#include <string>
#include <vector>

#include "app/gui/panels/connect_form.h"
#include "app/gui/panels/endpoint_row.h"
#include "app/gui/panels/file_menu.h"
#include "app/gui/panels/model_rows.h"
#include "app/gui/panels/served_row.h"
#include "app/gui/panels/shortcuts.h"
#include "app/gui/widgets/text_field.h"

namespace warpchat::gui {

class ModelPicker {
 public:
  void open(Frame& f);
  bool is_open() const { return is_open_; }
  bool close(Frame& f);   // what is in front; whether there was anything
  void toggle(Frame& f);  // opens it, or closes all of it
  void open_at_hub(Frame& f);
  void open_connect_form(Frame& f);
  bool rename_focused(Frame& f) { return is_open_ && endpoint_row_.rename_focused(f); }
  void draw(Frame& f);
  bool shows_emulators = false;  // among the devices, for kernel developers

 private:
  bool shows(const Frame& f, const DeviceLine& device) const;
  void draw_field_and_models(Frame& f, Rect field, Rect list);
  void draw_models(Frame& f, Rect rect, const std::vector<ModelRow>& rows);
  void draw_row(Frame& f, Rect rect, const ModelRow& row);
  void draw_model(Frame& f, Rect rect, const ModelRow& row);
  void draw_served(Frame& f, Rect rect, const ModelRow& row);
  void draw_connect(Frame& f, Rect rect);
  void draw_enter_key(Frame& f, Rect rect);
  void draw_devices(Frame& f, Rect rect);
  void draw_device(Frame& f, Rect row, const DeviceLine& device);
  void draw_launch_and_context(Frame& f, Rect rect);
  static void draw_launch(Frame& f, Rect rect);
  void draw_size(Frame& f, Rect& inner, const ModelChoice& model);
  void choose(Frame& f, const ModelChoice& model);  // a server is asked for its models
  void load(Frame& f, const ModelChoice& model);
  void leave(Frame& f);
  void ask(Frame& f, const ModelChoice& endpoint);
  void follow_served(Frame& f);

  bool is_open_ = false, appearing_ = false;
  bool devices_among_models_ = false;  // there is no room for a list of their own
  std::string folders_;                // that are searched for models
  TextField field_, context_;
  ConnectForm connect_form_;
  EndpointRow endpoint_row_;
  ServedRow served_row_;
  FileMenu file_menu_;
  uint64_t chosen_request_ = 0;  // of a server that was chosen: its default or only model is loaded; 0: none
  bool shows_served_ = false;    // the list scrolls to the server that was asked
  bool shows_hub_ = false;       // the list scrolls to the models of the hub once they are known
  std::string device_;           // the selected device; a button moves the model there
};

}  // namespace warpchat::gui
