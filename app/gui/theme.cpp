// The two tables. Text on its background has a contrast of at least 7 : 1, dim text and coloured code 4.5 : 1.
#include "app/gui/theme.h"

namespace warpchat::gui {

namespace {

// 0xRRGGBB as one reads it, to ImGui's order.
constexpr Colour rgb(uint32_t colour, uint32_t alpha = 0xFF) {
  return alpha << 24 | (colour & 0xFF) << 16 | (colour & 0xFF00) | colour >> 16;
}

constexpr Theme kLight = {
    .dark = false,
    .background = rgb(0xFFFFFF),
    .panel = rgb(0xF6F5F2),
    .raised = rgb(0xEFEDE8),
    .text = rgb(0x1F1E1C),
    .dim_text = rgb(0x625E58),
    .faint_text = rgb(0x8E8980),
    .accent = rgb(0x0F6E67),
    .accent_text = rgb(0xFFFFFF),
    .link = rgb(0x0B5FA5),
    .border = rgb(0xDFDCD5),
    .selection = rgb(0x2A9D8F, 0x48),
    .hover = rgb(0x4A4438, 0x14),
    .mark = rgb(0xFFE08A),
    .current_mark = rgb(0xFFB84D),
    .code_background = rgb(0xF4F2EE),
    .code_text = rgb(0x2B2A33),
    .quote_bar = rgb(0xCFCAC0),
    .inline_code = rgb(0x4A4438, 0x18),
    .error = rgb(0xB3261E),
    .warning = rgb(0x8A5A00),
    .good = rgb(0x2E7D32),
    .code_kinds = {rgb(0x2B2A33), rgb(0x8A2BB0), rgb(0x0B6A73), rgb(0x3A6B12), rgb(0x9A4A00), rgb(0x6B6760),
                   rgb(0x1B54A8), rgb(0x99295F), rgb(0x2A6B2E), rgb(0xA8231C)},
};

constexpr Theme kDark = {
    .dark = true,
    .background = rgb(0x1B1C1E),
    .panel = rgb(0x232427),
    .raised = rgb(0x2E3034),
    .text = rgb(0xE9E8E5),
    .dim_text = rgb(0xA9A8A3),
    .faint_text = rgb(0x83827D),
    .accent = rgb(0x4DB6A9),
    .accent_text = rgb(0x0B1F1D),
    .link = rgb(0x7CB7F0),
    .border = rgb(0x3A3C41),
    .selection = rgb(0x4DB6A9, 0x50),
    .hover = rgb(0xFFFFFF, 0x12),
    .mark = rgb(0x5A4A12),
    .current_mark = rgb(0x8A6414),
    .code_background = rgb(0x141517),
    .code_text = rgb(0xDCDCE0),
    .quote_bar = rgb(0x50535A),
    .inline_code = rgb(0xFFFFFF, 0x1C),
    .error = rgb(0xF28B82),
    .warning = rgb(0xE6B450),
    .good = rgb(0x81C784),
    .code_kinds = {rgb(0xDCDCE0), rgb(0xD7A0F0), rgb(0x6FCFC6), rgb(0xA8CE7E), rgb(0xF0B07A), rgb(0x8E8D88),
                   rgb(0x8CBEF7), rgb(0xF09DC0), rgb(0x8FD094), rgb(0xF59A92)},
};

}  // namespace

const Theme& light_theme() { return kLight; }
const Theme& dark_theme() { return kDark; }

}  // namespace warpchat::gui
