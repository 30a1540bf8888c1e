// The commands for the model, the device and the settings.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "app/chat/profile/compare_answers.h"
#include "app/chat/state/answer_pace.h"
#include "app/model_choice/endpoint_book.h"
#include "app/model_choice/endpoint_choice.h"
#include "app/model_choice/model_list.h"
#include "app/model_choice/model_loading.h"
#include "app/platform/directories.h"
#include "app/platform/output.h"
#include "app/platform/typed_path.h"
#include "app/settings/assistants.h"
#include "app/settings/kept_options.h"
#include "app/settings/settings_file.h"
#include "app/terminal/answer_stream.h"
#include "app/terminal/choose_model.h"
#include "app/terminal/conversation.h"
#include "models/ascii.h"
#include "models/human_bytes.h"
#include "models/number_in.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr std::chrono::milliseconds kLoadTick{100};
constexpr size_t kMaxName = 300;  // bytes

// "3 5"
std::pair<uint64_t, uint64_t> two_numbers(const std::string& text) {
  uint64_t first = 0, second = 0;
  std::string rest;
  std::istringstream words(text);
  if (!(words >> first >> second) || words >> rest)
    throw Error("/perf diff takes the numbers of two answers, found '" + printable(text, 40) + "'");
  return {first, second};
}

// The terminal's own settings, and their keys in the settings file.
struct Look {
  std::string_view key;
  bool ChatSettings::*field;
  bool is_negated;
};
constexpr Look kLooks[] = {{"hide-thinking", &ChatSettings::hide_thinking, false},
                           {"no-wordwrap", &ChatSettings::word_wrap, true},
                           {"verbose", &ChatSettings::verbose, false}};

// "temp 1" or "temp=1": the name, and its value, which may be empty.
std::pair<std::string, std::string> parted(const std::string& argument) {
  const size_t blank = std::min(argument.find_first_of(" \t="), argument.size());
  const size_t equals = argument.substr(blank).starts_with('=') ? 1 : 0;
  const size_t value = std::min(argument.find_first_not_of(" \t", blank + equals), argument.size());
  return {argument.substr(0, blank), argument.substr(value)};
}

// What the file says it is, and how it is computed here.
std::string tokenizer_text(const Model& model) {
  const std::string_view kind = model.file.get_string("tokenizer.ggml.model", "");
  const std::string name = kind == "gpt2" ? "byte-level BPE" : kind == "llama" ? "SPM" : printable(kind);
  return name + ", computed with " + std::string(model.tokenizer->method());
}

}  // namespace

std::string describe(const LoadedModel& model) {
  return model.name + (model.bytes > 0 ? ", " + human_bytes(model.bytes) : "") + ", " + model.status +
         (model.context > 0 ? ", context " + grouped(model.context) : "");
}

// The settings as /set shows them: from the controller, the open conversation and the terminal.
ChatSettings Conversation::settings() const {
  ChatSettings all = look_;
  const AnswerSettings answers = settings_of(controller_.now());
  all.session.sampling = answers.sampling;
  all.session.max_tokens = answers.max_tokens;
  all.titles = controller_.now().titles;
  all.session.system_prompt = open().system_prompt;
  if (answers.think) all.session.template_variables[kEnableThinking] = *answers.think;
  return all;
}

void Conversation::load_model(LoadModel wish) {
  const std::optional<LoadedModel>& now = controller_.now().model;
  if (wish.path.empty() && wish.endpoint.empty() && now && !now->endpoint.empty())
    throw Error(now->endpoint + " answers, with its own device and context; /model changes to a model on this machine");
  if (!act(std::move(wish)) || !controller_.now().model) return;
  if (std::exchange(loading_stopped_, false)) return say("(stopped; the previous model is still in use)");
  say(status_ = describe(*controller_.now().model));
  tell_long_context();
  tell_thinking();
  prefilled_ = std::exchange(refused_, {});
}

void Conversation::tell_long_context() const {
  const Model* model = controller_.model();
  if (const std::string warning = model != nullptr ? long_context(*model) : ""; !warning.empty())
    say("(" + warning + ")");
}

void Conversation::change_model(const std::string& name) {
  if (is_endpoint(name)) return load_model({.endpoint = name});
  ChatOptions wanted = options_;
  wanted.model = typed_path(name);
  wanted.yes = false;
  std::string path;
  {  // Questions are answered line by line. A Ctrl-D outside of a line is lost meanwhile.
    const std::shared_ptr<void> watching(nullptr, [this](void*) { terminal_.watch(); });
    terminal_.leave();
    path = choose_model_file(wanted);
  }
  load_model({.path = std::move(path)});
}

