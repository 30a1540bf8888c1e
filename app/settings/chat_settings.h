// Everything about a conversation that the user can set: by flags at the start, by /set later.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/settings/options.h"
#include "engine/session/responder.h"

namespace warpchat {

struct ChatSettings {
  AnswerOptions session;
  AnswerChoices choices;  // those made here, which `session` follows
  bool titles = false;    // by the model
  bool hide_thinking = false, word_wrap = true, verbose = false;
};

// file: the model file's sampling parameters, on top of the built-in ones; the settings file beats them, and flags beat
// that. Reads template files.
ChatSettings settings_from(const ChatOptions& options, const SamplingParams& file);

// `session` with these choices. A random seed is drawn where none is chosen.
void apply_choices(AnswerOptions& session, const AnswerChoices& choices);

// /set NAME VALUE; "default" leaves a choice to the settings file or the model. Error for an unknown name and for a
// value that does not fit.
void change_setting(ChatSettings& settings, std::string_view name, std::string_view value);

// The choice that a setting is, as answer_choices() has it; null: it is none. Error for an unknown name.
const NamedChoice* choice_of_setting(std::string_view name);
bool is_setting(std::string_view name);

// "temp: 0.8"; a setting that is empty is "none". Error for an unknown name.
std::string shown_setting(const ChatSettings& settings, std::string_view name);

// The sentence for a thought that was asked of a model whose template has no switch for it.
std::string cannot_think(const std::string& model);

// Completions for /set: names, and after a name its values, the current one first.
std::vector<std::string> setting_arguments(const ChatSettings& settings, std::string_view typed);

// One line a setting: name, value, meaning, parted by tabs.
std::string list_settings(const ChatSettings& settings);

}  // namespace warpchat
