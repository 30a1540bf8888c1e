// Values derived from the state.
#include "app/chat/state/chat_state.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

namespace warpchat {

std::string text_between(const ChatMessage& message, size_t begin, size_t end) {
  std::string between;
  size_t first = 0;
  const auto add = [&](const std::string& text) {
    const size_t from = std::clamp(begin, first, first + text.size()) - first;
    const size_t to = std::clamp(end, first, first + text.size()) - first;
    between += text.substr(from, to > from ? to - from : 0);
    first += text.size();
  };
  for (const ToolRound& round : message.rounds) add(round.reasoning), add(round.content);
  add(message.reasoning), add(message.content);
  return between;
}

size_t text_bytes(const ChatMessage& message) {
  size_t bytes = message.reasoning.size() + message.content.size();
  for (const ToolRound& round : message.rounds) bytes += round.reasoning.size() + round.content.size();
  return bytes;
}

bool is_begun(const ChatMessage& message) { return !message.rounds.empty() || text_bytes(message) > 0; }

const ToolCall* asked_call(const ChatMessage& message) {
  const auto asked = std::ranges::find(message.tool_calls, CallStatus::kAsking, &ToolCall::status);
  return asked != message.tool_calls.end() ? &*asked : nullptr;
}

AnswerLayers layers_of(const ChatState& state, const OpenConversation& conversation) {
  return {state.flags, conversation.choices, conversation.assistant_choices.value_or(AnswerChoices()), state.defaults,
          state.default_seed_is_drawn};
}

SamplingParams file_sampling(const ChatState& state) {
  return state.model ? state.model->file_sampling : SamplingParams{};
}

AnswerSettings with_choices(AnswerSettings settings, const AnswerChoices& choices) {
  settings.sampling = sampled(settings.sampling, choices);
  if (choices.seed) {
    settings.random_seed = *choices.seed < 0;
    settings.sampling.seed = settings.random_seed ? 0 : static_cast<uint64_t>(*choices.seed);
    settings.sampling.seed_is_chosen = !settings.random_seed;
  }
  settings.max_tokens = choices.n_predict.value_or(settings.max_tokens);
  if (choices.think) settings.think = choices.think;
  return settings;
}

AnswerSettings answer_settings(const SamplingParams& file, const AnswerLayers& layers) {
  const AnswerChoices own = over(over(layers.flags, layers.conversation), layers.assistant);
  AnswerSettings settings = with_choices({.sampling = file}, over(own, layers.defaults));
  if (!own.seed && layers.default_seed_is_drawn) settings.sampling.seed_is_chosen = false;
  return settings;
}

AnswerSettings answer_settings(const ChatState& state, const OpenConversation& conversation) {
  return answer_settings(file_sampling(state), layers_of(state, conversation));
}

AnswerSettings settings_of(const ChatState& state) { return answer_settings(state, state.open); }

TypedSettings settings_of_chat(const ChatState& state) {
  TypedSettings settings;
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) settings.emplace_back(key, value);
  };
  add(kSystemPromptSetting, state.open.system_prompt);
  if (const auto& model = state.model) {
    const auto named = std::ranges::find(state.endpoints, model->endpoint, &ModelChoice::about);
    add(kEndpointSetting, named != state.endpoints.end() && !model->endpoint.empty() ? named->path : model->endpoint);
    add(kModelSetting, model->path);
  }
  const AnswerLayers layers = layers_of(state, state.open);
  const AnswerChoices chosen = over(layers.flags, over(layers.conversation, layers.assistant));
  for (const NamedChoice& choice : answer_choices())
    if (const auto value = json_of(chosen, choice)) settings.emplace_back(choice.name, typed_value(*value));
  return settings;
}

const ConversationSummary* find_listed(const ConversationLists& lists, ConversationId id) {
  for (const auto* list : {&lists.conversations, &lists.archived})
    for (const ConversationSummary& conversation : *list)
      if (conversation.id == id) return &conversation;
  return nullptr;
}

// Counts turns as Branch::prompt does: skips empty messages, and joins consecutive user messages.
size_t n_unseen_messages(const OpenConversation& conversation) {
  if (conversation.unseen_turns == 0) return 0;
  uint32_t n_turns = 0;
  std::string_view before;
  for (size_t i = 0; i < conversation.messages.size(); ++i) {
    const ChatMessage& message = conversation.messages[i];
    if (is_empty(message)) continue;
    const bool begins = before.empty() || (message.role == "user" && before != "user");
    if (begins && n_turns++ == conversation.unseen_turns) return i;
    before = message.role;
  }
  return 0;
}

uint32_t larger_context(uint32_t now, uint64_t max, uint64_t tokens) {
  uint64_t context = std::max(now, 1u);
  while (context <= now || context < tokens + tokens / 4) context *= 2;
  context = std::min(context, max);
  return context > std::max<uint64_t>(tokens + tokens / 8, now) ? static_cast<uint32_t>(context) : 0;
}

Remedies remedies_before_sending(const ChatState& state, uint64_t tokens) {
  if (!state.model) return {};
  const uint64_t own = tokens - std::min<uint64_t>(tokens, state.open.context_used);
  return {larger_context(state.model->context, state.model->max_context, tokens),
          own < state.model->context && !state.open.drops_oldest && !state.open.messages.empty()};
}

Remedies remedies_at(const ChatState& state, const ChatMessage& message) {
  if (state.refusal && state.refusal->message == message.key && state.refusal->tokens > 0)
    return {state.refusal->larger_context, state.refusal->can_drop};
  const std::vector<ChatMessage>& messages = state.open.messages;
  const bool is_last = !messages.empty() && messages.back().key == message.key;
  if (!is_last || message.cut != AnswerCut::kContextFull) return {};
  const auto n_turns =
      std::count_if(messages.begin(), messages.end(), [](const ChatMessage& m) { return m.role == "user"; });
  return {state.model ? state.model->larger_context : 0, n_turns > 1 && !state.open.drops_oldest};
}

}  // namespace warpchat
