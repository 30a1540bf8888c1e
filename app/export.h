// A conversation as a document.
#pragma once
#include <string>
#include <vector>

#include "engine/session/chat_session.h"

namespace warpchat {

// By the path's extension: Markdown for .md, JSON for .json (what `chat template --messages` takes); Error for another.
std::string export_text(const std::string& path, const std::string& model, const std::string& system_prompt,
                        const std::vector<Message>& messages);

// Writes it. Error if the file exists already or cannot be written.
void export_conversation(const std::string& path, const std::string& model, const std::string& system_prompt,
                         const std::vector<Message>& messages);

}  // namespace warpchat
