// chat: one answer to a prompt from flags and standard input, or a conversation in a terminal.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "app/chat/file_reader.h"
#include "app/commands/commands.h"
#include "app/formats/found_files.h"
#include "app/mcp/tool_access.h"
#include "app/model_choice/endpoint_choice.h"
#include "app/platform/directories.h"
#include "app/settings/chat_settings.h"
#include "app/settings/form_flags.h"
#include "app/terminal/answer_printer.h"
#include "app/terminal/answer_stream.h"
#include "app/terminal/call_question.h"
#include "app/terminal/conversation.h"
#include "app/terminal/editor/prompt_reader.h"
#ifdef WARPCHAT_GUI
#include "app/gui/run_window.h"
#endif
#include "app/formats/pdf_text.h"
#include "app/model_choice/model_list.h"
#include "app/model_choice/model_loading.h"
#include "app/platform/log.h"
#include "app/platform/output.h"
#include "app/platform/program_name.h"
#include "app/platform/signals.h"
#include "app/platform/text_input.h"
#include "app/terminal/choose_model.h"
#include "app/terminal/resumed_chat.h"
#include "app/terminal/resumed_options.h"
#include "engine/http/http_request.h"
#include "engine/session/local_responder.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

bool is_interactive(const ChatOptions& options) {
  return !options.prompt && options.prompt_files.empty() && input_is_terminal() && output_is_terminal();
}

std::string joined(std::string before, const std::string& after) {
  if (before.empty() || after.empty()) return before + after;
  return before + (before.ends_with('\n') ? "" : "\n") + after;
}

// What C would make of a string's escapes; any other backslash stays.
std::string unescaped(std::string_view text) {
  constexpr std::string_view kLetters = "nrt\\'\"", kMeanings = "\n\r\t\\'\"";
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t letter = text[i] == '\\' && i + 1 < text.size() ? kLetters.find(text[i + 1]) : std::string_view::npos;
    plain += letter == std::string_view::npos ? text[i] : kMeanings[letter];
    if (letter != std::string_view::npos) ++i;
  }
  return plain;
}

// The text of a file, or with "-" of standard input, as /read has it: of a PDF, too.
std::string prompt_text(const std::string& file) {
  const std::string source = file == "-" ? "standard input" : file;
  const std::string bytes = file == "-" ? read_standard_input() : read_file(file);
  if (has_pdf(bytes)) return text_of_pdf_bytes(bytes, source, kMaxAttachedBytes);
  require_text(bytes, source);
  return without_last_newline(std::string(without_byte_order_mark(bytes)));
}

// The same of all files that a folder or a pattern names, each under its name.
std::string prompt_text_of(const std::string& named) {
  std::optional<FoundFiles> found = named == "-" ? std::nullopt : find_files(named);
  if (!found) return prompt_text(named);
  std::string text;
  for (const std::string& path : found->paths) {
    try {
      text = joined(std::move(text),
                    text_for_model({.role = "user", .files = {{.name = path, .text = prompt_text(path)}}}));
    } catch (const Error&) {
      found->skipped.push_back(path);
    }
  }
  for (const std::string& line : found->about_skipped()) print_error(line);
  return text;
}

// Standard input, then the files, then -p. Standard input is not waited for when it is a terminal and there is another
// prompt.
std::string read_prompt(const ChatOptions& options) {
  std::string prompt;
  const bool is_named = std::ranges::count(options.prompt_files, "-") > 0;  // its place is among the files
  if (!is_named && (!input_is_terminal() || (!options.prompt && options.prompt_files.empty()))) {
    if (input_is_terminal()) write_error_text("type your prompt, then Ctrl-D\n");
    prompt = prompt_text("-");
  }
  for (const std::string& file : options.prompt_files) prompt = joined(std::move(prompt), prompt_text_of(file));
  if (options.prompt) {
    require_utf8(*options.prompt, "--prompt");
    prompt = joined(std::move(prompt), options.escapes ? unescaped(*options.prompt) : *options.prompt);
  }
  if (prompt.empty()) throw UsageError("the prompt is empty; use -p, -f or standard input");
  return prompt;
}

