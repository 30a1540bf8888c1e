// Without a model the ways are cards; with one they are a row of buttons below the prompts.
#include "app/gui/window/start_screen.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/gui/widgets/ui.h"
#include "app/model_choice/endpoint_choice.h"
#include "models/human_bytes.h"
#include "models/text_format.h"

namespace warpchat::gui {

namespace {

constexpr float kStartWidth = 760, kStartMargin = 24, kWelcome = 52, kCardGap = 12, kCardHeight = 66;  // at scale 1
constexpr float kTallCardHeight = 112, kMinWay = 210, kMinStarter = 170, kAboveCards = 26, kWayRow = 40;

struct CardText {
  std::string name, title, about;
  Icon icon = Icon::kNone;
};

struct Starter {
  std::string_view name, title, about, prompt;
};
constexpr Starter kStarters[] = {
    {"starter:explain", "Explain", "An idea in plain words", "Explain in plain words, with one example: "},
    {"starter:summarise", "Summarise", "A text or a file", "Summarise the following in five short points:\n\n"},
    {"starter:rewrite", "Rewrite", "A text, to read well",
     "Rewrite the following so that it reads well, with the same meaning and tone:\n\n"},
    {"starter:code", "Write code", "A function and its test", "Write a Python function with a short test. It should "},
};

struct Way {
  CardText card;
  Command command;
};

std::string about_hub(const ChatState& state) {
  uint64_t smallest = 0;
  for (const ModelChoice& model : state.models)
    if (model.kind == ModelChoice::Kind::kFetch && (smallest == 0 || model.bytes < smallest)) smallest = model.bytes;
  return "Download one from Hugging Face" + (smallest > 0 ? ", from " + human_bytes(smallest) : "");
}

std::array<Way, 3> ways(const ChatState& state) {
  const auto n = static_cast<size_t>(
      std::ranges::count_if(state.models, [](const ModelChoice& m) { return m.kind == ModelChoice::Kind::kFile; }));
  const std::string here = n == 0 ? "Open a GGUF file, or drop one here" : "Choose among " + counted(n, "model");
  return {{{{"start:here", "A model on this machine", here, Icon::kFolder},
            n == 0 ? Command::kOpenModelFile : Command::kModels},
           {{"start:hub", "A model from the hub", about_hub(state), Icon::kImport}, Command::kHubModels},
           {{"start:server", "Connect to a server", "Ollama, LM Studio, vLLM or a hosted service", Icon::kServer},
            Command::kConnectServer}}};
}

bool draw_card(Ui& ui, Rect rect, const CardText& card) {
  const Response r = ui.press(card.name, rect);
  ui.fill(rect, r.hovered ? ui.theme->raised : ui.theme->panel, ui.px(12));
  ui.outline(rect, r.hovered ? ui.theme->accent : ui.theme->border, ui.px(12));
  if (r.focused) ui.focus_ring(rect, ui.px(12));
  const TextLook title{ui.theme->text, 0.95f, Face::kBold}, about{ui.theme->dim_text, 0.85f};
  Rect inner = rect.inset(ui.px(14), ui.px(10));
  const bool is_tall = rect.height >= ui.px(kTallCardHeight);
  if (card.icon != Icon::kNone) {
    const Rect sign = is_tall ? inner.cut_top(ui.px(28)) : inner.cut_left(ui.px(34));
    ui.icon(card.icon, {sign.x, sign.y, ui.px(22), sign.height}, ui.theme->accent);
  }
  const float title_height = ui.line_height(title);
  if (is_tall) {
    ui.label_in(inner.cut_top(title_height), card.title, title);
    ui.paragraph({inner.x, inner.y + ui.px(2)}, card.about, about, inner.width);
  } else {
    inner = inner.in_middle(title_height + ui.line_height(about));
    ui.label_in(inner.cut_top(title_height), card.title, title);
    ui.label_in(inner, card.about, about);
  }
  if (r.hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  return r.clicked;
}

// The cells of a grid below each other.
Rect cell(Rect rect, size_t index, size_t columns, float height, float gap) {
  const float width = (rect.width - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  return {std::floor(rect.x + static_cast<float>(index % columns) * (width + gap)),
          rect.y + static_cast<float>(index / columns) * (height + gap), std::floor(width), height};
}

float grid_height(size_t n, size_t columns, float height, float gap) {
  const auto rows = static_cast<float>((n + columns - 1) / columns);
  return rows * (height + gap) - gap;
}

void draw_way_cards(Frame& f, Rect rect, size_t columns, float height) {
  size_t i = 0;
  for (const Way& way : ways(f.state))
    if (draw_card(f.ui, cell(rect, i++, columns, height, f.ui.px(kCardGap)), way.card))
      f.commands.push_back(way.command);
}

void draw_way_row(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  constexpr std::string_view kShort[] = {"Models here", "Models of the hub", "Servers"};
  const std::array<Way, 3> all = ways(f.state);
  const auto look_of = [&](size_t i) { return ButtonLook{.text = kShort[i], .icon = all[i].card.icon}; };
  float width = 0;
  for (size_t i = 0; i < all.size(); ++i) width += ui.button_width(look_of(i)) + ui.px(4);
  rect.cut_left((rect.width - width) / 2);
  for (size_t i = 0; i < all.size(); ++i) {
    const Rect place = rect.cut_left(ui.button_width(look_of(i)) + ui.px(4));
    if (ui.button(all[i].card.name, place.in_middle(ui.px(32)), look_of(i))) f.commands.push_back(all[i].command);
  }
}

std::string_view draw_starters(Ui& ui, Rect rect, size_t columns) {
  std::string_view chosen;
  size_t i = 0;
  for (const Starter& starter : kStarters) {
    const CardText card{std::string(starter.name), std::string(starter.title), std::string(starter.about)};
    if (draw_card(ui, cell(rect, i++, columns, ui.px(kCardHeight), ui.px(kCardGap)), card)) chosen = starter.prompt;
  }
  return chosen;
}

std::string about_privacy(const ChatState& state) {
  const std::string there = state.model ? where_text_goes(state.model->endpoint) : "";
  return there.empty() ? "Everything stays on this machine." : "Your messages are sent to " + there + ".";
}

}  // namespace

std::string_view StartScreen::draw(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  const bool lacks_model = !f.state.model && !f.state.loading;
  if (lacks_model && !std::exchange(has_asked_, true)) f.actions.push(RefreshModels{});
  const float width = std::min(rect.width - 2 * ui.px(kStartMargin), ui.px(kStartWidth));
  const size_t n = lacks_model ? 3 : std::size(kStarters);
  size_t columns = lacks_model ? 3 : 4;
  const float min_column = ui.px(lacks_model ? kMinWay : kMinStarter);
  while (columns > 1 && (width + ui.px(kCardGap)) / static_cast<float>(columns) < min_column)
    columns = columns == 4 ? 2 : 1;
  const float card = ui.px(lacks_model && columns > 1 ? kTallCardHeight : kCardHeight);
  const std::string text =
      lacks_model ? "With a model here, everything stays on this machine." : about_privacy(f.state);
  const TextLook large{ui.theme->text, 1.7f, Face::kBold}, dim{ui.theme->dim_text, 1};
  const float text_height = ui.paragraph({}, text, dim, width, /*draw=*/false);
  const float grid = grid_height(n, columns, card, ui.px(kCardGap));
  const float height =
      ui.px(kWelcome + kAboveCards) + text_height + grid + (lacks_model ? 0 : ui.px(kCardGap + kWayRow));
  ScrollArea area("start", rect);
  const float above = std::max(std::floor((rect.height - height) / 2), ui.px(4));
  area.set_content_height(height + 2 * ui.px(4));
  Rect block{std::floor(rect.x + (rect.width - width) / 2), rect.y + above - area.scroll_y(), width, height};
  ui.label_in(block.cut_top(ui.px(kWelcome)), lacks_model ? "Welcome" : "What is on your mind?", large, 0.5f);
  const float text_width = std::min(ui.text_width(text, dim), width);
  ui.paragraph({block.centre().x - text_width / 2, block.y}, text, dim, text_width + 1);
  block.cut_top(text_height + ui.px(kAboveCards));
  const Rect cards = block.cut_top(grid);
  if (lacks_model) return draw_way_cards(f, cards, columns, card), "";
  block.cut_top(ui.px(kCardGap));
  const std::string_view chosen = draw_starters(ui, cards, columns);
  draw_way_row(f, block.cut_top(ui.px(kWayRow)));
  return chosen;
}

std::string with_starter(std::string_view prompt, std::string_view message) {
  for (const Starter& starter : kStarters)
    if (message.starts_with(starter.prompt))
      return std::string(prompt) + std::string(message.substr(starter.prompt.size()));
  return std::string(prompt) + std::string(message);
}

}  // namespace warpchat::gui
