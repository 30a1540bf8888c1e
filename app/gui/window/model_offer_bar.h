// A box above the composer, where the open conversation was held with another model than the one that is loaded: its
// name, which model answers the next message, and one button that loads it or connects to its server.
#pragma once
#include <string>

#include "app/gui/panels/shortcuts.h"
#include "app/gui/widgets/ui.h"

namespace warpchat::gui {

struct OfferText {
  std::string sentence, button;
};
OfferText offer_text(const ModelOffer& offer, const std::optional<LoadedModel>& loaded);

void draw_model_offer(Frame& f, Rect& rect);  // cuts its place from the bottom; nothing without an offer

}  // namespace warpchat::gui
