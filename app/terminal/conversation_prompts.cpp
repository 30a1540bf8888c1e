// The library of prompts in a conversation.
#include "app/formats/prompt_text.h"
#include "app/formats/prompts.h"
#include "app/platform/output.h"
#include "app/platform/program_name.h"
#include "app/terminal/conversation.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

std::string first_word(std::string_view text) {
  text = trimmed(text);
  return std::string(text.substr(0, text.find_first_of(" \t\n")));
}

}  // namespace

void Conversation::list_prompts() {
  const std::vector<LibraryPrompt> prompts = read_prompts();
  if (prompts.empty()) return say(no_prompts_sentence());
  std::string lines;
  for (const LibraryPrompt& prompt : prompts)
    lines += "  " + printable(prompt.name) + "\t" + description_of(prompt) + "\n";
  write_text(lines);
  say("(/prompt NAME fills one in; " + program_name() + " prompt add NAME TEXT makes one)");
}

void Conversation::use_prompt(const std::string& wanted) {
  const auto [name, typed] = split_prompt_name(wanted, prompt_names());
  const LibraryPrompt prompt = load_prompt(name);
  const std::optional<PromptValues> values =
      ask_for_values(prompt, values_of_line(placeholders_of(prompt.text), typed));
  if (!values) return say("(the prompt was not used)");
  offer_prompt(filled_prompt(prompt.text, *values));
}

// One that has a default may be left empty.
std::optional<PromptValues> Conversation::ask_for_values(const LibraryPrompt& prompt, PromptValues values) {
  for (const Placeholder& placeholder : placeholders_of(prompt.text)) {
    while (!values.has(placeholder)) {
      const PromptLine line = reader_.ask(printable(placeholder.name), placeholder.preset);
      if (line.kind != PromptLine::Kind::kText) return std::nullopt;
      if (line.text.empty() && !placeholder.preset)
        say("(the prompt needs a value for " + printable(placeholder.name) + "; Ctrl-C leaves it)");
      else
        values.of_name[placeholder.name] = line.text;
    }
  }
  return values;
}

// The text is the next line, to be edited and sent. Where a line cannot be edited, Enter sends it.
void Conversation::offer_prompt(const std::string& text) {
  if (terminal_.is_plain()) {
    say(text);
    const PromptLine line = reader_.ask("Enter sends this; another text replaces it", std::nullopt);
    if (line.kind != PromptLine::Kind::kText) return say("(the prompt was not used)");
    return send(line.text.empty() ? text : line.text);
  }
  prefilled_ = text;
  offered_word_ = first_word(text).starts_with('/') ? first_word(text) : "";
}

// A prompt's text may come from others: it is no command, although it may look like one.
std::optional<SlashLine> Conversation::parse_typed(const std::string& line, const std::string& offered) {
  return !offered.empty() && first_word(line) == offered ? std::nullopt : parse_slash_line(line);
}

}  // namespace warpchat
