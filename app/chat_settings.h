// Everything about a conversation that the user can set: by flags at the start, by /set later.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/chat/chat_state.h"
#include "app/options.h"
#include "engine/session/responder.h"

namespace warpchat {

struct ChatSettings {
  AnswerOptions session;
  bool titles = false;  // by the model
  bool hide_thinking = false, word_wrap = true, verbose = false;
};

// file: the model file's sampling parameters, on top of the built-in ones; flags beat them. Reads template files.
ChatSettings settings_from(const ChatOptions& options, const SamplingParams& file);

// /set NAME VALUE. Error for an unknown name and for a value that does not fit.
void change_setting(ChatSettings& settings, std::string_view name, std::string_view value);

bool is_setting(std::string_view name);
bool is_answer_setting(std::string_view name);  // of how answers are made, not of the conversation or the terminal

// "temp: 0.8"; a setting that is empty is "none". Error for an unknown name.
std::string shown_setting(const ChatSettings& settings, std::string_view name);

// The sentence for a thought that was asked of a model whose template has no switch for it.
std::string cannot_think(const std::string& model);

// Completions for /set: names, and after a name its values, the current one first.
std::vector<std::string> setting_arguments(const ChatSettings& settings, std::string_view typed);

// The sampling value of that name, which a model's file has a default for; nullopt for other settings, Error
// for an unknown name.
std::optional<SamplingField> sampling_field(std::string_view name);

// One line a setting: name, value, meaning, parted by tabs.
std::string list_settings(const ChatSettings& settings);

}  // namespace warpchat
