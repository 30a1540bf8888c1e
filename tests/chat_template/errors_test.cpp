// Exact messages for templates that use something missing, fail, or exceed limits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "models/chat_template/chat_template.h"
#include "models/chat_template/interpreter.h"
#include "models/chat_template/parser.h"
#include "models/error.h"
#include "tests/support/error_of.h"

namespace warpchat {
namespace {

using nlohmann::ordered_json;

struct ErrorCase {
  const char* name;
  std::string source;
  const char* message;
};

std::string message_of(const std::string& source, const ordered_json& variables) {
  try {
    return "rendered as " + ChatTemplate(source).render(variables);
  } catch (const Error& error) {
    return error.what();
  }
}

std::string repeat(const std::string& text, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += text;
  return out;
}

TEST(Errors, NameTheConstructAndItsLine) {
  const ErrorCase kCases[] = {
      {"unsupported tag", "a\n{% include 'x' %}", "chat template line 2: the tag 'include' is not supported"},
      {"unsupported tags stand alone", "{% import 'x' as y %}",
       "chat template line 1: the tag 'import' is not supported"},
      {"no inheritance", "{% extends 'x' %}", "chat template line 1: the tag 'extends' is not supported"},
      {"recursive loop", "\n\n{% for a in b recursive %}{% endfor %}",
       "chat template line 3: a recursive 'for' is not supported"},
      {"unknown filter", "{{ 1 }}\n{{ 1|groupby('a') }}",
       "chat template line 2: the filter 'groupby' is not supported"},
      {"unknown filter, reached", "{% if true %}\n{{ 1|pprint }}{% endif %}",
       "chat template line 2: the filter 'pprint' is not supported"},
      {"unknown test", "{{ 1 is prime }}", "chat template line 1: the test 'prime' is not supported"},
      {"unknown tag inside another", "{% if a %}\n{% foo %}{% endif %}",
       "chat template line 2: unknown tag 'foo'; the tag 'if' of line 1 is still open"},
      {"wrong end", "{% for a in b %}\n{% endif %}",
       "chat template line 2: unexpected tag 'endif'; the tag 'for' of line 1 is still open"},
      {"open block is named at its start", "a\n{% for a in b %}\nx",
       "chat template line 2: the tag 'for' is not closed with 'endfor'"},
      {"syntax", "{{ 1 +\n * 2 }}", "chat template line 2: found '*' where an expression is expected"},
      {"open string", "\n{{ 'a }}", "chat template line 2: the string that begins here is not closed"},
      {"run time, in the line of the operator", "{{\n1\n+\n'a' }}",
       "chat template line 2: the operator + does not take values of types int and str"},
      {"run time, inside a loop", "{% for a in [1] %}\n{% if a %}\n{{ a.b.c }}{% endif %}{% endfor %}",
       "chat template line 3: int has no attribute or item 'b'"},
      {"run time, inside a macro", "{% macro m() %}\n{{ 1 / 0 }}\n{% endmacro %}\n{{ m() }}",
       "chat template line 2: division by zero"},
      {"run time, behind a macro's call", "{% macro m() %}\n\n{% endmacro %}\n{{ m() + 1 }}",
       "chat template line 4: the operator + does not take values of types str and int"},
      {"unpacking", "\n{% for a, b in [[1]] %}{% endfor %}",
       "chat template line 2: a sequence of 1 cannot be unpacked into 2 names"},
      {"undefined variable", "{{ messages[0].role + 'x' }}", "chat template line 1: 'messages' is undefined"},
      {"the template's own refusal", "{{ raise_exception('roles must alternate') }}",
       "chat template line 1: the template refuses these messages: roles must alternate"},
      {"a message stays on one line", "{{ raise_exception('a\\nb') }}",
       "chat template line 1: the template refuses these messages: a\\x0ab"},
      {"integers end at 64 bits", "{{ 9223372036854775807 + 1 }}",
       "chat template line 1: the result is an int beyond 64 bits"},
      {"literals end at 64 bits", "{{ 9223372036854775808 }}", "chat template line 1: an int is beyond 64 bits"},
      {"text that is not UTF-8", "a\n\xff", "chat template line 2: byte 2 of the template is not valid UTF-8"},
      {"half a surrogate", "{{ '\\ud83d' }}", "chat template line 1: the escape 'd83d' in a string is no character"},
      {"variable of 64 unsigned bits", "{{ 1 }}{{ huge }}",
       "cannot render the prompt: the integer 18446744073709551615 does not fit 64 signed bits"},
  };
  for (const ErrorCase& row : kCases) {
    SCOPED_TRACE(row.name);
    const bool is_huge = row.source.find("huge") != std::string::npos;
    EXPECT_EQ(message_of(row.source, is_huge ? ordered_json{{"huge", UINT64_MAX}} : ordered_json::object()),
              row.message);
  }
}

// No template overflows the stack, runs forever or takes all memory.
TEST(Limits, StopWhatGoesTooFar) {
  const jinja::Limits limits{.bytes = 8 << 20, .steps = 300'000};
  const ErrorCase kCases[] = {
      {"brackets", "{{ " + repeat("(", 10'000) + "1" + repeat(")", 10'000) + " }}",
       "chat template line 1: an expression is nested too deeply"},
      {"signs", "{{ " + repeat("- ", 10'000) + "1 }}", "chat template line 1: an expression is nested too deeply"},
      {"nots", "{{ " + repeat("not ", 10'000) + "1 }}", "chat template line 1: an expression is nested too deeply"},
      {"a long sum is a deep tree", "{{ 1" + repeat(" + 1", 10'000) + " }}",
       "chat template line 1: an expression is nested too deeply"},
      {"a long chain of attributes", "{{ a" + repeat(".a", 10'000) + " }}",
       "chat template line 1: an expression is nested too deeply"},
      {"a long chain of filters", "{{ a" + repeat("|trim", 10'000) + " }}",
       "chat template line 1: an expression is nested too deeply"},
      {"blocks", repeat("{% if 1 %}", 10'000), "chat template line 1: blocks are nested too deeply"},
      {"targets", "{% set " + repeat("(", 10'000) + "a" + repeat(")", 10'000) + " = 1 %}",
       "chat template line 1: a target is nested too deeply"},
      {"endless recursion", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
       "chat template line 1: expressions, blocks and macros are nested deeper than 1000 levels"},
      {"loops in loops", "{% for a in range(1000) %}{% for b in range(1000) %}{% endfor %}{% endfor %}",
       "chat template line 1: the template takes more than 300000 steps"},
      {"a list that feeds its own loop", "{% set l = [1] %}{% for a in l %}{% set _ = l.append(a) %}{% endfor %}",
       "chat template line 1: the template takes more than 300000 steps"},
      {"a text that doubles",
       "{% set ns = namespace(t='x') %}{% for a in range(99) %}{% set ns.t = ns.t ~ ns.t %}{% endfor %}",
       "chat template line 1: the template needs more than 8 MiB of memory"},
      {"a repeated text", "{{ 'x' * 1000000000000 }}", "chat template line 1: a repeated text is too long"},
      {"a repeated list", "{{ [1] * 1000000000000 }}", "chat template line 1: a repeated list is too long"},
      {"a joined text", "{{ ''.join(['x' * 1000000] * 1000) }}",
       "chat template line 1: a joined text is longer than 64 MiB"},
      {"a wide column", "{{ 'x'.center(1000000000000) }}", "chat template line 1: a width is too large"},
      {"a wide number", "{{ '%1000000000000d' % 1 }}", "chat template line 1: a width is too large"},
      {"a list in itself, printed", "{% set l = [] %}{% set _ = l.append(l) %}{{ l }}",
       "chat template line 1: a value is nested deeper than 400 levels"},
      {"a list in itself, as JSON", "{% set l = [] %}{% set _ = l.append(l) %}{{ l|tojson }}",
       "chat template line 1: a value is nested deeper than 400 levels"},
      {"lists in themselves, compared",
       "{% set a = [] %}{% set b = [] %}{% set _ = a.append(a) %}{% set _ = b.append(b) %}{{ a == b }}",
       "chat template line 1: a value is nested deeper than 400 levels"},
      {"a namespace in itself", "{% set ns = namespace() %}{% set ns.a = ns %}{{ ns }}",
       "chat template line 1: a value is nested deeper than 400 levels"},
      {"shared parts, printed",
       "{% set ns = namespace(l=[]) %}{% for a in range(50) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}"
       "{{ ns.l }}",
       "chat template line 1: a value has more than 4000000 parts"},
      {"a range beyond the sandbox's", "{{ range(100001) }}",
       "chat template line 1: a range has more than 100000 items"},
  };
  for (const ErrorCase& row : kCases) {
    SCOPED_TRACE(row.name);
    std::string message = "rendered";
    try {
      jinja::Interpreter(limits).run(jinja::parse_template(row.source), ordered_json::object());
    } catch (const Error& error) {
      message = error.what();
    }
    EXPECT_EQ(message, row.message);
  }
}

// Each costs more than its number of expressions: what it reads and moves is counted.
TEST(Limits, CountWhatAnExpressionCosts) {
  const jinja::Limits limits{.steps = 100'000, .work = 30'000'000};
  const std::string big = "{% set s = 'a' * 100000 %}{% set n = range(5000)|list %}";
  const std::string loop = "{% for i in range(20000) %}", end = "{% endfor %}";
  const char* kFaultyExpressions[] = {
      "{% if 'b' in s %}{% endif %}",
      "{% if s == 'a' * 100000 %}{% endif %}",
      "{% if s < s ~ 'b' %}{% endif %}",
      "{% set x = s.find('b') %}",
      "{% set x = s.rfind('b') %}",
      "{% set x = s.count('b') %}",
      "{% set x = s.replace('b', 'c') %}",
      "{% set x = s.upper() %}",
      "{% set x = s.split('b') %}",
      "{% set x = s.rsplit(none, 3) %}",
      "{% set x = s.endswith('b') %}",
      "{% set x = s|length %}",
      "{% set x = s|upper %}",
      "{% set x = s[5] %}",
      "{% set x = s[5:7] %}",
      "{% set x = [s]|select('eq', 'a' * 100000)|list %}",
      "{% set x = [s]|map('length')|list %}",
      "{% set x = {s: 1} %}",
      "{% set x = n.insert(0, 1) %}",
      "{% set x = n.pop(0) %}",
      "{% set x = n.index(4999) %}",
      "{% set x = n.count(5) %}",
      "{% set x = n.reverse() %}",
      "{% set x = n.sort() %}",
      "{% if 'x' in n %}{% endif %}",
      "{% set x = n|length ~ n[1:]|length %}",
      "{% set x = n|max %}",
      "{% set x = n|tojson %}",
      "{{ s }}",
      "{% set x = s.format %}{% set y = x() %}",
  };
  for (const char* expression : kFaultyExpressions) {
    SCOPED_TRACE(expression);
    std::string message = "rendered";
    try {
      jinja::Interpreter(limits).run(jinja::parse_template(big + loop + expression + end), ordered_json::object());
    } catch (const Error& error) {
      message = error.what();
    }
    EXPECT_THAT(message, testing::AnyOf("chat template line 1: the template does too much work; is it broken?",
                                        "chat template line 1: the template's output is longer than 64 MiB"));
  }
}

TEST(Limits, StopATemplate) {
  const jinja::Template endless = jinja::parse_template(
      "{% set s = 'a' * 60000000 %}{% for i in range(100000) %}"
      "{% if 'b' in s %}{% endif %}{% endfor %}");
  int n_asked = 0;
  const auto run = [&](const jinja::Limits& limits) {
    return error_of([&] { jinja::Interpreter(limits).run(endless, ordered_json::object()); });
  };
  EXPECT_EQ(run({.is_stopped = [&] { return ++n_asked == 3; }}), "chat template line 1: stopped");
  EXPECT_EQ(run({.time = std::chrono::milliseconds(0)}),
            "chat template line 1: the template takes longer than 0 seconds");
}

TEST(Limits, ErasingKeepsADictsOrder) {
  const auto render = [](const char* source) { return ChatTemplate(source).render(ordered_json::object()); };
  EXPECT_EQ(render("{% set d = dict() %}{% for i in range(300) %}{% set _ = d.update({i: i}) %}{% endfor %}"
                   "{% for i in range(300) if i % 100 %}{% set _ = d.pop(i) %}{% endfor %}"
                   "{% set _ = d.update({7: 8, 0: 9}) %}{{ d }} {{ d|length }} {{ d[200] }} {{ d.get(5) }}"),
            "{0: 9, 100: 100, 200: 200, 7: 8} 4 200 None");
  EXPECT_EQ(render("{% set d = {'a': 1} %}{% set _ = d.pop('a') %}{{ d }}{{ d|length }}{% if d %}x{% endif %}"
                   "{{ d == {} }}"),
            "{}0True");
  // Each erasure takes as long whatever the size: within the steps of this template, hours otherwise.
  EXPECT_EQ(render("{% set d = dict() %}{% for i in range(100000) %}{% set _ = d.update({i: i}) %}{% endfor %}"
                   "{% for i in range(100000) %}{% set _ = d.pop(i) %}{% endfor %}{{ d }}"),
            "{}");
}

TEST(Limits, LeaveRoomForRealTemplates) {
  const std::string deep = "{{ " + repeat("(", 80) + "1" + repeat(" + 1)", 80) + " }}";
  EXPECT_EQ(ChatTemplate(deep).render(ordered_json::object()), "81");
  const std::string recursive =
      "{% macro m(n) %}{% if n %}{{ n % 10 }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(100) }}";
  EXPECT_EQ(ChatTemplate(recursive).render(ordered_json::object()).size(), 100u);
}

TEST(Limits, RefuseVariablesNestedTooDeeply) {
  ordered_json nested = ordered_json::array();
  for (int i = 0; i < 100'000; ++i) nested = ordered_json::array({std::move(nested)});
  EXPECT_EQ(message_of("x", {{"tools", std::move(nested)}}),
            "cannot render the prompt: a value is nested deeper than 400 levels");
}

}  // namespace
}  // namespace warpchat
