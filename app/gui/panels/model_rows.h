// What the model picker lists under the text of its field, and what Enter does there. All pure.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/chat/state/chat_state.h"

namespace warpchat::gui {

struct ModelRow {
  // "model:3" of the state's models, "endpoint:box", "served:3" of what it has, "hub:0" of what the hub has,
  // "model_named"
  std::string widget;
  const ModelChoice* model;  // of the state, or the named one
};

// What the text spells out by itself: a file's path, a hub's org/repo[:QUANT], a server's address; else the name of a
// model, if the server that was asked last lists none.
std::optional<ModelChoice> named_model(const ChatState& state, const std::string& text);

// The named model first, unless it is listed anyway; then matching local models; endpoints, each with its models if it
// was asked for them; then downloads.
std::vector<ModelRow> model_rows(const ChatState& state, const std::string& text,
                                 const std::optional<ModelChoice>& named);

// The row for Enter: the named model, by whatever row, else the first that needs no download. An endpoint that is
// listed for its models alone is passed over. null: none.
const ModelRow* row_for_enter(const std::vector<ModelRow>& rows, const std::string& text);

bool is_loaded(const ChatState& state, const ModelChoice& model);  // of an endpoint: one of its models

// What to search the hub for: words, not a path or an address; empty: nothing.
std::string hub_words(const std::string& text);

// Below the rows: how far the hub's search is, or why there are no more; empty: nothing to say.
std::string hub_line(const ChatState& state, const std::string& text);

}  // namespace warpchat::gui
