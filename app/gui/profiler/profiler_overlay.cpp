#include "app/gui/profiler/profiler_overlay.h"

#include <imgui/imgui.h>

namespace warpchat::gui {

struct ProfilerOverlay::Parts {
  std::shared_ptr<const ProfilerData> paused;  // what is shown while it is not null
  std::optional<TokenPlace> hovered;

  void toolbar(const ProfilerData& data, const Look& look, bool& wants_close);
};

ProfilerOverlay::ProfilerOverlay() : parts_(std::make_unique<Parts>()) {}
ProfilerOverlay::~ProfilerOverlay() = default;

void ProfilerOverlay::set_open(bool open, Actions& actions) {
  if (open == is_open_) return;
  is_open_ = open;
  parts_->paused = nullptr;
  parts_->hovered = std::nullopt;
  actions.push(WatchProfile{open});
}

std::optional<TokenPlace> ProfilerOverlay::hovered_token() const { return parts_->hovered; }
bool ProfilerOverlay::is_paused() const { return parts_->paused != nullptr; }

void ProfilerOverlay::Parts::toolbar(const ProfilerData& data, const Look& look, bool& wants_close) {
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted("Profiler");
  ImGui::SameLine();
  ImGui::PushStyleColor(ImGuiCol_Text, look.theme.dim_text);
  ImGui::TextUnformatted(data.device.c_str());
  ImGui::PopStyleColor();
  ImGui::SameLine();
  wants_close = ImGui::SmallButton("Close");
}

void ProfilerOverlay::draw(const ChatState& state, std::optional<TokenPlace>, const Look& look, Actions& actions) {
  const std::shared_ptr<const ProfilerData> data = parts_->paused ? parts_->paused : state.profile;
  bool wants_close = false;
  parts_->toolbar(*data, look, wants_close);
  if (wants_close) set_open(false, actions);
  if (data->n_passes == 0) ImGui::TextUnformatted("No token decoded yet");
}

}  // namespace warpchat::gui
