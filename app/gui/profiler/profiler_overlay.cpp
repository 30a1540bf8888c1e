// Toolbar, the line that says why, the tokens, and one of the panels.
#include "app/gui/profiler/profiler_overlay.h"

#include <cstdlib>
#include <span>

#include <imgui/imgui.h>
#include <imgui/imgui_stdlib.h>

#include "app/gui/profiler/compare_panel.h"
#include "app/gui/profiler/kernels_panel.h"
#include "app/gui/profiler/machine_panels.h"
#include "app/gui/profiler/panel_parts.h"
#include "app/gui/profiler/timeline_panel.h"
#include "app/gui/profiler/token_strip.h"
#include "app/gui/profiler/why_this_speed.h"
#include "app/platform/directories.h"

namespace warpchat::gui {

namespace {

constexpr float kMinWithStrip = 200;  // pixels at scale 1; with less, the strip would leave nothing for the panel
constexpr float kMinDevice = 12;      // digits

std::string default_export_path() { return find_home().value_or(".") + "/warpchat-profile.json"; }

}  // namespace

struct ProfilerOverlay::Parts {
  enum class Panel { kKernels, kTimeline, kMemory, kCompare };

  Panel panel = Panel::kKernels;
  std::shared_ptr<const ProfilerData> paused;  // what is shown while it is not null
  std::optional<std::string> export_path;      // while it is asked for
  bool export_begins = false;                  // the field is to get the keyboard
  TokenStrip strip;
  KernelsPanel kernels;
  std::vector<Mark> marks;
  TimelinePanel timeline;
  ComparePanel compare;

