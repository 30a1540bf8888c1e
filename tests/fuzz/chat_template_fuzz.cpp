// Any bytes as a chat template, rendered with a fixed conversation or with the JSON after a NUL byte. Gives valid
// UTF-8, or an Error in one printable line that begins with its place. Limits are small, so that a hang or a large
// allocation shows. Seeds: tests/chat_template/make_cases.py --seeds FOLDER.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "models/chat_template/interpreter.h"
#include "models/chat_template/parser.h"
#include "models/chat_template/unicode.h"
#include "models/error.h"

namespace warpchat {
namespace {

using nlohmann::ordered_json;

constexpr jinja::Limits kLimits{.bytes = 32 << 20, .steps = 20'000};

void require(bool condition) {
  if (!condition) std::abort();
}

const ordered_json& conversation() {
  static const ordered_json kVariables = ordered_json::parse(R"({
    "messages": [{"role": "system", "content": "Be brief."},
                 {"role": "user", "content": "Grüße, 世界 🌍\n\"q\" 'q' <b>"},
                 {"role": "assistant", "content": null, "reasoning_content": "hm",
                  "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": {"a": [1, 2.5, true]}}}]},
                 {"role": "tool", "content": {"items": 5, "name": "x"}}],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}],
    "numbers": [3, 1, 2], "words": ["beta", "Alpha"], "nested": [[1, 2], [3, 4]], "person": {"name": "Ada", "age": 36},
    "people": [{"name": "Bo", "age": 40}, {"name": "al"}], "name": "Ada", "text": "two\nlines", "n": 3, "x": 2.5,
    "yes": true, "no": false, "nothing": null, "empty": "", "add_generation_prompt": true, "bos_token": "<s>"})");
  return kVariables;
}

void check_error(std::string_view message) {
  require(message.starts_with("chat template line ") || message.starts_with("the variables of "));
  for (const char c : message) require(static_cast<unsigned char>(c) >= 0x20);
}

void render(std::string_view source, const ordered_json& variables) {
  try {
    const jinja::Template parsed = jinja::parse_template(source);
    const TracedText text = jinja::Interpreter(kLimits).run(parsed, variables);
    require(is_valid_utf8(text.bytes));
    size_t last = 0;
    for (const TextRange& range : text.content) {
      require((range.begin > last || last == 0) && range.begin < range.end && range.end <= text.bytes.size());
      last = range.end;
    }
  } catch (const Error& error) {
    check_error(error.what());
  }
}

}  // namespace
}  // namespace warpchat

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpchat;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t end = bytes.find('\0');
  if (end == std::string_view::npos) {
    render(bytes, conversation());
    return 0;
  }
  const auto variables = nlohmann::ordered_json::parse(bytes.substr(end + 1), nullptr, /*allow_exceptions=*/false);
  render(bytes.substr(0, end), variables);
  return 0;
}