// The seed that the answer was sampled with; none if a server chose it.
std::optional<uint64_t> seed_of(const Responder& responder, const ChatSettings& settings) {
  const SamplingParams& sampling = settings.session.sampling;
  if (!responder.facts().endpoint.empty() && !sampling.seed_is_chosen) return std::nullopt;
  return sampling.seed;
}

void drop_reasoning(StreamedAnswer& answer) {
  answer.reasoning.clear();
  for (ToolRound& round : answer.rounds) round.reasoning.clear();
}

// There is a user at a terminal, and the answer is shown there.
bool can_ask(const ChatOptions& options) { return !options.json && input_is_terminal() && output_is_terminal(); }

// About a call that waits for the user.
CallAnswer decide_call(const ToolAccess& tools, Approval& approval, const ToolCall& call, const std::string& why) {
  const Tool* tool = tools.tools().find(call.name);
  if (tool == nullptr) return CallAnswer::kNo;
  Terminal terminal;
  const CallAnswer answer =
      ask_about_call({call, why, described_tool(tool->name, tool->description, tool->schema.dump(2))},
                     [&](const std::string& text, std::string_view letters) {
                       return ask_key(terminal, text, letters, /*at_end=*/'n');
                     });
  if (answer == CallAnswer::kInConversation) approval.set(*tool, Permission::kConversation);
  return answer;
}

// tools: that the model may call; null: none. resumed: the stored conversation to answer in; null: none.
StreamedAnswer answer(Responder& model, ToolAccess* tools, const ChatOptions& options, const ChatSettings& settings,
                      const std::string& text, ResumedChat* resumed) {
  const std::shared_ptr<Responder> borrowed(&model, [](Responder*) {});
  const std::shared_ptr<Approval> approval = tools == nullptr ? nullptr : tools->new_approval();
  const std::shared_ptr<Responder> caller = tools == nullptr ? borrowed : tools->answers_of(borrowed, approval);
  Responder& responder = *caller;
  DecideAboutCall decide;
  if (approval)
    decide = [&](const ToolCall& call, const std::string& why) { return decide_call(*tools, *approval, call, why); };
  const Prompt prompt = options.raw ? Prompt(text) : Prompt(std::vector<Message>{{.role = "user", .content = text}});
  try {
    const std::unique_ptr<Generation> generation = resumed != nullptr ? resumed->ask(responder, settings.session, text)
                                                                      : responder.start(prompt, settings.session);
    StreamedAnswer streamed =
        stream_answer(*generation, settings, options.json ? AnswerGoes::kIntoText : AnswerGoes::kToOutput,
                      options.endpoint.empty() ? AnswerFrom::kThisMachine : AnswerFrom::kServer, decide);
    const bool is_cut = streamed.end.reason == EndReason::kTokenLimit && settings.session.max_tokens != 0;
    const bool may_be_cut = options.raw && settings.session.form.is_free();  // a completed text ends anywhere
    if (is_cut && !options.json && !may_be_cut) print_error(cut_text(settings.session.max_tokens));
    if (options.json) {
      if (settings.hide_thinking) drop_reasoning(streamed);
      write_json(answer_json(streamed, responder.facts().model, seed_of(responder, settings)));
    }
    return streamed;
  } catch (const PromptTooLong& error) {
    throw Error(error.what() +
                std::string(options.endpoint.empty() ? "; shorten it or raise --ctx-size" : "; shorten it"));
  }
}

// Conversations read them again. A window tells of a fault in the usual file of servers.
ToolFlags tools_to_check(const ChatOptions& options) {
  ToolFlags flags = options;
  if (options.gui && options.mcp_config.empty()) flags.no_mcp = true;
  return flags;
}

// Null: there are none, or they are of no use.
std::unique_ptr<ToolAccess> open_tools(ToolSources sources, const ChatOptions& options, const ResponderFacts& facts) {
  for (const std::string& warning : sources.servers.warnings) print_error(warning);
  if (sources.is_empty() || options.raw) return nullptr;
  if (!facts.can_call_tools) {
    print_error("the chat template of " + facts.model + " has no place for tools; none are offered");
    return nullptr;
  }
  auto tools = std::make_unique<ToolAccess>(std::move(sources), options, can_ask(options),
                                            [](const std::string& sentence) { print_error(sentence); });
  tools->open_servers();
  tools->list_again();
  return tools->tools().list().empty() ? nullptr : std::move(tools);
}

