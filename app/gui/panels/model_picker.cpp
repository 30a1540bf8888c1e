// A choice takes effect at once: loads a model, or moves the loaded one to another device.
#include "app/gui/panels/model_picker.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "app/gui/panels/folder_view.h"
#include "app/gui/widgets/card.h"
#include "app/gui/widgets/numbers.h"
#include "app/model_choice/memory_room.h"
#include "app/model_choice/model_places.h"
#include "engine/remote/endpoint.h"
#include "models/human_bytes.h"
#include "models/text_format.h"

namespace warpchat::gui {

namespace {

using Kind = ModelChoice::Kind;

constexpr float kConnectRow = 38, kIndent = 26;
constexpr float kModelRow = 46, kModelHeading = 30, kDeviceRow = 36, kDeviceTitle = 26;  // at scale 1
constexpr float kMaxDeviceRows = 4;                                                      // the others are scrolled to
constexpr float kMinModels = 340;                                                        // with the field above them

struct FitsText {
  std::string_view text;
  Colour colour;
};

FitsText fits_text(FitsMemory fits, const Theme& theme) {
  return {word_of(fits), fits == FitsMemory::kYes ? theme.good : theme.error};
}

// Where a row is listed; rows come in this order.
enum class Section { kNone, kHere, kServers, kHub };

Section section_of(Kind kind) {
  if (kind == Kind::kFetch) return Section::kHub;
  return kind == Kind::kFile ? Section::kHere : Section::kServers;
}

std::string folder_list() {
  return word_list(model_places().folders, ", ",
                   [](const ModelFolder& folder) { return printable(in_short(folder.path), 200); });
}

}  // namespace

void ModelPicker::open(Frame& f) {
  is_open_ = appearing_ = true;
  connect_form_.close();
  endpoint_row_.cancel(f.ui);
  file_menu_.cancel(f.ui);
  device_.clear();
  field_.buffer.set("");
  const bool is_here = f.state.model && f.state.model->endpoint.empty();
  context_.buffer.set(is_here ? std::to_string(f.state.model->context) : "");
  folders_ = folder_list();
  f.actions.push(RefreshModels{});
  f.actions.push(SearchHub{});
  f.ui.set_focus("model_filter");
  chosen_request_ = 0;
  shows_hub_ = false;
  for (const ModelChoice& endpoint : f.state.endpoints)
    if (is_loaded(f.state, endpoint)) return ask(f, endpoint);
}

bool ModelPicker::close(Frame& f) {
  if (!is_open_) return false;
  if (connect_form_.close()) return f.ui.set_focus("model_filter"), true;
  if (!endpoint_row_.cancel(f.ui) && !file_menu_.cancel(f.ui)) is_open_ = false;
  return true;
}

void ModelPicker::toggle(Frame& f) {
  connect_form_.close();
  endpoint_row_.cancel(f.ui);
  is_open_ ? void(is_open_ = false) : open(f);
}

void ModelPicker::open_at_hub(Frame& f) {
  open(f);
  shows_hub_ = true;
}

void ModelPicker::open_connect_form(Frame& f) {
  open(f);
  connect_form_.open(f, "");
}

void ModelPicker::ask(Frame& f, const ModelChoice& endpoint) {
  shows_served_ = true;
  f.actions.push(
      ConnectServer{.endpoint = endpoint.path, .request = next_request(f.state), .stores = !endpoint.is_unsaved});
}

void ModelPicker::choose(Frame& f, const ModelChoice& model) {
  if (model.kind != Kind::kEndpoint) return load(f, model);
  if (is_server_address(model.path) && !model.is_unsaved) return connect_form_.open(f, model.path);
  chosen_request_ = next_request(f.state);
  ask(f, model);
}

void ModelPicker::follow_served(Frame& f) {
  const ServedModels& served = f.state.served;
  if (chosen_request_ == 0 || served.request != chosen_request_ || served.running) return;
  chosen_request_ = 0;
  const ModelChoice* server = stored_server(f.state);
  auto meant = server == nullptr ? served.models.end()
                                 : std::ranges::find(served.models, server->default_model, &ModelChoice::path);
  if (meant == served.models.end() && served.models.size() == 1) meant = served.models.begin();
  if (meant == served.models.end()) return;
  is_loaded(f.state, *meant) ? leave(f) : load(f, *meant);
}

void ModelPicker::load(Frame& f, const ModelChoice& model) {
  if (model.fits == FitsMemory::kUnsupported && model.kind != Kind::kFile) return;  // loading a file says why
  const std::string endpoint = model.kind == Kind::kServed ? f.state.served.endpoint : "";
  f.actions.push(LoadModel{.path = model.path, .endpoint = endpoint, .fetch = model.kind == Kind::kFetch});
  leave(f);
}

void ModelPicker::leave(Frame& f) {
  f.ui.set_focus("composer");
  is_open_ = false;
}

void ModelPicker::draw(Frame& f) {
  if (!is_open_) return;
  Ui& ui = f.ui;
  Card card(ui, {"model_picker", "Models", 660, 700, std::exchange(appearing_, false)});
  if (card.wants_close()) is_open_ = false;
  Rect content = card.content;
  follow_served(f);
  if (connect_form_.is_open()) {
    if (!connect_form_.draw(f, content)) return;
    chosen_request_ = f.state.served.request;  // its only model is loaded at once
    shows_served_ = true;
    return f.ui.set_focus("model_filter");
  }
  const Rect launch = content.cut_bottom(ui.px(44));
  const float room = content.height - ui.px(kMinModels + kDeviceTitle);
  const auto n_devices = std::ranges::count_if(f.state.devices, [&](const auto& device) { return shows(f, device); });
  const float rows = std::min({std::floor(room / ui.px(kDeviceRow)), static_cast<float>(n_devices), kMaxDeviceRows});
  const Rect devices = content.cut_bottom(rows >= 1 ? rows * ui.px(kDeviceRow) + ui.px(kDeviceTitle) : 0);
  content.cut_bottom(ui.px(10));
  const Rect field = content.cut_top(ui.px(36));
  content.cut_top(ui.px(8));
  devices_among_models_ = rows < 1;  // where there is room for one list alone
  draw_field_and_models(f, field, content);
  if (!devices_among_models_) draw_devices(f, devices);
  draw_launch_and_context(f, launch);
}

void ModelPicker::draw_field_and_models(Frame& f, Rect field, Rect list) {
  const ButtonLook browse{
      .text = "Open …", .icon = Icon::kFolder, .kind = ButtonKind::kOutlined, .tooltip = "A GGUF file (Ctrl+Alt+O)"};
  if (f.ui.button("model_open", field.cut_right(f.ui.button_width(browse)), browse)) {
    f.commands.push_back(Command::kOpenModelFile);
    is_open_ = false;
  }
  field.cut_right(f.ui.px(8));
  const FieldResult typed = field_.draw(
      f.ui, "model_filter", field,
      {.placeholder = "Search, or enter a file, org/repo or a server's address", .icon = Icon::kSearch, .text = 0.95f});
  const std::string& text = field_.text();
  if (typed.changed) f.actions.push(SearchHub{.words = hub_words(text)});
  const std::optional<ModelChoice> named = named_model(f.state, text);
  const std::vector<ModelRow> rows = model_rows(f.state, text, named);
  const ModelRow* row = text.empty() ? nullptr : row_for_enter(rows, text);
  draw_models(f, list, rows);
  if (!typed.submitted) return;
  if (row != nullptr) return choose(f, *row->model);
  f.actions.push(SearchHub{.words = hub_words(text), .now = true});
}

void ModelPicker::draw_models(Frame& f, Rect rect, const std::vector<ModelRow>& rows) {
  Ui& ui = f.ui;
  ScrollArea area("models", rect);
  float y = 0;
  const auto next_row = [&](float height) {
    const Rect row{rect.x, rect.y + y - area.scroll_y(), rect.width - ui.px(14), height};  // beside the scroll bar
    y += height;
    return row;
  };
  const auto draw_line = [&](const std::string& text, float indent = 0) {
    const TextLook look{ui.theme->dim_text, 0.85f};
    const float width = rect.width - ui.px(28 + indent);
    const float height = ui.paragraph({}, text, look, width, /*draw=*/false);
    const Rect row = next_row(height + ui.px(14)).inset(ui.px(10), ui.px(7));
    ui.paragraph({row.x + ui.px(indent), row.y}, text, look, width);
  };
  const bool has_hub_rows = std::ranges::any_of(
      rows, [](const ModelRow& row) { return row.widget != "model_named" && row.model->kind == Kind::kFetch; });
  const bool any_file = std::ranges::any_of(f.state.models, [](const ModelChoice& m) { return m.kind == Kind::kFile; });
  const auto draw_heading = [&](std::string_view text) {
    ui.heading_in(next_row(ui.px(kModelHeading)).inset(ui.px(10), 0), text);
  };
  auto section = Section::kNone;
  const auto go_to = [&](Section next) {
    if (section == Section::kNone && next == Section::kHere) draw_heading("On this machine");
    if (section < Section::kServers && next >= Section::kServers) {
      file_menu_.draw_add_folder(f, next_row(ui.px(kConnectRow)));
      draw_heading("Servers");
    }
    if (section <= Section::kServers && next > Section::kServers) draw_connect(f, next_row(ui.px(kConnectRow)));
    if (section < Section::kHub && next == Section::kHub && has_hub_rows) draw_heading("From the Hugging Face hub");
    if (next == Section::kHub && has_hub_rows && std::exchange(shows_hub_, false)) area.show(y, rect.height);
    section = next;
  };
  for (const ModelRow& row : rows) {
    if (row.widget != "model_named") go_to(section_of(row.model->kind));
    const bool is_asked = row.model->kind == Kind::kEndpoint && row.model->path == f.state.served.endpoint;
    if (is_asked && std::exchange(shows_served_, f.state.served.running))
      area.show(y, std::min(rect.height, ui.px(kModelRow) * static_cast<float>(f.state.served.models.size() + 1)));
    const Rect place = next_row(ui.px(kModelRow));
    if (area.sees(place.inset(0, -place.height))) draw_row(f, place, row);  // the next one can get the focus, too
    if (row.model->kind == Kind::kFile && file_menu_.shows_details_of(*row.model))
      draw_line(details_text(*row.model), kIndent);
    if (!is_asked) continue;
    if (f.state.served.running) draw_line("Asking " + row.model->name + " for its models …", kIndent);
    if (!f.state.served.fault.empty()) draw_line(full_sentence(f.state.served.fault), kIndent);
    if (f.state.served.needs_key) draw_enter_key(f, next_row(ui.px(kConnectRow)));
  }
  go_to(Section::kHub);
  const std::string line = hub_line(f.state, field_.text());
  if (!line.empty()) draw_line(full_sentence(line));
  if (!any_file && field_.text().empty())
    draw_line("No model found on this machine; searched " + folders_ + ". Open a GGUF file, or drop one here.");
  else if (rows.empty() && line.empty())
    draw_line("No model name has these words.");
  if (devices_among_models_) {
    draw_heading("Device");
    for (const DeviceLine& device : f.state.devices)
      if (shows(f, device)) draw_device(f, next_row(ui.px(kDeviceRow)), device);
  }
  area.set_content_height(y);
}

void ModelPicker::draw_row(Frame& f, Rect rect, const ModelRow& row) {
  const bool is_named = row.widget == "model_named";
  if (row.model->kind == Kind::kServed && !is_named) return draw_served(f, rect, row);
  if (row.model->kind != Kind::kEndpoint || is_named) return draw_model(f, rect, row);
  switch (endpoint_row_.draw(f, rect, *row.model)) {
    case EndpointRow::Wish::kUse:
      return choose(f, *row.model);
    case EndpointRow::Wish::kShowModels:
      chosen_request_ = 0;
      return ask(f, *row.model);
    case EndpointRow::Wish::kNone:
      return;
  }
}

void ModelPicker::draw_served(Frame& f, Rect rect, const ModelRow& row) {
  rect.cut_left(f.ui.px(kIndent));
  if (served_row_.draw(f, rect, row)) is_loaded(f.state, *row.model) ? leave(f) : load(f, *row.model);
}

void ModelPicker::draw_connect(Frame& f, Rect rect) {
  const ButtonLook look{.text = "Connect to a server …", .icon = Icon::kPlus, .left_aligned = true};
  if (f.ui.button("connect_server", {rect.x, rect.y, f.ui.button_width(look), rect.height}, look))
    connect_form_.open(f, "");
}

void ModelPicker::draw_enter_key(Frame& f, Rect rect) {
  const ButtonLook look{.text = "Enter the API key", .kind = ButtonKind::kOutlined};
  rect.cut_left(f.ui.px(10 + kIndent));
  if (f.ui.button("endpoint_enter_key", Rect(rect.cut_left(f.ui.button_width(look))).in_middle(f.ui.px(30)), look))
    endpoint_row_.enter_key(f, f.state.served.endpoint);
}

void ModelPicker::draw_model(Frame& f, Rect rect, const ModelRow& row) {
  Ui& ui = f.ui;
  const ModelChoice& model = *row.model;
  const bool is_file = model.kind == Kind::kFile && row.widget != "model_named";
  if (is_file) {
    const std::optional<Rect> left = file_menu_.draw(f, rect, model);
    if (!left) return;
    rect = *left;
  }
  if (model.kind == Kind::kServed) rect.cut_left(ui.px(kIndent));
  const Response r = ui.press(row.widget, rect);
  const bool loaded = is_loaded(f.state, model);
  if (r.hovered || r.focused) ui.fill(rect, ui.theme->hover, ui.px(8));
  if (r.focused) ui.focus_ring(rect, ui.px(8));
  Rect inner = rect.inset(ui.px(10), 0);
  const Rect tick = inner.cut_left(ui.px(26));
  if (loaded) ui.icon(Icon::kCheck, {tick.x, tick.y, ui.px(18), tick.height}, ui.theme->accent);
  const std::string about = about_and_why(model);
  if (!about.empty()) {
    ui.label_in(inner.cut_bottom(inner.height * 0.46f), about, {ui.theme->dim_text, 0.8f});
    inner.cut_top(ui.px(4));
  }
  if (model.kind == Kind::kFile || model.kind == Kind::kFetch) draw_size(f, inner, model);
  ui.label_in(inner, model.name, {ui.theme->text, 0.95f, loaded ? Face::kBold : Face::kText});
  if (is_file) file_menu_.follow_press(f, model, r);
  if (r.clicked) loaded ? leave(f) : choose(f, model);
}

void ModelPicker::draw_size(Frame& f, Rect& inner, const ModelChoice& model) {
  Ui& ui = f.ui;
  const FitsText fits = fits_text(model.fits, *ui.theme);
  ui.label_in(inner.cut_right(ui.px(66)), fits.text, {fits.colour, 0.82f}, 1);
  if (model.bytes > 0)
    ui.label_in(inner.cut_right(ui.px(66)), human_bytes(model.bytes), {ui.theme->dim_text, 0.88f}, 1);
  const bool is_here = model.kind == Kind::kFile;
  if (is_here ? !model.quantisation.empty() : model.fits != FitsMemory::kUnsupported) {
    const Rect chip = inner.cut_right(ui.px(64)).in_middle(ui.px(22));
    ui.fill(chip, is_here ? ui.theme->raised : with_alpha(ui.theme->accent, 0.14f), ui.px(6));
    ui.label_in(chip, is_here ? model.quantisation : "Fetch", {is_here ? ui.theme->dim_text : ui.theme->text, 0.78f},
                0.5f);
  }
  inner.cut_right(ui.px(8));
}

bool ModelPicker::shows(const Frame& f, const DeviceLine& device) const {
  constexpr std::string_view kEmulator = "emulator";
  const bool runs_there = f.state.model && f.state.model->device.starts_with(kEmulator);
  return shows_emulators || runs_there || !device.name.starts_with(kEmulator);
}

void ModelPicker::draw_devices(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  ui.heading_in(rect.cut_top(ui.px(kDeviceTitle)), "Device");
  ScrollArea area("devices", rect);
  float y = 0;
  for (const DeviceLine& device : f.state.devices) {
    if (!shows(f, device)) continue;
    draw_device(f, {rect.x, rect.y + y - area.scroll_y(), rect.width - ui.px(10), ui.px(kDeviceRow)}, device);
    y += ui.px(kDeviceRow);
  }
  area.set_content_height(y);
}

void ModelPicker::draw_device(Frame& f, Rect row, const DeviceLine& device) {
  Ui& ui = f.ui;
  constexpr ButtonLook kLoad{.text = "Use this device", .kind = ButtonKind::kPrimary};
  row.cut_bottom(ui.px(4));
  row = row.inset(1);
  const bool on = f.state.model && f.state.model->device == device.name;
  const bool asks = device_ == device.name && !on && f.state.model;
  Rect place = row;
  if (asks) place.cut_right(ui.px(6));
  const Rect sure = asks ? place.cut_right(ui.button_width(kLoad)) : Rect{};
  const Response r = ui.press("device:" + device.name, place, device.usable ? Keys::kActivate : Keys::kNone);
  if (on) ui.fill(row, with_alpha(ui.theme->accent, 0.14f), ui.px(8));
  ui.outline(row, on ? with_alpha(ui.theme->accent, 0.6f) : ui.theme->border, ui.px(8));
  if (device.usable && r.hovered) ui.fill(row, ui.theme->hover, ui.px(8));
  if (r.focused) ui.focus_ring(row, ui.px(8));
  Rect inner = row.inset(ui.px(12), 0);
  if (sure.width > 0 && ui.button("device_load", sure.in_middle(row.height - ui.px(6)), kLoad))
    f.actions.push(LoadModel{.device = device.name}), device_.clear();
  inner.width -= sure.width;
  const Colour colour = device.usable ? ui.theme->text : ui.theme->faint_text;
  const TextLook name{colour, 0.9f, Face::kBold};
  const float name_width = std::max(ui.px(130), ui.text_width(device.name, name) + ui.px(16));
  ui.label_in(inner.cut_left(name_width), device.name, name);
  if (ui.text_width(device.text, {colour, 0.85f}) > inner.width) ui.tooltip(device.text, r);
  ui.label_in(inner, device.text, {device.usable ? ui.theme->dim_text : ui.theme->faint_text, 0.85f});
  if (r.clicked && device.usable && !on) device_ = device.name;
}

void ModelPicker::draw_launch_and_context(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  rect.cut_top(ui.px(8));
  rect = rect.in_middle(ui.px(34));
  if (f.state.model && !f.state.model->endpoint.empty())
    return void(ui.label_in(rect, "The server chooses its own device and context", {ui.theme->faint_text, 0.82f}));
  const Rect field = rect.cut_right(ui.px(96));
  ui.label_in(rect.cut_right(ui.px(84)).inset(ui.px(8), 0), "Context", {ui.theme->dim_text, 0.85f, Face::kBold}, 1);
  const FieldResult context = context_.draw(ui, "model_context", field, {.placeholder = "automatic", .text = 0.9f});
  if (context.submitted) {
    int32_t n = -1;
    const std::string& text = context_.text();
    std::from_chars(text.data(), text.data() + text.size(), n);
    f.actions.push(LoadModel{.context = n});
  }
  if (!f.state.model || f.state.model->launch.empty()) {
    ui.label_in(rect, "Context size: type a number, then Enter", {ui.theme->faint_text, 0.82f});
    return;
  }
  ui.heading_in(rect.cut_left(ui.px(62)), "Launch");
  draw_launch(f, rect);
}

// Where there is no room for all modes, the chosen one is a button that leads to the next.
void ModelPicker::draw_launch(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  static constexpr std::string_view kModes[] = {"auto", "stream", "graph", "persistent"};
  float width = 0;
  for (const std::string_view mode : kModes) width += ui.button_width({.text = mode}) + ui.px(6);
  const bool fits = width <= rect.width;
  for (size_t i = 0; i < std::size(kModes); ++i) {
    const bool is_chosen = f.state.model->launch == kModes[i];
    if (!fits && !is_chosen) continue;
    const ButtonLook look{.text = kModes[i],
                          .kind = is_chosen ? ButtonKind::kChosen : ButtonKind::kOutlined,
                          .tooltip = fits ? "" : "Next launch mode"};
    if (ui.button("launch:" + std::string(kModes[i]), rect.cut_left(std::min(ui.button_width(look), rect.width)), look))
      f.actions.push(LoadModel{.launch = std::string(fits ? kModes[i] : kModes[(i + 1) % std::size(kModes)])});
    rect.cut_left(ui.px(6));
  }
}

}  // namespace warpchat::gui
