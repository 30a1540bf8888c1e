// Only panels with tables use ImGui's widgets; everything else is drawn by app/gui/widgets/ui.h.
#include "app/gui/widgets/style.h"

#include <imgui/backends/imgui_impl_opengl3.h>
#include <imgui/imgui.h>
#include <imgui/imgui_freetype.h>

#include "app/gui/widgets/ui.h"

namespace warpchat::gui {

namespace {

void apply_colours(ImGuiStyle& style, const Theme& theme) {
  const std::pair<int, Colour> colours[] = {
      {ImGuiCol_Text, theme.text},
      {ImGuiCol_TextDisabled, theme.faint_text},
      {ImGuiCol_WindowBg, theme.background},
      {ImGuiCol_ChildBg, 0},
      {ImGuiCol_PopupBg, theme.raised},
      {ImGuiCol_Border, theme.border},
      {ImGuiCol_FrameBg, theme.raised},
      {ImGuiCol_FrameBgHovered, theme.raised},
      {ImGuiCol_FrameBgActive, theme.raised},
      {ImGuiCol_ScrollbarBg, 0},
      {ImGuiCol_ScrollbarGrab, with_alpha(theme.faint_text, 0.45f)},
      {ImGuiCol_ScrollbarGrabHovered, with_alpha(theme.faint_text, 0.75f)},
      {ImGuiCol_ScrollbarGrabActive, theme.faint_text},
      {ImGuiCol_CheckMark, theme.accent},
      {ImGuiCol_SliderGrab, theme.accent},
      {ImGuiCol_SliderGrabActive, theme.accent},
      {ImGuiCol_Button, theme.raised},
      {ImGuiCol_ButtonHovered, theme.hover},
      {ImGuiCol_ButtonActive, theme.selection},
      {ImGuiCol_Header, theme.selection},
      {ImGuiCol_HeaderHovered, theme.hover},
      {ImGuiCol_HeaderActive, theme.selection},
      {ImGuiCol_Separator, theme.border},
      {ImGuiCol_SeparatorHovered, theme.accent},
      {ImGuiCol_SeparatorActive, theme.accent},
      {ImGuiCol_Tab, 0},
      {ImGuiCol_TabHovered, theme.hover},
      {ImGuiCol_TabActive, theme.raised},
      {ImGuiCol_PlotLines, theme.accent},
      {ImGuiCol_PlotHistogram, theme.accent},
      {ImGuiCol_TableHeaderBg, theme.panel},
      {ImGuiCol_TableBorderStrong, theme.border},
      {ImGuiCol_TableBorderLight, theme.border},
      {ImGuiCol_TableRowBg, 0},
      {ImGuiCol_TableRowBgAlt, with_alpha(theme.hover, 0.5f)},
      {ImGuiCol_TextSelectedBg, theme.selection},
      {ImGuiCol_NavHighlight, theme.accent},
  };
  for (const auto& [which, colour] : colours) style.Colors[which] = ImGui::ColorConvertU32ToFloat4(colour);
}

}  // namespace

void apply_style(const Theme& theme, const Sizes& sizes) {
  ImGuiStyle& style = ImGui::GetStyle();
  style = ImGuiStyle();
  style.WindowBorderSize = style.ChildBorderSize = style.FrameBorderSize = 0;
  style.WindowRounding = style.ChildRounding = style.PopupRounding = 8;
  style.PopupBorderSize = 1;  // of tooltips, as draw_tooltip draws them
  style.FrameRounding = style.GrabRounding = style.TabRounding = 6;
  style.FramePadding = {10, 6};
  style.ItemSpacing = {8, 7};
  style.CellPadding = {7, 5};
  style.ScrollbarSize = 10;
  style.ScrollbarRounding = 5;
  style.ScaleAllSizes(sizes.scale);
  apply_colours(style, theme);
}

void load_fonts(const TextEngine& text, const Sizes& sizes, bool complete) {
  static constexpr ImWchar kAscii[] = {0x0020, 0x007E, 0};
  static constexpr ImWchar kShown[] = {0x0020, 0x024F,  // Latin
                                       0x0370, 0x04FF,  // Greek, Cyrillic
                                       0x1E00, 0x1EFF,  // more Latin
                                       0x2010, 0x2044,  // dashes, quotes, ellipsis
                                       0x2070, 0x2094,  // superscripts
                                       0x20AC, 0x20AC,  // euro
                                       0x2190, 0x21FF,  // arrows
                                       0x2200, 0x2265,  // mathematics
                                       0x25A0, 0x25FF,  // shapes
                                       0};
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  atlas.Clear();
  atlas.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
  atlas.Flags |= ImFontAtlasFlags_NoPowerOfTwoHeight;
  for (const Face face : {Face::kText, Face::kCode}) {
    const TextEngine::FontFile file = text.font_file(face);
    ImFontConfig config;
    config.FontNo = file.index;
    atlas.AddFontFromFileTTF(file.path.c_str(), face == Face::kText ? sizes.text : sizes.text * 0.92f, &config,
                             complete ? kShown : kAscii);
  }
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
}

ImFont* code_font() { return ImGui::GetIO().Fonts->Fonts.back(); }

}  // namespace warpchat::gui