int exit_code(const StreamedAnswer& answer) {
  return answer.interrupted ? kInterruptedExitCode : answer.end.form_fault.empty() ? 0 : 1;
}

// Found before anything is loaded or asked. Null without --resume.
std::unique_ptr<ResumedChat> resumed_chat(const ChatOptions& options) {
  return options.resume ? std::make_unique<ResumedChat>(options) : nullptr;
}

// remembers: which model it was, for later starts.
int answer_once(const ChatOptions& options, ToolSources sources, const std::string& prompt, bool remembers) {
  const std::unique_ptr<ResumedChat> resumed = resumed_chat(options);
  const std::unique_ptr<Model> model = load_model(options);
  if (model->has_faulty_gpu) print_error(model->device_reason + "; using the CPU instead");
  if (const std::string warning = long_context(*model); !warning.empty()) print_error(warning);
  if (remembers) remember_model(model->file.path(), state_directory());
  const ChatSettings settings = settings_from(options, model->file_sampling);
  if (settings.verbose) model->decoder->steps().set_measuring(true);
  LocalResponder responder(*model);
  if (options.think.value_or(false) && !responder.facts().can_think) print_error(cannot_think(model_name(*model)));
  const std::unique_ptr<ToolAccess> tools = open_tools(std::move(sources), options, responder.facts());
  const StreamedAnswer streamed = answer(responder, tools.get(), options, settings, prompt, resumed.get());
  const std::string report =
      timing_report(streamed.end.timings, settings.session.sampling.seed, model->decoder->steps().profile());
  log_line("answered:\n" + report);
  if (settings.verbose) write_error_text(report);
  save_profile(*model, options);
  return exit_code(streamed);
}

// A form with a fault is refused before anything is loaded or asked.
ChatOptions with_form(ChatOptions options) {
  options.form = form_from(options);
  if (!options.form.is_free()) compiled(options.form);
  return options;
}

// A given flag that applies to models on this machine alone; nullptr: none.
const char* local_flag(const ChatOptions& options) {
  const std::pair<bool, const char*> local[] = {
      {!options.device.empty(), "--device"},
      {options.context != -1, "--ctx-size"},
      {!options.profile.empty(), "--profile"},
      {!options.chat_template.empty(), "--chat-template"},
      {!options.chat_template_file.empty(), "--chat-template-file"},
  };
  for (const auto& [given, name] : local)
    if (given) return name;
  return nullptr;
}

// Rejects flags that would be ignored.
void require_remote_flags(const ChatOptions& options) {
  if (const char* flag = local_flag(options))
    throw UsageError(std::string(flag) + " applies to models on this machine; leave it out with --endpoint");
  if (options.offline) throw UsageError("--offline uses no network and --endpoint needs one; use one or the other");
}

// A conversation goes on with the server of the last one, unless the flags want something else.
ChatOptions with_model_of_conversation(const ChatOptions& options) {
  const bool is_open = options.model.empty() && options.endpoint.empty() && !options.offline && !local_flag(options);
  const std::optional<LastServer> last = is_open ? last_known_server() : std::nullopt;
  if (!last) return with_chosen_model(options);
  ChatOptions chosen = options;
  chosen.endpoint = last->endpoint;
  chosen.model = last->model;
  try {
    return with_chosen_model(chosen);
  } catch (const HttpBroken& error) {
    throw Error(std::string(error.what()) + "; the last conversation was held there, -m chooses another model");
  }
}

int print_served_models(const std::vector<RemoteModel>& models, bool as_json) {
  if (as_json) return write_json(served_json(models)), 0;
  std::string rows;
  for (const std::string& row : served_rows(models)) rows += row + "\n";
  write_text(rows);
  return 0;
}

