#include "app/gui/window/palette_rows.h"

#include <algorithm>

#include "app/gui/text/fuzzy_match.h"
#include "models/text_format.h"

namespace warpchat::gui {

namespace {

using PaletteKind = PaletteRow::Kind;

constexpr size_t kMaxPaletteRows = 100;
constexpr int kRecentBonus = 6, kCommandBonus = 2;

void append(std::vector<PaletteRow>& rows, PaletteRow row, std::string_view wanted, int bonus = 0) {
  std::optional<FuzzyMatch> match = fuzzy_match(row.text, wanted);
  if (!match) return;
  row.score = match->score + bonus;
  row.marks = std::move(match->marks);
  rows.push_back(std::move(row));
}

void append_commands(const ChatState& state, std::string_view wanted, const std::vector<std::string>& recent,
                     std::vector<PaletteRow>& rows) {
  for (const Shortcut& shortcut : shortcuts()) {
    if (shortcut.text.empty() || shortcut.command == Command::kPalette || !applies(shortcut.command, state)) continue;
    const auto found = std::ranges::find(recent, shortcut.text);
    const bool is_recent = found != recent.end();
    const auto n_since = static_cast<int>(found - recent.begin());
    const int bonus = !is_recent ? 0 : wanted.empty() ? static_cast<int>(recent.size()) - n_since : kRecentBonus;
    append(rows,
           {.kind = PaletteKind::kCommand,
            .text = std::string(shortcut.text),
            .detail = std::string(shortcut.keys),
            .marks = {},
            .command = shortcut.command},
           wanted, bonus + kCommandBonus);
  }
}

}  // namespace

std::vector<PaletteRow> palette_rows(const ChatState& state, std::string_view text,
                                     const std::vector<std::string>& recent) {
  std::vector<PaletteRow> rows;
  append_commands(state, text, recent, rows);
  const bool has_letters = text.find_first_not_of(' ') != std::string_view::npos;
  for (const ModelChoice& model : state.models)
    if (has_letters && model.kind == ModelChoice::Kind::kFile && model.fits != FitsMemory::kUnsupported)
      append(rows,
             {.kind = PaletteKind::kModel, .text = model.name, .detail = "Model", .marks = {}, .path = model.path},
             text);
  for (const ModelChoice& server : state.endpoints)
    if (has_letters)
      append(rows,
             {.kind = PaletteKind::kServer, .text = server.name, .detail = "Server", .marks = {}, .path = server.path},
             text);
  for (const LibraryPrompt& prompt : state.prompts)
    if (has_letters && prompt.fault.empty())
      append(rows,
             {.kind = PaletteKind::kPrompt,
              .text = printable(prompt.name),
              .detail = "Prompt",
              .marks = {},
              .path = prompt.name},
             text);
  for (const ConversationSummary& conversation : state.conversations)
    if (has_letters)
      append(rows,
             {.kind = PaletteKind::kConversation,
              .text = conversation.title,
              .detail = "Chat",
              .marks = {},
              .conversation = conversation.id},
             text);
  std::ranges::stable_sort(rows, std::greater(), &PaletteRow::score);
  if (rows.size() > kMaxPaletteRows) rows.resize(kMaxPaletteRows);
  return rows;
}

}  // namespace warpchat::gui
