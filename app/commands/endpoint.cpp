// chat endpoint: manages named servers.
#include <termios.h>
#include <unistd.h>

#include "app/commands/commands.h"
#include "app/model_choice/endpoint_book.h"
#include "app/model_choice/endpoint_changes.h"
#include "app/platform/output.h"
#include "app/platform/program_name.h"
#include "app/platform/signals.h"
#include "app/platform/text_input.h"
#include "engine/remote/endpoint.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr size_t kLongestKey = 4096;

// Turns echo off at a terminal.
std::string read_key() {
  termios mode;
  const bool hides = input_is_terminal() && tcgetattr(STDIN_FILENO, &mode) == 0;
  if (hides) {
    termios silent = mode;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    write_error("API key (not shown): ");
    set_terminal_mode(mode, silent, {});
  }
  std::string key;
  for (char c = 0; key.size() < kLongestKey && read(STDIN_FILENO, &c, 1) == 1 && c != '\n';) key += c;
  if (hides) {
    restore_terminal();
    write_error("\n");
  }
  while (key.ends_with('\r') || key.ends_with(' ')) key.pop_back();
  if (key.empty()) throw UsageError("no key on standard input");
  require_key(key);
  return key;
}

std::string place_of(const NamedEndpoint& endpoint) {
  if (!endpoint.key_variable.empty()) return "key in the variable " + endpoint.key_variable;
  if (!endpoint.key_place) return "no key";
  return *endpoint.key_place == KeyPlace::kKeyring ? "key in the desktop's keyring" : "key in " + key_file();
}

int add(const EndpointOptions& options) {
  if (options.name.empty() || options.url.empty())
    throw UsageError(
        with_program_name("{chat} endpoint add needs a name and an address: {chat} endpoint add NAME URL"));
  require_endpoint_name(options.name);
  if (options.key_from_stdin && !options.api_key_env.empty())
    throw UsageError("use --api-key-env or --key-from-stdin, not both");
  const NamedEndpoint endpoint{options.name, base_url(options.url), options.api_key_env, std::nullopt, options.model};
  const EndpointBook book;
  if (const NamedEndpoint* before = book.find(options.name))
    print_error(options.name + " was " + before->url + " until now");
  store_endpoint(endpoint, options.key_from_stdin ? read_key() : "");
  write_error_text(endpoint.name + ": " + endpoint.url + ", " + place_of(*EndpointBook().find(endpoint.name)) + "\n");
  return 0;
}

int remove(const EndpointOptions& options) {
  remove_endpoint(options.name);
  return 0;
}

int list() {
  const EndpointBook book;
  if (book.all().empty())
    print_error(with_program_name("no endpoint has a name; {chat} endpoint add NAME URL gives one"));
  std::string lines;
  for (const NamedEndpoint& endpoint : book.all())
    lines += endpoint.name + "  " + endpoint.url + "  " + place_of(endpoint) +
             (endpoint.model.empty() ? "" : "  model " + printable(endpoint.model, 400)) + "\n";
  write_output(lines);
  return 0;
}

}  // namespace

int run_command(const EndpointOptions& options) {
  if (options.action == "add") return add(options);
  if (options.action == "remove") return remove(options);
  if (!options.name.empty() || !options.url.empty())
    throw UsageError(program_name() + " endpoint list takes no arguments");
  return list();
}

}  // namespace warpchat
