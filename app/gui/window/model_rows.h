// What the model picker lists under the text of its field, and what Enter does there. All pure.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/chat/chat_state.h"

namespace warpchat::gui {

struct ModelRow {
  std::string widget;        // "model:3" of the state's models, "hub:0" of what the hub has, "model_named"
  const ModelChoice* model;  // of the state, or the named one
};

// What the text spells out by itself: a file's path, a hub's org/repo[:QUANT], an endpoint's address.
std::optional<ModelChoice> named_model(const std::string& text);

// The named model first, unless it is listed anyway; then matching local models and endpoints; then downloads.
std::vector<ModelRow> model_rows(const ChatState& state, const std::string& text,
                                 const std::optional<ModelChoice>& named);

// The row for Enter: the named model, else the first that needs no download; null: none.
const ModelRow* row_for_enter(const std::vector<ModelRow>& rows);

// What to search the hub for: words, not a path or an address; empty: nothing.
std::string hub_words(const std::string& text);

// Below the rows: how far the hub's search is, or why there are no more; empty: nothing to say.
std::string hub_line(const ChatState& state, const std::string& text);

}  // namespace warpchat::gui
