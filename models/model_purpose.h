// What a GGUF file is for, if not for chatting.
#pragma once
#include <string>

#include "models/gguf_reader.h"

namespace warpchat {

// Why a file cannot chat, whatever its architecture: adapters, models that make vectors of texts or rank them, and
// drafts for other models. A fault as for GgufFile::fail; empty: the file may be a chat model.
std::string why_no_chat_model(const GgufFile& file);

}  // namespace warpchat