void Conversation::show_models() const {
  const std::optional<LoadedModel>& now = controller_.now().model;
  std::string text = !now ? "no model is loaded" : "now: " + now->path;
  if (now && !now->endpoint.empty()) text += " at " + now->endpoint;
  uint64_t held = 0;  // by the loaded model, which would make room for another one
  if (const Model* model = controller_.model())
    for (const MemoryUse& use : model->decoder->steps().memory()) held += use.bytes;
  const ModelPlaces places = model_places();
  const MemoryRoom room = memory_room(options_.device, held);
  for (const std::string& row : listed_rows(describe_models(places, options_, room))) text += "\n     " + row;
  for (const auto& [alias, target] : places.aliases)
    text += "\n     " + alias + ", alias of " + printable(target, kMaxName);
  const EndpointBook book;
  for (const NamedEndpoint& endpoint : book.all()) text += "\n     " + endpoint.name + ", " + endpoint.url;
  say(text + "\n(/model and part of a name loads one; /model org/repo[:QUANT] downloads one, after asking)" +
      (places.fault.empty() ? "" : "\n(" + places.fault + ")"));
}

void Conversation::show_devices() const {
  std::string text = controller_.now().model ? "now: " + controller_.now().model->device : "no model is loaded";
  for (const DeviceLine& device : controller_.now().devices) text += "\n     " + device.name + "\t" + device.text;
  say(text);
}

void Conversation::change_device(const std::string& name) { load_model({.device = name}); }

void Conversation::change_launch(const std::string& mode) {
  if (!mode.empty()) {
    load_model({.launch = mode});
  } else if (controller_.now().model && !controller_.now().model->launch.empty()) {
    say("launch mode: " + controller_.now().model->launch);
  } else {
    throw Error("launch modes apply to GPUs only; /device shows where the model runs");
  }
}

void Conversation::change_context(const std::string& tokens) {
  if (tokens.empty()) {
    if (!controller_.now().model) throw Error("no model is loaded; /model lists those found");
    return say("the context holds " + counted(controller_.now().model->context, "token") + "; /context N changes it");
  }
  const std::optional<int32_t> wanted = number_in<int32_t>(tokens);
  if (!wanted || *wanted < 0)
    throw Error("/context takes a number of tokens, found '" + printable(tokens, 60) +
                "'; 0: the maximum of the model");
  load_model({.context = *wanted});
}

void Conversation::trim(const std::string& onoff) {
  if (!onoff.empty() && onoff != "on" && onoff != "off") throw Error("/trim takes on or off, found '" + onoff + "'");
  act(DropOldest{onoff != "off"});
  say(onoff == "off" ? "the model reads the whole conversation"
                     : "when the conversation does not fit, the oldest turns are left out (they stay stored)");
  prefilled_ = std::exchange(refused_, {});
}

// "temp=0.2 seed 7"
AnswerSettings Conversation::settings_for_once(const std::string& changes) const {
  ChatSettings changed = settings();
  std::istringstream words(changes);
  for (std::string name, value; words >> name;) {
    const size_t equals = std::min(name.find('='), name.size());
    value = name.substr(std::min(equals + 1, name.size()));
    const bool is_apart = equals == name.size();
    name.resize(equals);
    if (choice_of_setting(name) == nullptr) throw Error("/regen cannot change " + name + "; /set " + name + " does");
    if (is_apart && !(words >> value)) throw Error("/regen needs a value for " + name + ": /regen " + name + "=VALUE");
    change_setting(changed, name, value);
  }
  return with_choices(settings_of(controller_.now()), changed.choices);
}

void Conversation::set(const std::string& argument) {
  ChatSettings changed = settings();
  if (argument.empty()) return write_text(list_settings(changed));
  const auto [name, value] = parted(argument);
  if (value.empty()) return say(shown_setting(changed, name));
  change_setting(changed, name, value);
  if (const NamedChoice* choice = choice_of_setting(name)) act(SetChoice{choice->name, changed.choices});
  if (changed.titles != controller_.now().titles) act(SetTitles{changed.titles});
  act(SetSystemPrompt{changed.session.system_prompt});
  keep_look(changed);
  say(shown_setting(settings(), name));
  if (choice_of_setting(name) == choice_of_setting("think")) tell_thinking();
}