int answer_from_endpoint(const ChatOptions& options, ToolSources sources) {
  if (options.list_models)
    return print_served_models(list_models(find_endpoint(options), wait_at_terminal()), options.json);
  const std::string prompt = read_prompt(options);
  const std::unique_ptr<ResumedChat> resumed = resumed_chat(options);
  const std::unique_ptr<RemoteResponder> responder = open_endpoint(options, wait_at_terminal());
  const std::string endpoint = responder->facts().endpoint;
  if (const std::string there = where_text_goes(endpoint); !there.empty())
    write_error_text("answers come from " + there + "\n");
  const ChatSettings settings = settings_from(options, servers_own_sampling());
  const std::unique_ptr<ToolAccess> tools = open_tools(std::move(sources), options, responder->facts());
  const StreamedAnswer streamed = answer(*responder, tools.get(), options, settings, prompt, resumed.get());
  const std::string report = timing_report(streamed.end.timings, seed_of(*responder, settings), Profile());
  log_line("answered by " + endpoint + ":\n" + report);
  if (settings.verbose) write_error_text(report);
  return exit_code(streamed);
}

#ifdef WARPCHAT_GUI
// Whether text is piped into the program; a launcher connects /dev/null or nothing.
bool input_is_piped() {
  struct stat status;
  return fstat(STDIN_FILENO, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISREG(status.st_mode));
}
#endif

int run_in_window(const ChatOptions& options) {
  if (options.prompt || !options.prompt_files.empty())
    throw UsageError("--gui opens a window, -p and -f print one answer; use one or the other");
  if (options.raw) throw UsageError("--raw completes one prompt; use it with -p, -f or standard input, without --gui");
#ifdef WARPCHAT_GUI
  if (input_is_piped()) print_error("standard input is ignored: with --gui, write messages in the window");
  return run_window(options);
#else
  throw Error("this program was built without a window (WARPCHAT_GUI=OFF); run " + program_name() +
              " without --gui for the terminal");
#endif
}

}  // namespace

int run_command(const ChatOptions& given) {
  const bool interactive = is_interactive(given);
  const ChatOptions options =
      with_form(with_resumed(given, interactive ? ResumedChoices::kLeft : ResumedChoices::kTaken));
  if (options.converse && (options.prompt || !options.prompt_files.empty()))
    throw UsageError("-cnv and -i start a conversation, -p and -f print one answer; use one or the other");
  if (options.parallel != 1) throw Error("--parallel above 1 is not supported: a prompt has one answer; leave it out");
  set_output_habits({!options.no_word_wrap, options.plain});
  settings_from(options, {});  // faults of flags show before anything is loaded
  const bool is_remote = !options.endpoint.empty();
  if (options.resume && (options.gui || options.no_history || options.raw))
    throw UsageError(options.gui ? "--resume works in the terminal; the window lists all conversations"
                     : options.no_history
                         ? "--no-history stores no conversation, --resume continues one; use one or the other"
                         : "--raw completes a text, --resume continues a conversation; use one or the other");
  if (options.json && !options.list_models && (options.gui || interactive))
    throw UsageError("--json prints one answer; use it with -p, -f or standard input");
  if (is_remote) require_remote_flags(options);
  ToolSources sources = options.list_models ? ToolSources{} : tool_sources(tools_to_check(options));
  if (is_remote && (options.list_models || !(options.gui || interactive)))
    return answer_from_endpoint(options, std::move(sources));
  if (!is_remote && !options.api_key_env.empty()) throw UsageError("--api-key-env needs --endpoint");
  if (options.list_models) return list_local_models(options, options.json);
  if (options.gui) return run_in_window(options);
  if (!options.gui_state.empty()) throw UsageError("--gui-state needs --gui");
  if (interactive && options.raw) throw UsageError("--raw completes one prompt; use it with -p, -f or standard input");
  const ChatOptions chosen = interactive ? with_model_of_conversation(options) : with_chosen_model(options);
  const bool asks_server = !chosen.endpoint.empty();
  if (asks_server) require_remote_flags(chosen);
  if (interactive) {
    if (!asks_server) model_options(chosen);  // reports wrong flags before anything is loaded
    return Conversation(chosen).run();
  }
  if (asks_server) return answer_from_endpoint(chosen, std::move(sources));
  return answer_once(chosen, std::move(sources), read_prompt(chosen), /*remembers=*/options.model.empty());
}

}  // namespace warpchat
