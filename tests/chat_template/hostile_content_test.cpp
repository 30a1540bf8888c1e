// From conversations to ids: texts of control tokens in a conversation stay text, in every place and with every
// template. Without such texts, the ids are those of the whole prompt.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "models/chat_template/chat_template.h"
#include "models/error.h"
#include "tests/tokenizer/test_vocabulary.h"

namespace warpchat {
namespace {

using nlohmann::ordered_json;

constexpr const char* kControls[] = {"<|im_start|>",
                                     "<|im_end|>",
                                     "<|endoftext|>",
                                     "<|begin_of_text|>",
                                     "<|start_header_id|>",
                                     "<|end_header_id|>",
                                     "<|eot_id|>",
                                     "<|python_tag|>",
                                     "<s>",
                                     "</s>",
                                     "[INST]",
                                     "[/INST]"};

std::unique_ptr<Tokenizer> with_controls(test::TestVocabulary v) {
  for (const std::string text : kControls)
    if (std::ranges::find(v.tokens, text) == v.tokens.end()) v.add(text, test::kControl);
  return v.tokenizer();
}

// The styles of the known families: a role of its own, reasoning removed from answers, tools as JSON, a system prompt
// inside the first user turn.
constexpr const char* kHeaders =
    "{{- bos_token }}{% for m in messages %}{{ '<|start_header_id|>' + m['role'] + '<|end_header_id|>\\n\\n' }}"
    "{% if m.tool_calls %}<|python_tag|>{{ m.tool_calls[0].function | tojson }}{% else %}{{ m['content'] | trim }}"
    "{% endif %}<|eot_id|>{% endfor %}{% for t in tools %}{{ t | tojson(indent=4) }}{% endfor %}";
constexpr const char* kThoughts =
    "{%- if tools %}{{- '<|im_start|>system\\n' }}{% for t in tools %}{{- '\\n' ~ t.function.name ~ ': ' ~ t }}"
    "{% endfor %}{{- '<|im_end|>\\n' }}{% endif %}"
    "{%- for m in messages %}{%- set content = m.content if m.content is string else '' %}{%- set thought = '' %}"
    "{%- if '</think>' in content %}{%- set thought = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1] "
    "%}"
    "{%- set content = content.split('</think>')[-1].lstrip('\\n') %}{%- endif %}"
    "{{- '<|im_start|>%s\\n' % m.role }}{% if loop.last %}{{- '<think>\\n' ~ thought.strip('\\n') ~ "
    "'\\n</think>\\n\\n' }}"
    "{% endif %}{{- content }}{% for call in m.tool_calls %}{{- '\\n<tool_call>\\n{\"name\": \"' }}"
    "{{- call.function.name }}{{- '\", \"arguments\": ' }}{{- call.function.arguments | tojson }}{{- '}' }}{% endfor %}"
    "{{- '<|im_end|>\\n' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}";
constexpr const char* kInstructions =
    "{% set system = messages[0].content if messages[0].role.startswith('system') else '' %}{{ bos_token }}"
    "{% for m in messages %}{% if m.role == 'user' %}{{ '[INST] ' + (system ~ '\\n\\n' if loop.index0 < 2 else '') + "
    "m.content + ' [/INST]' }}{% elif m.role == 'assistant' and m.content %}{{ ' ' + m.content|upper + eos_token }}"
    "{% elif m.role == 'tool' %}{{ {'content': m.content, 'name': m.name} }}{% endif %}{% endfor %}";

// Also the real ones, if the reference data is there.
std::vector<std::string> templates() {
  std::vector<std::string> sources = {std::string(kChatMlTemplate), kHeaders, kThoughts, kInstructions};
  const char* named = std::getenv("WARPCHAT_REFERENCE_DATA");
  const std::filesystem::path folder = named ? named : WARPCHAT_SOURCE_DIR "/../shared/data";
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "templates", absent)) {
    std::ifstream file(entry.path(), std::ios::binary);
    sources.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return sources;
}

ordered_json hostile_conversation() {
  return ordered_json::parse(R"({
    "messages": [
      {"role": "system", "content": "Be brief.\nPlease."},
      {"role": "user", "content": "the weather in Zürich? "},
      {"role": "assistant", "content": "<think>\nhm\n</think>\n\nI ask.",
       "tool_calls": [{"id": "call00001", "type": "function",
                       "function": {"name": "get_weather", "arguments": {"city": "Zürich", "days": [1, "x"]}}}]},
      {"role": "tool", "content": "{\"temperature\": 21.5}", "name": "get_weather", "tool_call_id": "call00001"},
      {"role": "assistant", "content": " 21 degrees"},
      {"role": "user", "content": "  the fox\n"}],
    "tools": [{"type": "function", "function": {
      "name": "get_weather", "description": "Weather at a place", "parameters": {
        "type": "object", "properties": {"city": {"type": "string", "enum": ["a", "b"]}}}}}],
    "add_generation_prompt": true, "bos_token": "<s>", "eos_token": "</s>"})");
}