void Conversation::change_assistant(const std::string& name) {
  if (name.empty()) {
    std::string list = open().assistant.empty() ? "no assistant is chosen" : "now: " + printable(open().assistant);
    for (const std::string& other : assistant_names())
      list += "\n     " + printable(other) + "\t" + description_of(load_assistant(other));
    return say(list +
               "\n(/assistant NAME chooses one; /assistant save NAME makes one of this conversation's settings)");
  }
  constexpr std::string_view kSave = "save ";
  if (name.starts_with(kSave)) return save_assistant_as(std::string(trimmed(name.substr(kSave.size()))));
  const bool is_none = name == "none";
  if (!act(SetAssistant{is_none ? "" : name}) || open().assistant != (is_none ? "" : name)) return;
  say(is_none ? "no assistant from now on; the system message stays" : printable(name) + " answers from now on");
}

// With the conversation's system message, settings and model, as the window's "New from this chat".
void Conversation::save_assistant_as(const std::string& name) {
  const bool is_taken = std::ranges::count(assistant_names(), name) > 0;
  if (is_taken) say("(" + printable(name) + " was until now: " + description_of(load_assistant(name)) + ")");
  if (!act(SaveAssistant{is_taken ? name : "", name, settings_of_chat(controller_.now()), ++assistant_request_}))
    return;
  if (const std::string& fault = controller_.now().assistants.fault; !fault.empty()) throw Error(fault);
  say(printable(name) + ": " + description_of(load_assistant(name)));
}

void Conversation::config(const std::string& argument) {
  if (argument.empty()) return write_text(settings_list(sound_settings_file()));
  const auto [name, value] = parted(argument);
  const SettingsKey key = settings_key_named(name);
  if (value.empty()) {
    const std::string kept = setting_text(sound_settings_file(), key);
    return say(kept.empty() ? key.name + " is not set: " + key.help : key.name + ": " + kept);
  }
  const nlohmann::ordered_json kept = value == "default" ? nullptr : value_for_key(key, value);
  follow_kept(key, kept);
}

// What can change while the program runs does so at once.
void Conversation::follow_kept(const SettingsKey& key, const nlohmann::ordered_json& value) {
  const auto choices = answer_choices();
  const auto choice = std::ranges::find(choices, key.name, &NamedChoice::name);
  const auto look = std::ranges::find(kLooks, key.name, &Look::key);
  if (choice != choices.end()) {
    const AnswerChoices kept = answer_choices_from(nlohmann::ordered_json{{key.name, value}}.dump());
    if (!act(SetChoice{choice->name, kept, /*for_new=*/true})) return;
  } else if (key.name == "system-prompt") {
    if (!act(SetSystemPrompt{value.is_null() ? "" : value.get<std::string>(), /*for_new=*/true})) return;
  } else if (key.name == "titles" && !value.is_null()) {
    if (!act(SetTitles{value.get<bool>()})) return;
  } else {
    SettingsFile::change(key.name, value.is_null() ? std::nullopt : std::optional(value));
    if (look == std::end(kLooks)) return say("(" + key.name + " counts from the next start on)");
    look_.*(look->field) = (value.is_boolean() && value.get<bool>()) != look->is_negated;
    set_output_habits({look_.word_wrap, options_.plain});
  }
  say(value.is_null() ? "(" + key.name + " is no longer kept)" : "(kept for new conversations and later starts)");
}

// The terminal's own settings hold for all conversations, so they are kept for later starts.
void Conversation::keep_look(const ChatSettings& changed) {
  for (const Look& look : kLooks) {
    if (changed.*(look.field) == look_.*(look.field)) continue;
    look_.*(look.field) = changed.*(look.field);
    const std::string fault = SettingsFile::keep(look.key, look_.*(look.field) != look.is_negated);
    if (!fault.empty()) print_error(fault);
  }
  set_output_habits({look_.word_wrap, options_.plain});
}

void Conversation::tell_thinking() const {
  const ChatState& now = controller_.now();
  if (settings_of(now).think.value_or(false) && now.model && !now.model->can_think)
    say("(" + cannot_think(now.model->name) + ")");
}

