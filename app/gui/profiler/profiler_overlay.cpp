// Toolbar, the line that says why, the tokens, and a panel of three.
#include "app/gui/profiler/profiler_overlay.h"

#include <cstdlib>

#include <imgui/imgui.h>
#include <imgui/imgui_stdlib.h>

#include "app/gui/profiler/endpoint_panel.h"
#include "app/gui/profiler/kernels_panel.h"
#include "app/gui/profiler/memory_panel.h"
#include "app/gui/profiler/panel_parts.h"
#include "app/gui/profiler/timeline_panel.h"
#include "app/gui/profiler/token_strip.h"
#include "app/gui/profiler/why_this_speed.h"

namespace warpchat::gui {

namespace {

std::string default_export_path() {
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr ? home : ".") + "/warpchat-profile.json";
}

}  // namespace

struct ProfilerOverlay::Parts {
  enum class Panel { kKernels, kTimeline, kMemory };

  Panel panel = Panel::kKernels;
  std::shared_ptr<const ProfilerData> paused;  // what is shown while it is not null
  std::optional<std::string> export_path;      // while it is asked for
  bool export_begins = false;                  // the field is to get the keyboard
  TokenStrip strip;
  KernelsPanel kernels;
  TimelinePanel timeline;

  bool toolbar(const DeskState& state, const ProfilerData& data, const Look& look);
  void toggle_pause(const DeskState& state) { paused = paused ? nullptr : state.profile; }
  void export_row(const Look& look, Actions& actions);
  void choose_panel(const Look& look);
  void draw_endpoint(const DeskState& state, std::optional<TokenPlace> hovered, const EndpointProfile& profile,
                     const Look& look);
  std::optional<uint64_t> marked_token(const DeskState& state, std::optional<TokenPlace> hovered) const;
};

ProfilerOverlay::ProfilerOverlay() : parts_(std::make_unique<Parts>()) {}
ProfilerOverlay::~ProfilerOverlay() = default;

void ProfilerOverlay::set_open(bool open, Actions& actions) {
  if (open == is_open_) return;
  is_open_ = open;
  parts_->paused = nullptr;
  parts_->export_path.reset();
  parts_->strip = TokenStrip();
  actions.push(WatchProfile{open});
}

std::optional<TokenPlace> ProfilerOverlay::hovered_token() const { return parts_->strip.hovered_token(); }
bool ProfilerOverlay::is_paused() const { return parts_->paused != nullptr; }

// Returns whether the overlay is to be closed.
bool ProfilerOverlay::Parts::toolbar(const DeskState& state, const ProfilerData& data, const Look& look) {
  const Theme& theme = look.theme;
  const char* const pause = paused ? "Resume" : "Pause";
  const float gap = ImGui::GetStyle().ItemSpacing.x, padding = 2 * ImGui::GetStyle().FramePadding.x;
  const bool exports = !data.endpoint;
  const auto button = [&](const char* text) { return text_width(text) + padding + gap; };
  const float buttons = button(pause) + (exports ? button("Export") : 0) + button("Close");
  ImGui::TextUnformatted("Profiler");
  ImGui::SameLine();
  const float room = ImGui::GetContentRegionMax().x - ImGui::GetCursorPosX() - buttons;
  const std::string device = paused ? "paused \u00b7 " + data.device : data.device;
  text_in(paused ? theme.warning : theme.dim_text, shortened_to(device, room));
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", device.c_str());
  ImGui::SameLine(ImGui::GetContentRegionMax().x - buttons + gap);
  if (choice(pause, paused != nullptr, theme)) toggle_pause(state);
  if (exports) ImGui::SameLine();
  if (exports && choice("Export", export_path.has_value(), theme)) {
    export_path = export_path ? std::nullopt : std::optional(default_export_path());
    export_begins = true;
  }
  ImGui::SameLine();
  return choice("Close", false, theme);
}

void ProfilerOverlay::Parts::export_row(const Look& look, Actions& actions) {
  if (!export_path) return;
  const float button = text_width("Save") + 4 * ImGui::GetStyle().FramePadding.x;
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - button);
  if (std::exchange(export_begins, false)) ImGui::SetKeyboardFocusHere();
  bool save = ImGui::InputText("##path", &*export_path, ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::SameLine();
  save |= ImGui::Button("Save");
  text_in(look.theme.faint_text, "A trace for Perfetto; beside it a summary, with .md behind its name.");
  if (!save || export_path->empty()) return;
  actions.push(ExportProfile{*export_path});
  export_path.reset();
}

void ProfilerOverlay::Parts::choose_panel(const Look& look) {
  const std::pair<Panel, const char*> panels[] = {
      {Panel::kKernels, "Kernels"}, {Panel::kTimeline, "Timeline"}, {Panel::kMemory, "Memory"}};
  for (const auto& [which, text] : panels) {
    if (which != Panel::kKernels) ImGui::SameLine();
    if (choice(text, panel == which, look.theme)) panel = which;
  }
  if (panel != Panel::kKernels) return;
  ImGui::SameLine(0, look.sizes.width(24));
  kernels.choose_rows(look);
}

// The token that is pointed at, in the transcript or in the strip, by its number in the profile's answer; none if it is
// of another answer.
std::optional<uint64_t> ProfilerOverlay::Parts::marked_token(const DeskState& state,
                                                             std::optional<TokenPlace> hovered) const {
  const std::optional<TokenPlace> place = hovered ? hovered : strip.hovered_token();
  const ChatMessage* last = strip_message(state, std::nullopt);
  if (!place || last == nullptr || place->message != last->key) return std::nullopt;
  return place->token;
}

// Another machine's: how its tokens came, and what it tells of itself. There are no kernels here.
void ProfilerOverlay::Parts::draw_endpoint(const DeskState& state, std::optional<TokenPlace> hovered,
                                           const EndpointProfile& profile, const Look& look) {
  const ChatMessage* message = strip_message(state, hovered);
  if (message != nullptr) draw_pace(*message, look);
  strip.draw(state, hovered, look);
  if (message != nullptr) draw_gaps(*message, look);
  draw_load(profile, look);
}

void ProfilerOverlay::draw(const DeskState& state, std::optional<TokenPlace> hovered, const Look& look,
                           Actions& actions) {
  Parts& p = *parts_;
  const std::shared_ptr<const ProfilerData> data = p.paused ? p.paused : state.profile;
  if (p.toolbar(state, *data, look)) set_open(false, actions);
  if (data->endpoint) return p.draw_endpoint(state, hovered, *data->endpoint, look);
  p.export_row(look, actions);
  if (const std::string why = why_this_speed(*data); !why.empty()) wrapped_text_in(look.theme.text, why);
  p.strip.draw(state, hovered, look);
  p.choose_panel(look);
  if (p.panel == Parts::Panel::kMemory) return draw_memory_panel(*data, look);
  if (data->n_passes == 0) return centred_note(look.sizes, look.theme.dim_text, "No token measured yet");
  if (p.panel == Parts::Panel::kTimeline) return p.timeline.draw(data, p.marked_token(state, hovered), look);
  p.kernels.draw(data, look);
}

}  // namespace warpchat::gui