  bool toolbar(const ChatState& state, const ProfilerData& data, const Look& look);
  void toggle_pause(const ChatState& state) { paused = paused ? nullptr : state.profile; }
  void export_row(const Look& look, Actions& actions);
  void choose_panel(bool of_endpoint, const Look& look);
  bool marked_choice(const char* name, const char* text, bool chosen, const Look& look);
  void draw_endpoint(const ChatState& state, std::optional<TokenPlace> hovered, const EndpointProfile& profile,
                     const Look& look);
  std::optional<uint64_t> marked_token(const ChatState& state, std::optional<TokenPlace> hovered) const;
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
const std::vector<ProfilerOverlay::Mark>& ProfilerOverlay::marks() const { return parts_->marks; }

// The toolbar: panels, device, actions; on two lines if one is too short. Nothing moves when numbers change. Returns
// whether the overlay is to be closed.
bool ProfilerOverlay::Parts::toolbar(const ChatState& state, const ProfilerData& data, const Look& look) {
  const Theme& theme = look.theme;
  choose_panel(data.endpoint.has_value(), look);
  const float gap = ImGui::GetStyle().ItemSpacing.x, padding = 2 * ImGui::GetStyle().FramePadding.x;
  const bool of_kernels = !data.endpoint;
  float buttons = 0;
  for (const char* text : {"Resume", "Export", "Close"}) buttons += text_width(text) + padding + gap;
  const float end_of_tabs = ImGui::GetItemRectMax().x - ImGui::GetWindowPos().x + look.sizes.width(16);
  if (end_of_tabs + buttons <= ImGui::GetContentRegionMax().x) ImGui::SameLine(0, look.sizes.width(16));
  const float room = ImGui::GetContentRegionMax().x - ImGui::GetCursorPosX() - buttons;
  const std::string device = paused ? "paused \u00b7 " + data.device : data.device;
  if (room > text_width("0") * kMinDevice) {
    text_in(paused ? theme.warning : theme.dim_text, ended_at(device, room));
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", device.c_str());
  } else {
    ImGui::Dummy({1, 1});
  }
  ImGui::SameLine(std::max(0.0f, ImGui::GetContentRegionMax().x - buttons + gap));
  if (marked_choice("profiler:pause", paused ? "Resume" : "Pause", paused != nullptr, look)) toggle_pause(state);
  if (of_kernels) ImGui::SameLine();
  if (of_kernels && marked_choice("profiler:export", "Export", export_path.has_value(), look)) {
    export_path = export_path ? std::nullopt : std::optional(default_export_path());
    export_begins = true;
  }
  ImGui::SameLine();
  return marked_choice("profiler:close", "Close", false, look);
}

void ProfilerOverlay::Parts::export_row(const Look& look, Actions& actions) {
  if (!export_path) return;
  const float button = text_width("Save") + 4 * ImGui::GetStyle().FramePadding.x;
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - button);
  if (std::exchange(export_begins, false)) ImGui::SetKeyboardFocusHere();
  bool save = ImGui::InputText("##path", &*export_path, ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::SameLine();
  save |= ImGui::Button("Save");
  text_in(look.theme.faint_text, "A trace for Perfetto, and a summary in the same folder (.md).");
  if (!save || export_path->empty()) return;
  actions.push(ExportProfile{*export_path});
  export_path.reset();
}

bool ProfilerOverlay::Parts::marked_choice(const char* name, const char* text, bool chosen, const Look& look) {
  const bool clicked = choice(text, chosen, look.theme);
  marks.push_back(mark_of_last_item(name));
  return clicked;
}

// A server's answers have no kernels, but they can be compared, too.
void ProfilerOverlay::Parts::choose_panel(bool of_endpoint, const Look& look) {
  struct Choice {
    Panel panel;
    const char *text, *name;
  };
  constexpr Choice kHere[] = {{Panel::kKernels, "Kernels", "profiler:kernels"},
                              {Panel::kTimeline, "Timeline", "profiler:timeline"},
                              {Panel::kMemory, "Memory", "profiler:memory"},
                              {Panel::kCompare, "Compare", "profiler:compare"}};
  constexpr Choice kElsewhere[] = {{Panel::kKernels, "Tokens", "profiler:tokens"},
                                   {Panel::kCompare, "Compare", "profiler:compare"}};
  if (of_endpoint && panel != Panel::kCompare) panel = Panel::kKernels;
  marks.clear();
  for (const Choice& c : of_endpoint ? std::span<const Choice>(kElsewhere) : kHere) {
    if (c.panel != Panel::kKernels) ImGui::SameLine();
    if (marked_choice(c.name, c.text, panel == c.panel, look)) panel = c.panel;
  }
}

// The number, in the profile's answer, of the hovered token of transcript or strip; none if it belongs to another
// answer.
std::optional<uint64_t> ProfilerOverlay::Parts::marked_token(const ChatState& state,
                                                             std::optional<TokenPlace> hovered) const {
  const std::optional<TokenPlace> place = hovered ? hovered : strip.hovered_token();
  const ChatMessage* last = strip_message(state, std::nullopt);
  if (!place || last == nullptr || place->message != last->key) return std::nullopt;
  return place->token;
}

// For a server: the pace of its tokens and its reported load, since it has no kernels here.
void ProfilerOverlay::Parts::draw_endpoint(const ChatState& state, std::optional<TokenPlace> hovered,
                                           const EndpointProfile& profile, const Look& look) {
  const ChatMessage* message = strip_message(state, hovered);
  if (message != nullptr) draw_pace(*message, look);
  strip.draw(state, hovered, look);
  if (message != nullptr) draw_gaps(*message, look);
  draw_load(profile, look);
}

void ProfilerOverlay::draw(const ChatState& state, std::optional<TokenPlace> hovered, const Look& look,
                           Actions& actions) {
  Parts& p = *parts_;
  const std::shared_ptr<const ProfilerData> data = p.paused ? p.paused : state.profile;
  if (p.toolbar(state, *data, look)) set_open(false, actions);
  if (!data->endpoint) p.export_row(look, actions);
  if (p.panel == Parts::Panel::kCompare) return p.compare.draw(state, look, p.marks);
  if (data->endpoint) return p.draw_endpoint(state, hovered, *data->endpoint, look);
  const std::string why = why_this_speed(*data);
  text_in(look.theme.text, ended_at(why, ImGui::GetContentRegionAvail().x));
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", why.c_str());
  if (ImGui::GetContentRegionAvail().y > look.sizes.width(kMinWithStrip)) p.strip.draw(state, hovered, look);
  if (p.panel == Parts::Panel::kMemory) return draw_memory_panel(*data, look);
  if (p.panel == Parts::Panel::kKernels) p.kernels.choose_rows(look);
  if (data->n_passes == 0) return centred_note(look.sizes, look.theme.dim_text, "Send a message to measure its answer");
  if (p.panel == Parts::Panel::kTimeline) return p.timeline.draw(data, p.marked_token(state, hovered), look);
  p.kernels.draw(data, look);
}

}  // namespace warpchat::gui