void Conversation::show() {
  controller_.turn(std::chrono::milliseconds(0));  // counts what the context holds
  follow();
  std::string text;
  if (const std::optional<LoadedModel>& model = controller_.now().model) {
    text = "model\t" + model->path + "\n\t" + describe(*model) + "\n";
    if (controller_.model() != nullptr) text += "tokeniser\t" + tokenizer_text(*controller_.model()) + "\n";
    text += "context\t" + grouped(open().context_used) +
            (model->context > 0 ? " of " + counted(model->context, "token") : " tokens") + " used by " +
            counted(messages().size(), "message") + "\n";
  }
  write_text(text + "\nsettings\n" + list_settings(settings()));
}

void Conversation::watch_profile() {
  const bool is_here = controller_.model() != nullptr;  // a server is asked for its load by /perf alone
  controller_.submit(WatchProfile{measures_ || (is_here && look_.verbose)});
}

std::string Conversation::timings() const {
  const Profile none;
  const Model* model = controller_.model();
  const bool has_gaps = !messages().empty() && !messages().back().endpoint.empty();
  const AnswerSettings settings = settings_of(controller_.now());
  const SamplingParams& sampling = settings.sampling;
  const bool is_known = !settings.random_seed && (model != nullptr || sampling.seed_is_chosen);
  return timing_report(open().last_timings.value_or(Timings{}), is_known ? std::optional(sampling.seed) : std::nullopt,
                       model != nullptr ? model->decoder->steps().profile() : none,
                       has_gaps ? gaps_text(messages().back()) : "");
}

// Asks the server for its load now; Ctrl-C ends the wait.
std::string Conversation::load_report() {
  constexpr std::chrono::seconds kLongest{5};
  const auto end = std::chrono::steady_clock::now() + kLongest;
  const auto load = [this] { return controller_.now().profile->endpoint.value_or(EndpointProfile{}); };
  controller_.submit(WatchProfile{true});
  while (!load().has_answered && std::chrono::steady_clock::now() < end && !take_interrupt())
    controller_.turn(kLoadTick);
  if (!load().has_answered) return "(" + load().host + " has not reported its load)\n";
  if (!load().absence.empty()) return "(" + load().absence + ")\n";
  std::string text = load().host + "\n";
  for (const LoadRow& row : load().load) text += "  " + row.name + "\t" + row.value + "\n";
  return text;
}

// Compares two answers of this run by their numbers; without numbers the last two.
void Conversation::compare(const std::string& numbers) const {
  const auto& answers = controller_.now().answers;
  if (answers.size() < 2) throw Error("two answers are needed for a comparison; ask again first");
  auto a = answers[answers.size() - 2], b = answers.back();
  if (!numbers.empty()) {
    const auto [first, second] = two_numbers(numbers);
    const auto find = [&](uint64_t number) {
      for (const auto& answer : answers)
        if (answer->number == number) return answer;
      throw Error("answer " + std::to_string(number) + " cannot be compared; answers " +
                  std::to_string(answers.front()->number) + " to " + std::to_string(answers.back()->number) +
                  " are kept");
    };
    a = find(first), b = find(second);
  }
  write_text(comparison_text(*a, *b));
}

// Kernel timing costs time, so it starts on request, with the next answer.
void Conversation::perf(const std::string& wanted) {
  if (wanted == "diff" || wanted.starts_with("diff "))
    return compare(wanted.substr(std::min(wanted.size(), std::string_view("diff ").size())));
  if (!wanted.empty() && wanted != "on" && wanted != "off")
    throw Error("/perf takes on, off or diff, found '" + wanted + "'; alone it shows the last answer's timings");
  const bool is_here = !controller_.now().model || controller_.now().model->endpoint.empty();
  const bool always = is_here && (look_.verbose || !options_.profile.empty());
  const bool measured = std::exchange(measures_, wanted != "off") || always;
  const std::string measures =
      is_here ? "kernels are timed from the next answer on" : "the server is asked for its load during answers";
  if (wanted == "off")
    return say(always ? measures + " anyway, because of verbose or --profile" : "the next answers show totals only");
  if (wanted == "on") return say(measures);
  if (!open().last_timings && is_here) throw Error("there is no answer yet; " + measures);
  const std::string report = open().last_timings ? timings() : "";
  const bool has_rows = !is_here || report.find("\n\n") != std::string::npos;
  write_text(report + (is_here || report.empty() ? "" : "\n"));
  if (!is_here) write_text(load_report());
  if (!measured || !has_rows) say("(" + measures + "; /perf off ends that)");
}

}  // namespace warpchat
