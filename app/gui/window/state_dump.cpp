// One object; lists keep their order.
#include "app/gui/window/state_dump.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/chat/state/answer_pace.h"
#include "app/gui/widgets/numbers.h"
#include "app/platform/output.h"
#include "engine/untrusted_json.h"

namespace warpchat::gui {

namespace {

using Json = nlohmann::json;

const char* name_of(AnswerPhase phase) {
  return phase == AnswerPhase::kIdle ? "idle" : phase == AnswerPhase::kPrompt ? "prompt" : "answer";
}

const char* name_of(MessageStatus status) {
  switch (status) {
    case MessageStatus::kComplete:
      return "complete";
    case MessageStatus::kStreaming:
      return "streaming";
    case MessageStatus::kStopped:
      return "stopped";
    default:
      return "failed";
  }
}

// "s__read always"
std::vector<std::string> permissions_of(const OfferedTools& offered) {
  std::vector<std::string> all;
  for (const OfferedTool& tool : offered.tools) all.push_back(tool.name + " " + std::string(name_of(tool.permission)));
  return all;
}

// "s__read ok"
std::vector<std::string> calls_of(const ChatMessage& message) {
  std::vector<std::string> calls;
  const auto add = [&](const ToolCall& call) { calls.push_back(call.name + " " + std::string(name_of(call.status))); };
  for (const ToolRound& round : message.rounds) std::ranges::for_each(round.calls, add);
  std::ranges::for_each(message.tool_calls, add);
  return calls;
}

Json messages_json(const std::vector<ChatMessage>& messages) {
  Json list = Json::array();
  for (const ChatMessage& message : messages)
    list.push_back({{"key", message.key},
                    {"turn", message.turn},
                    {"role", message.role},
                    {"status", name_of(message.status)},
                    {"model", message.model_name},
                    {"length", message.content.size()},
                    {"reasoning", message.reasoning.size()},
                    {"cut", message.cut != AnswerCut::kNone},
                    {"tokens", message.tokens.size()},
                    {"siblings", message.siblings.size()},
                    {"sibling", message.sibling},
                    {"calls", calls_of(message)}});
  return list;
}

Json conversations_json(const std::vector<ConversationSummary>& list) {
  Json out = Json::array();
  for (const ConversationSummary& conversation : list)
    out.push_back({{"id", conversation.id},
                   {"title", conversation.title},
                   {"pinned", conversation.filing.pinned},
                   {"folder", conversation.filing.folder},
                   {"tags", conversation.filing.tags}});
  return out;
}

Json model_json(const ChatState& state) {
  if (!state.model) return nullptr;
  return {{"path", state.model->path},          {"name", state.model->name},     {"device", state.model->device},
          {"launch", state.model->launch},      {"status", state.model->status}, {"context", state.model->context},
          {"can_think", state.model->can_think}};
}

Json served_json(const ServedModels& served) {
  Json models = Json::array();
  for (const ModelChoice& model : served.models) models.push_back(model.path);
  return {{"endpoint", served.endpoint}, {"running", served.running}, {"fault", served.fault}, {"models", models}};
}

Json notices_json(const std::vector<NoticeItem>& notices) {
  Json out = Json::array();
  for (const NoticeItem& notice : notices)
    out.push_back(
        {{"id", notice.id}, {"error", notice.is_error}, {"text", notice.text}, {"action", notice.action_label}});
  return out;
}

// A server's load, while the profiler is open.
Json endpoint_json(const ChatState& state) {
  if (!state.profile->endpoint) return nullptr;
  const EndpointProfile& endpoint = *state.profile->endpoint;
  Json load = Json::object();
  for (const LoadRow& row : endpoint.load) load[row.name] = row.value;
  return {{"host", endpoint.host},
          {"load", load},
          {"absence", endpoint.absence},
          {"pace", state.open.messages.empty() ? std::vector<std::string>() : pace_lines(state.open.messages.back())}};
}

Json widgets_json(const std::vector<Ui::Mark>& marks) {
  Json out = Json::object();
  for (const Ui::Mark& mark : marks)
    out[mark.name] = {std::lround(mark.rect.x), std::lround(mark.rect.y), std::lround(mark.rect.width),
                      std::lround(mark.rect.height)};
  return out;
}

Json window_json(const WindowFacts& facts) {
  return {{"frames", facts.n_frames},
          {"first_frame_seconds", facts.first_frame_seconds},
          {"late_frames", facts.n_late_frames},
          {"longest_frame_seconds", facts.longest_frame_seconds},
          {"longest_frame_cpu_seconds", facts.longest_frame_cpu_seconds},
          {"focus", facts.focus},
          {"composer", facts.composer},
          {"composition", facts.composition},
          {"selection", facts.selection},
          {"selected", facts.selected},
          {"panels", facts.panels},
          {"palette", facts.palette},
          {"editing", facts.editing},
          {"theme", facts.dark ? "dark" : "light"},
          {"chosen_theme", facts.theme},
          {"fonts", {facts.text_font, facts.code_font}},
          {"zoom", facts.zoom},
          {"scroll", facts.scroll},
          {"at_end", facts.at_end},
          {"found", {facts.found.at, facts.found.n}},
          {"full_screen", facts.full_screen},
          {"window", {facts.width, facts.height}},
          {"mouse", {facts.mouse_x, facts.mouse_y}},
          {"search", facts.search_words}};
}

}  // namespace

std::string state_dump(const ChatState& state, const WindowFacts& facts, const std::vector<Ui::Mark>& marks) {
  Json json = window_json(facts);
  json["phase"] = name_of(state.open.phase);
  json["conversation"] = {{"id", state.open.id},
                          {"title", state.open.title},
                          {"system_prompt", state.open.system_prompt},
                          {"context_used", state.open.context_used},
                          {"drops_oldest", state.open.drops_oldest},
                          {"unseen_turns", state.open.unseen_turns},
                          {"last_text", state.open.messages.empty() ? "" : state.open.messages.back().content},
                          {"failure", state.open.messages.empty() ? "" : state.open.messages.back().failure},
                          {"messages", messages_json(state.open.messages)}};
  json["prompts"] = Json::array();
  for (const LibraryPrompt& prompt : state.prompts) json["prompts"].push_back(prompt.name);
  json["conversations"] = conversations_json(state.conversations);
  json["answering"] = state.answering;
  json["unread"] = state.unread;
  json["trash"] = conversations_json(state.trash);
  json["archived"] = conversations_json(state.archived);
  json["has_more_hits"] = state.search && state.search->has_more;
  json["hits"] = Json::array();
  if (state.search)
    for (const SearchHit& hit : state.search->hits)
      json["hits"].push_back({{"id", hit.conversation.id}, {"turn", hit.turn}, {"excerpt", hit.excerpt}});
  json["model"] = model_json(state);
  json["offer"] = state.offer ? Json{{"name", state.offer->name},
                                     {"model", state.offer->model},
                                     {"endpoint", state.offer->endpoint},
                                     {"is_gone", state.offer->is_gone}}
                              : Json();
  json["assistants"] = Json::object();
  for (const AssistantChoice& assistant : state.assistants.all) json["assistants"][assistant.name] = assistant.about;
  json["tools"] = permissions_of(state.tools);
  json["served"] = served_json(state.served);
  json["context_text"] = state.model ? context_text(state.open.context_used, 0, state.model->context) : "";
  json["loading"] = state.loading ? Json{{"name", state.loading->name},
                                         {"fraction", state.loading->fraction},
                                         {"transfer", state.loading->transfer}}
                                  : Json();
  json["importing"] =
      state.importing ? Json{{"name", state.importing->name}, {"fraction", state.importing->fraction}} : Json();
  json["endpoint_profile"] = endpoint_json(state);
  json["n_models"] =
      std::ranges::count_if(state.models, [](const ModelChoice& m) { return m.kind == ModelChoice::Kind::kFile; });
  json["hub"] = {{"words", state.hub.words}, {"running", state.hub.running}, {"sentence", state.hub.sentence}};
  json["attachments"] = Json::array();
  size_t n_read = 0;
  for (const Attachment& file : state.attachments) {
    json["attachments"].push_back(file.name);
    if (file.is_read) ++n_read;
  }
  json["attachments_read"] = n_read;
  json["counted_tokens"] = state.counted_tokens;
  json["tokens_per_second"] = std::isfinite(state.open.tokens_per_second) ? state.open.tokens_per_second : 0;
  const AnswerSettings settings = settings_of(state);
  const std::string own = to_text(state.open.choices);
  json["settings"] = {{"temperature", settings.sampling.temperature},
                      {"top_k", settings.sampling.top_k},
                      {"max_tokens", settings.max_tokens},
                      {"seed", settings.sampling.seed},
                      {"random_seed", settings.random_seed},
                      {"titles", state.titles},
                      {"think", settings.think ? Json(*settings.think) : Json()},
                      {"assistant", state.open.assistant},
                      {"own", own.empty() ? Json() : try_parse_untrusted_json(own)},
                      {"default_system_prompt", state.default_system_prompt}};
  json["notices"] = notices_json(state.notices);
  json["own_notices"] = facts.own_notices;
  json["refusal"] = state.refusal ? Json{{"tokens", state.refusal->tokens},
                                         {"context", state.refusal->context},
                                         {"larger_context", state.refusal->larger_context},
                                         {"can_drop", state.refusal->can_drop},
                                         {"message", state.refusal->message}}
                                  : Json();
  json["store_fault"] = state.store_fault;
  json["widgets"] = widgets_json(marks);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_state_dump(const std::string& path, const std::string& json) { write_file(path, json); }

}  // namespace warpchat::gui
