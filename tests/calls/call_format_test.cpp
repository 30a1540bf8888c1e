// Formats out of chat templates: short ones with what tells them apart, and real ones, where the reference data is
// there.
#include "engine/calls/call_format.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace warpchat {
namespace {

TEST(CallFormat, OfShortTemplates) {
  const std::pair<const char*, CallFormat> cases[] = {
      {"{{ messages[0].content }}", CallFormat::kNone},
      {"{{- '<tool_call>\\n{\"name\": \"' }}{{ tool_call.name }}{{ '\", \"arguments\": ' }}", CallFormat::kHermes},
      {"{{- '<tool_call>\\n<function=' + f.name + '>\\n' }}{{- '<parameter=' + name + '>\\n' }}", CallFormat::kXml},
      {"<tool_call>{{ name }}<arg_key>{{ k }}</arg_key>", CallFormat::kNone},
      {"<tool_call>function<tool_sep>{{ name }}", CallFormat::kNone},
      {"{{ '<function=' + name + '>' + arguments }} <|python_tag|>", CallFormat::kNone},
      {"{{- '<|start_header_id|>ipython' }}{{- '\"parameters\": ' }}", CallFormat::kLlama},
      {"{{- '<|python_tag|>' + tool_call.name + '.call(' }}", CallFormat::kLlama},
      {"{{- '[TOOL_CALLS] [' }}{{ tool_call | tojson }}", CallFormat::kMistralJson},
      {"{{- '[TOOL_CALLS]' + name + '[ARGS]' + arguments }}", CallFormat::kMistralArgs},
      {"{{- '[TOOL_CALLS]' + name + '[CALL_ID]' + id + '[ARGS]' + arguments }}", CallFormat::kMistralArgs},
      {"<seed:tool_call>", CallFormat::kNone},
  };
  for (const auto& [text, format] : cases) EXPECT_EQ(find_call_format(text), format) << text;
}

TEST(CallFormat, OfRealTemplates) {
  const std::filesystem::path folder = WARPCHAT_SOURCE_DIR "/../shared/data/templates";
  const std::pair<const char*, CallFormat> cases[] = {
      {"Qwen-Qwen2.5-7B-Instruct.jinja", CallFormat::kHermes},
      {"Qwen-Qwen3-0.6B.jinja", CallFormat::kHermes},
      {"meta-llama-Llama-3.2-3B-Instruct.jinja", CallFormat::kLlama},
  };
  for (const auto& [name, format] : cases) {
    std::ifstream file(folder / name);
    if (!file) GTEST_SKIP() << "needs " << (folder / name).string();
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_EQ(find_call_format(text.str()), format) << name;
  }
}

}  // namespace
}  // namespace warpchat
