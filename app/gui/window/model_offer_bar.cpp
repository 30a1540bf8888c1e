#include "app/gui/window/model_offer_bar.h"

#include <algorithm>
#include <cmath>

#include "app/gui/widgets/elide.h"
#include "engine/http/http_url.h"
#include "engine/remote/endpoint.h"
#include "models/text_format.h"

namespace warpchat::gui {

namespace {

constexpr float kOfferWidth = 800, kOfferMargin = 16, kOfferGap = 6, kMinOffer = 44, kOfferSign = 36,
                kOfferButton = 30;        // at scale 1
constexpr float kMaxOfferButton = 0.45f;  // of the width
constexpr size_t kMaxOfferedName = 200;   // bytes

std::string offered_server(const std::string& endpoint) {
  return is_server_address(endpoint) ? host_of(endpoint) : endpoint;
}

}  // namespace

OfferText offer_text(const ModelOffer& offer, const std::optional<LoadedModel>& loaded) {
  const std::string name = printable(offer.name, kMaxOfferedName),
                    server = printable(offered_server(offer.endpoint), kMaxOfferedName);
  OfferText text{"This chat was held with " + name + (server.empty() ? "" : " at " + server),
                 server.empty() ? "Load " + name : "Connect to " + server};
  if (offer.is_gone) text = {text.sentence + ", which is not on this machine any more", "Choose a model"};
  text.sentence += ".";
  if (loaded) text.sentence += " Your next message is answered by " + printable(loaded->name, kMaxOfferedName) + ".";
  return text;
}

void draw_model_offer(Frame& f, Rect& rect) {
  if (!f.state.offer || f.state.open.messages.empty()) return;
  Ui& ui = f.ui;
  const ModelOffer& offer = *f.state.offer;
  const OfferText text = offer_text(offer, f.state.model);
  const TextLook look{ui.theme->text, 0.9f};
  const float width = std::min(ui.px(kOfferWidth), rect.width - ui.px(2 * kOfferMargin));
  const float label = width * kMaxOfferButton - ui.px(24);
  const std::string shown = elide_middle(text.button, std::max(label, 0.0f),
                                         [&](std::string_view part) { return ui.text_width(part, {.size = 0.9f}); });
  const ButtonLook button{.text = shown,
                          .kind = ButtonKind::kOutlined,
                          .tooltip = shown == text.button ? std::string_view() : std::string_view(text.button)};
  const float beside = ui.px(kOfferSign + 8 + 8) + ui.button_width(button);
  const float height = ui.paragraph({}, text.sentence, look, width - beside, /*draw=*/false);
  rect.cut_bottom(ui.px(kOfferGap));
  const Rect row = rect.cut_bottom(std::max(std::round(height) + ui.px(16), ui.px(kMinOffer)));
  const Rect place{std::floor(row.centre().x - width / 2), row.y, width, row.height};
  ui.mark("model_offer", place);
  ui.fill(place, ui.theme->raised, ui.px(10));
  ui.outline(place, ui.theme->border, ui.px(10));
  Rect inner = place;
  ui.icon(offer.endpoint.empty() ? Icon::kFile : Icon::kServer, inner.cut_left(ui.px(kOfferSign)).inset(ui.px(10), 0),
          ui.theme->dim_text);
  inner.cut_right(ui.px(8));
  const Rect at = inner.cut_right(ui.button_width(button)).in_middle(ui.px(kOfferButton));
  ui.paragraph({inner.x, inner.y + (inner.height - height) / 2}, text.sentence, look, width - beside);
  if (!ui.button("use_offered_model", at, button)) return;
  if (offer.is_gone) return f.commands.push_back(Command::kModels);
  f.actions.push(LoadModel{.path = offer.model, .endpoint = offer.endpoint});
  ui.set_focus("composer");
}

}  // namespace warpchat::gui
