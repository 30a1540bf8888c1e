// Whether a chat template uses the text of a message. Templates of models that also read pictures may want a message's
// content as a list of parts, and silently render nothing of a plain text.
#pragma once
#include <functional>
#include <nlohmann/json.hpp>

#include "models/chat_template/chat_template.h"

namespace warpchat {

enum class ContentForm { kText, kParts };  // "Hi", or [{"type": "text", "text": "Hi"}]

// Found by rendering a short message in both forms. kText if neither is used.
ContentForm content_form(const ChatTemplate& chat_template, const nlohmann::ordered_json& variables);

// In place, for the messages of a template's variables, whose contents are texts.
void set_content_form(nlohmann::ordered_json& messages, ContentForm form);

// variables: those that `prompt` was rendered from. Error if a system message or a user's has text, but none of it is
// in the prompt.
void require_used_texts(const ChatTemplate& chat_template, const nlohmann::ordered_json& variables,
                        const TracedText& prompt, const std::function<bool()>& is_stopped);

}  // namespace warpchat