// The places of all texts in messages and tools.
std::vector<ordered_json::json_pointer> places_of_content() {
  std::vector<ordered_json::json_pointer> places;
  const ordered_json flat = hostile_conversation().flatten();
  for (const auto& [path, value] : flat.items())
    if (value.is_string() && (path.starts_with("/messages") || path.starts_with("/tools"))) places.emplace_back(path);
  return places;
}

std::vector<Token> controls_in(const Tokenizer& tokenizer, const std::vector<Token>& ids) {
  std::vector<Token> controls;
  std::ranges::copy_if(ids, std::back_inserter(controls), [&](Token token) { return tokenizer.is_control(token); });
  return controls;
}

std::optional<TracedText> rendered(const ChatTemplate& with, const ordered_json& variables) {
  try {
    return with.render_parts(variables);
  } catch (const Error&) {  // not every template accepts every role
    return std::nullopt;
  }
}

ordered_json with_text_at(const ordered_json::json_pointer& place, const std::string& added) {
  ordered_json variables = hostile_conversation();
  std::string& text = variables[place].get_ref<std::string&>();
  text += added + text;
  return variables;
}

class HostileContent : public testing::Test {
 protected:
  const std::unique_ptr<Tokenizer> tokenizers_[2] = {with_controls(test::learnt_vocabulary()),
                                                     with_controls(test::learnt_spm_vocabulary())};
  const std::vector<std::string> templates_ = templates();
};

TEST_F(HostileContent, GivesNoControlToken) {
  const auto places = places_of_content();
  ASSERT_GT(places.size(), 20u);
  std::string all_controls;
  for (const char* control : kControls) all_controls += control;
  for (const std::string& source : templates_) {
    const ChatTemplate with(source);
    int n_rendered = 0;
    for (const auto& place : places) {
      const auto harmless = rendered(with, with_text_at(place, "zzz"));
      const auto hostile = rendered(with, with_text_at(place, all_controls));
      ASSERT_EQ(hostile.has_value(), harmless.has_value()) << place << " of " << source;
      if (!hostile) continue;
      ++n_rendered;
      for (const auto& tokenizer : tokenizers_) {
        const std::vector<Token> ids = tokenizer->encode(hostile->bytes, hostile->content, false);
        ASSERT_EQ(controls_in(*tokenizer, ids),
                  controls_in(*tokenizer, tokenizer->encode(harmless->bytes, true, false)))
            << place << " of " << source;
        ASSERT_EQ(decode(*tokenizer, ids, true), hostile->bytes);
      }
    }
    EXPECT_GT(n_rendered, 15) << source;
  }
}

TEST_F(HostileContent, LeavesThePromptsOfOthersAsTheyAre) {
  for (const std::string& source : templates_) {
    const ChatTemplate with(source);
    for (const auto& place : places_of_content()) {
      const auto prompt = rendered(with, with_text_at(place, "the fox <| im_end |>"));
      if (!prompt) continue;
      for (const auto& tokenizer : tokenizers_)
        EXPECT_EQ(tokenizer->encode(prompt->bytes, prompt->content, true),
                  tokenizer->encode(prompt->bytes, true, true));
    }
  }
}

}  // namespace
}  // namespace warpchat
