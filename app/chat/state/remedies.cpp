// One table; N stands for the remedy's context size, {chat} for the program's name.
#include "app/chat/state/remedies.h"

#include "app/platform/program_name.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

struct Words {
  Remedy::Kind kind;
  const char *command_line, *terminal, *window, *button;
};

constexpr Words kWords[] = {
    {Remedy::Kind::kNone, "", "", "", ""},
    {Remedy::Kind::kSmallerContext, "a --ctx-size of N fits", "/context N fits", "a context of N fits",
     "Use a context of N"},
    {Remedy::Kind::kUseCpu, "use --device cpu", "/device cpu works without it", "the CPU works without it",
     "Use the CPU"},
    {Remedy::Kind::kCheckDevice,
     "{chat} check-device checks it again, --no-device-check uses it anyway, --device cpu works without it",
     "{chat} check-device checks it again, /device cpu works without it", "the CPU works without it", "Use the CPU"},
    {Remedy::Kind::kListDevices, "--list-devices lists them", "/device lists them", "see the models' panel", ""},
    {Remedy::Kind::kLaunchGraph, "use --launch graph", "use /launch graph", "launch as a graph", "Launch as a graph"},
    {Remedy::Kind::kFewerThreads, "use fewer --threads", "start {chat} with fewer --threads",
     "start the program with fewer --threads", ""},
    {Remedy::Kind::kOtherTemplate, "use --raw, or set a template with --chat-template",
     "start {chat} with --chat-template, or use another /model", "try another model", ""},
    {Remedy::Kind::kEndpointKey, "'{chat} endpoint add' stores its key, or the name of the variable with the key",
     "'{chat} endpoint add' stores its key, or the name of the variable with the key",
     "give it a new key in the models' panel", ""},
    {Remedy::Kind::kChooseServed, "name one with -m", "start {chat} with -m to name one",
     "choose one in the models' panel", "Choose a model"},
};

std::string filled(std::string words, const std::string& number) {
  if (const size_t at = words.find('N'); at != std::string::npos) words.replace(at, 1, number);
  return with_program_name(words);
}

const Words& row_of(Remedy::Kind kind) { return kWords[static_cast<size_t>(kind)]; }

}  // namespace

std::string hint_text(const Remedy& remedy, View view) {
  const Words& words = row_of(remedy.kind);
  switch (view) {
    case View::kCommandLine:
      return filled(words.command_line, std::to_string(remedy.context));
    case View::kTerminal:
      return filled(words.terminal, std::to_string(remedy.context));
    case View::kWindow:
      break;
  }
  return filled(words.window, grouped(remedy.context));
}

std::string with_remedy(const std::string& sentence, const Remedy& remedy, View view) {
  const std::string words = hint_text(remedy, view);
  return sentence + (words.empty() ? "" : "; " + words);
}

std::string sentence_of(const std::exception& error, View view) {
  return with_remedy(error.what(), remedy_of(error), view);
}

std::string button_of(const Remedy& remedy) { return filled(row_of(remedy.kind).button, grouped(remedy.context)); }

std::string words_in_terminal(const Remedies& remedies) {
  std::string words;
  if (remedies.larger_context > 0)
    words = "/context " + std::to_string(remedies.larger_context) +
            " reloads the model with a context that is large enough";
  if (remedies.can_drop) words += (words.empty() ? "" : "; ") + std::string("/trim leaves the oldest turns out");
  return words;
}

}  // namespace warpchat
