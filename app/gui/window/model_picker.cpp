// What is chosen happens at once: a model is loaded, the loaded one moves to another device.
#include "app/gui/window/model_picker.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "app/endpoint_choice.h"
#include "app/gui/window/card.h"
#include "app/gui/window/numbers.h"
#include "app/gui/window/path_prompt.h"
#include "app/model_loading.h"

namespace warpchat::gui {

namespace {

constexpr float kModelRow = 46, kModelHeading = 30, kDeviceRow = 36, kDeviceTitle = 26;  // at scale 1
constexpr float kLeastModels = 380;                                                      // with the fields around them

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

struct FitsText {
  std::string_view text;
  Colour colour;
};

FitsText fits_text(FitsMemory fits, const Theme& theme) {
  if (fits == FitsMemory::kYes) return {"fits", theme.good};
  if (fits == FitsMemory::kNo) return {"too large", theme.error};
  return {"", theme.dim_text};
}

std::string_view heading_of(ModelChoice::Kind kind) {
  return kind == ModelChoice::Kind::kEndpoint ? "Other machines" : "From the Hugging Face hub (sizes are approximate)";
}

}  // namespace

bool matches_filter(std::string_view name, std::string_view filter) {
  const std::string low = lower(name);
  std::istringstream words(lower(filter));
  for (std::string word; words >> word;)
    if (low.find(word) == std::string::npos) return false;
  return true;
}

void ModelPicker::open(Frame& f) {
  is_open_ = appearing_ = true;
  filter_.buffer.set("");
  context_.buffer.set(f.state.model ? std::to_string(f.state.model->context) : "");
  f.actions.push(RefreshModels{});
  f.ui.set_focus("model_filter");
}

void ModelPicker::choose(Frame& f, const LoadModel& wish) {
  f.actions.push(wish);
  f.ui.set_focus("composer");
  is_open_ = false;
}

// A file, a part of a model's name, a hub's model or an endpoint's address.
void ModelPicker::load_named(Frame& f, const std::string& text) {
  if (is_endpoint(text)) return choose(f, {.endpoint = text});
  const char* home = std::getenv("HOME");
  choose(f, {.path = with_home(text, home ? home : ""), .fetch = true});
}

void ModelPicker::load(Frame& f, const ModelChoice& model) {
  if (model.kind == ModelChoice::Kind::kEndpoint) return choose(f, {.endpoint = model.path});
  choose(f, {.path = model.path, .fetch = model.kind == ModelChoice::Kind::kFetch});
}

void ModelPicker::draw(Frame& f) {
  if (!is_open_) return;
  Ui& ui = f.ui;
  Card card(ui, {"model_picker", "Models", 660, 700, std::exchange(appearing_, false)});
  if (card.wants_close()) is_open_ = false;
  Rect content = card.content;
  const Rect launch = content.cut_bottom(ui.px(44));
  const float room = content.height - ui.px(kLeastModels + kDeviceTitle);
  const float rows = std::min(std::floor(room / ui.px(kDeviceRow)), static_cast<float>(f.state.devices.size()));
  const Rect devices = content.cut_bottom(rows >= 1 ? rows * ui.px(kDeviceRow) + ui.px(kDeviceTitle) : 0);
  content.cut_bottom(ui.px(10));
  const Rect path = content.cut_bottom(ui.px(36));
  content.cut_bottom(ui.px(10));
  draw_filter(f, content.cut_top(ui.px(36)));
  content.cut_top(ui.px(8));
  draw_models(f, content);
  draw_path(f, path);
  if (rows >= 1) draw_devices(f, devices);
  draw_launch_and_context(f, launch);
}

void ModelPicker::draw_filter(Frame& f, Rect rect) {
  const FieldResult filter =
      filter_.draw(f.ui, "model_filter", rect, {.placeholder = "Filter models", .icon = Icon::kSearch, .text = 0.95f});
  if (!filter.submitted) return;
  const auto first = std::find_if(f.state.models.begin(), f.state.models.end(),
                                  [&](const ModelChoice& model) { return matches_filter(model.name, filter_.text()); });
  const bool is_here = first != f.state.models.end() && first->kind != ModelChoice::Kind::kFetch;
  if (is_here) load(f, *first);
}

void ModelPicker::draw_models(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  std::vector<size_t> shown;
  for (size_t i = 0; i < f.state.models.size(); ++i)
    if (matches_filter(f.state.models[i].name + " " + f.state.models[i].quantisation, filter_.text()))
      shown.push_back(i);
  if (shown.empty()) {
    ui.paragraph({rect.x + ui.px(4), rect.y + ui.px(12)}, "No model's name has these words.",
                 {ui.theme->dim_text, 0.92f}, rect.width - ui.px(8));
    return;
  }
  ScrollArea area("models", rect);
  float y = 0;
  const auto next_row = [&](float height) {
    const Rect row{rect.x, rect.y + y - area.scroll_y(), rect.width - ui.px(8), ui.px(height)};
    y += ui.px(height);
    return row;
  };
  auto kind = ModelChoice::Kind::kFile;
  for (const size_t i : shown) {
    const ModelChoice& model = f.state.models[i];
    if (model.kind != kind)
      ui.label_in(next_row(kModelHeading).inset(ui.px(10), 0), heading_of(kind = model.kind),
                  {ui.theme->dim_text, 0.85f, Face::kBold});
    draw_model(f, next_row(kModelRow), model, i);
  }
  area.set_content_height(y);
}

void ModelPicker::draw_model(Frame& f, Rect rect, const ModelChoice& model, size_t index) {
  Ui& ui = f.ui;
  using Kind = ModelChoice::Kind;
  const Response r = ui.press("model:" + std::to_string(index), rect);
  const std::optional<LoadedModel>& now = f.state.model;
  const bool loaded = now && (model.kind == Kind::kEndpoint ? now->endpoint == model.about : now->path == model.path);
  if (r.hovered || r.focused) ui.fill(rect, ui.theme->hover, ui.px(8));
  if (r.focused) ui.focus_ring(rect, ui.px(8));
  Rect inner = rect.inset(ui.px(10), 0);
  const Rect tick = inner.cut_left(ui.px(26));
  if (loaded) ui.icon(Icon::kCheck, {tick.x, tick.y, ui.px(18), tick.height}, ui.theme->accent);
  if (model.kind != Kind::kEndpoint) draw_size(f, inner, model);
  if (!model.about.empty()) {
    ui.label_in(inner.cut_bottom(inner.height * 0.46f), model.about, {ui.theme->dim_text, 0.8f});
    inner.cut_top(ui.px(4));
  }
  ui.label_in(inner, model.name, {ui.theme->text, 0.95f, loaded ? Face::kBold : Face::kText});
  if (r.clicked) load(f, model);
}

void ModelPicker::draw_size(Frame& f, Rect& inner, const ModelChoice& model) {
  Ui& ui = f.ui;
  const FitsText fits = fits_text(model.fits, *ui.theme);
  ui.label_in(inner.cut_right(ui.px(76)), fits.text, {fits.colour, 0.82f}, 1);
  ui.label_in(inner.cut_right(ui.px(74)), human_bytes(model.bytes), {ui.theme->dim_text, 0.88f}, 1);
  const bool is_here = model.kind == ModelChoice::Kind::kFile;
  if (!is_here || !model.quantisation.empty()) {
    const Rect chip = inner.cut_right(ui.px(78)).in_middle(ui.px(22));
    ui.fill(chip, is_here ? ui.theme->raised : with_alpha(ui.theme->accent, 0.14f), ui.px(6));
    ui.label_in(chip, is_here ? model.quantisation : "Fetch", {is_here ? ui.theme->dim_text : ui.theme->text, 0.78f},
                0.5f);
  }
  inner.cut_right(ui.px(8));
}

void ModelPicker::draw_path(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  const ButtonLook look{.text = "Load", .kind = ButtonKind::kOutlined, .enabled = !path_.text().empty()};
  const Rect button = rect.cut_right(ui.button_width(look));
  rect.cut_right(ui.px(8));
  const FieldResult field = path_.draw(ui, "model_path", rect,
                                       {.placeholder = "A GGUF file, org/repo of the hub, or an endpoint's address",
                                        .icon = Icon::kFile,
                                        .text = 0.95f});
  const bool go = ui.button("model_path_load", button, look);
  if ((go || field.submitted) && !path_.text().empty()) load_named(f, path_.text());
}

void ModelPicker::draw_devices(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  ui.label_in(rect.cut_top(ui.px(kDeviceTitle)), "Device", {ui.theme->dim_text, 0.85f, Face::kBold});
  ScrollArea area("devices", rect);
  float y = 0;
  for (const DeviceChoiceRow& device : f.state.devices) {
    Rect row{rect.x, rect.y + y - area.scroll_y(), rect.width - ui.px(8), ui.px(kDeviceRow - 4)};
    y += ui.px(kDeviceRow);
    const bool on = f.state.model && f.state.model->device == device.name;
    const Response r = ui.press("device:" + device.name, row, device.usable ? Keys::kActivate : Keys::kNone);
    if (on) ui.fill(row, with_alpha(ui.theme->accent, 0.14f), ui.px(8));
    ui.outline(row, on ? with_alpha(ui.theme->accent, 0.6f) : ui.theme->border, ui.px(8));
    if (device.usable && r.hovered) ui.fill(row, ui.theme->hover, ui.px(8));
    if (r.focused) ui.focus_ring(row, ui.px(8));
    Rect inner = row.inset(ui.px(12), 0);
    const Colour colour = device.usable ? ui.theme->text : ui.theme->faint_text;
    ui.label_in(inner.cut_left(ui.px(130)), device.name, {colour, 0.9f, Face::kBold});
    ui.label_in(inner, device.text, {device.usable ? ui.theme->dim_text : ui.theme->faint_text, 0.85f});
    if (r.clicked && device.usable && !on) f.actions.push(LoadModel{.device = device.name});
  }
  area.set_content_height(y);
}

void ModelPicker::draw_launch_and_context(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  rect.cut_top(ui.px(8));
  rect = rect.in_middle(ui.px(34));
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
    ui.label_in(rect, "Enter a context and press Enter", {ui.theme->faint_text, 0.82f});
    return;
  }
  ui.label_in(rect.cut_left(ui.px(62)), "Launch", {ui.theme->dim_text, 0.85f, Face::kBold});
  for (const std::string_view mode : {"auto", "stream", "graph", "persistent"}) {
    const ButtonLook look{.text = mode,
                          .kind = f.state.model->launch == mode ? ButtonKind::kChosen : ButtonKind::kOutlined};
    if (rect.width < ui.button_width(look)) return;
    if (ui.button("launch:" + std::string(mode), rect.cut_left(ui.button_width(look)), look))
      f.actions.push(LoadModel{.launch = std::string(mode)});
    rect.cut_left(ui.px(6));
  }
}

}  // namespace warpchat::gui
