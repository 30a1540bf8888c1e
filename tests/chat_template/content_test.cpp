// Content bytes of a prompt, through all text operations of templates. Brackets mark what came from the messages.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "models/chat_template/chat_template.h"

namespace warpchat {
namespace {

using nlohmann::ordered_json;

const ordered_json kVariables = {{"messages", {{{"role", "user"}, {"content", "aB cé"}}}},
                                 {"tools", {{{"name", "f<>"}, {"n", 7}, {"list", {"x", "y"}}}}},
                                 {"documents", {"d"}},
                                 {"bos_token", "<s>"}};

std::string shown(const TracedText& prompt) {
  std::string out;
  size_t at = 0;
  for (const TextRange& range : prompt.content) {
    EXPECT_TRUE(range.begin < range.end && range.end <= prompt.bytes.size() && (at == 0 || range.begin > at));
    out += prompt.bytes.substr(at, range.begin - at) + "⟦" + prompt.bytes.substr(range.begin, range.end - range.begin) +
           "⟧";
    at = range.end;
  }
  return out + prompt.bytes.substr(at);
}

// c is content, m mixes the template's text and content: "<aB cé>".
std::string shown(const std::string& body) {
  const std::string source =
      "{% set c = messages[0].content %}{% set m = '<' + c + '>' %}{% set t = tools[0] %}" + body;
  const ChatTemplate parsed(source);
  const TracedText prompt = parsed.render_parts(kVariables);
  EXPECT_EQ(prompt.bytes, parsed.render(kVariables));
  return shown(prompt);
}

struct Row {
  const char *expression, *expected;
};

// clang-format off
const Row kExpressions[] = {
    // Where texts come from
    {"c", "⟦aB cé⟧"},
    {"'own'", "own"},
    {"bos_token", "<s>"},
    {"messages[0].role", "⟦user⟧"},
    {"t.name", "⟦f<>⟧"},
    {"documents[0]", "⟦d⟧"},
    {"t|list|first", "⟦name⟧"},
    {"t.n", "7"},
    {"messages[0].nope", ""},
    {"strftime_now('%%')", "%"},
    {"strftime_now('%%' + c)", "⟦%aB cé⟧"},
    // Joining
    {"m", "<⟦aB cé⟧>"},
    {"c + c", "⟦aB céaB cé⟧"},
    {"'<' ~ c ~ 1 ~ c", "<⟦aB cé⟧1⟦aB cé⟧"},
    {"m * 2", "<⟦aB cé⟧><⟦aB cé⟧>"},
    {"['x', c, 'y']|join('-')", "x-⟦aB cé⟧-y"},
    {"['x', 'y']|join(c)", "x⟦aB cé⟧y"},
    {"messages|join(',', attribute='role')", "⟦user⟧"},
    {"c.join(['x', 'y'])", "x⟦aB cé⟧y"},
    {"'-'.join([c, 'y'])", "⟦aB cé⟧-y"},
    {"('<' ~ c)|safe + '&' + c", "<⟦aB cé⟧&amp;⟦aB cé⟧"},
    // Cutting
    {"m[0]", "<"},
    {"m[1]", "⟦a⟧"},
    {"m[-2]", "⟦é⟧"},
    {"m[:3]", "<⟦aB⟧"},
    {"m[4:]", "⟦cé⟧>"},
    {"m[-2:]", "⟦é⟧>"},
    {"m[::-1]", ">⟦éc Ba⟧<"},
    {"m[::6]", "<>"},
    {"m[1::2]", "⟦a é⟧"},
    {"m|reverse", ">⟦éc Ba⟧<"},
    {"m|list|join('|')", "<|⟦a⟧|⟦B⟧|⟦ ⟧|⟦c⟧|⟦é⟧|>"},
    {"m|first ~ m|last ~ c|last", "<>⟦é⟧"},
    {"(' ' + m + ' ').strip()", "<⟦aB cé⟧>"},
    {"m.strip('<a')", "⟦B cé⟧>"},
    {"m.lstrip('<') ~ m.rstrip('>')", "⟦aB cé⟧><⟦aB cé⟧"},
    {"(' ' ~ c ~ '\\n')|trim", "⟦aB cé⟧"},
    {"m.removeprefix('<a') ~ m.removesuffix('é>')", "⟦B cé⟧><⟦aB c⟧"},
    {"m.split()|join('|')", "<⟦aB⟧|⟦cé⟧>"},
    {"m.split('B')|join('|')", "<⟦a⟧|⟦ cé⟧>"},
    {"m.split('B')[-1].lstrip()", "⟦cé⟧>"},
    {"m.rsplit(' ', 1)|join('|')", "<⟦aB⟧|⟦cé⟧>"},
    {"(m ~ '\\n' ~ c).splitlines()|join('|')", "<⟦aB cé⟧>|⟦aB cé⟧"},
    {"m.partition('B')|join('|')", "<⟦a⟧|⟦B⟧|⟦ cé⟧>"},
    {"m.partition('<')|join('|')", "|<|⟦aB cé⟧>"},
    {"m.rpartition('nope')|join('|')", "||<⟦aB cé⟧>"},
    {"(m * 3)|truncate(11, true, '!', 0)", "<⟦aB cé⟧><⟦aB⟧!"},
    {"m|truncate(5, false, '…', 0)", "<⟦aB⟧…"},
    {"m|batch(3)|map('join')|join('|')", "<⟦aB⟧|⟦ cé⟧|>"},
    // Changing
    {"m|replace('B', '!')", "<⟦a⟧!⟦ cé⟧>"},
    {"m.replace('<', c)", "⟦aB céaB cé⟧>"},
    {"m.replace('', '.')", ".<.⟦a⟧.⟦B⟧.⟦ ⟧.⟦c⟧.⟦é⟧.>."},
    {"m.replace('B', '', 0)", "<⟦aB cé⟧>"},
    {"m|upper", "<⟦AB CÉ⟧>"},
    {"m.lower() ~ m|capitalize", "<⟦ab cé⟧><⟦ab cé⟧>"},
    {"m|title ~ m.title()", "<⟦Ab Cé⟧><⟦Ab Cé⟧>"},
    {"m.swapcase()", "<⟦Ab CÉ⟧>"},

    {"'ß'|upper", "SS"},
    {"m|center(9)", " <⟦aB cé⟧> "},
    {"c.ljust(7, '.') ~ c.rjust(6) ~ 'x'.ljust(3, t.list[0])", "⟦aB cé⟧.. ⟦aB cé⟧x⟦xx⟧"},
    {"('-' ~ c).zfill(8)", "-00⟦aB cé⟧"},
    {"(c ~ '\\n' ~ c)|indent(2, true)", "  ⟦aB cé⟧\n  ⟦aB cé⟧"},
    {"'x\ny'|indent(c)", "x\n⟦aB cé⟧y"},
    {"t.name|e ~ '<'|e", "⟦f&lt;&gt;⟧&lt;"},
    {"t.name|forceescape", "⟦f&lt;&gt;⟧"},
    {"('/ ' ~ c)|urlencode", "/%20⟦aB%20c%C3%A9⟧"},
    {"{'k': c}|urlencode", "k=⟦aB+c%C3%A9⟧"},
    // Printing
    {"[c, 'x', 1, none]", "['⟦aB cé⟧', 'x', 1, None]"},
    {"{'k': t.list}", "{'k': ['⟦x⟧', '⟦y⟧']}"},
    {"t", "{'⟦name⟧': '⟦f<>⟧', '⟦n⟧': 7, '⟦list⟧': ['⟦x⟧', '⟦y⟧']}"},
    {"[c ~ '\\n\\'' ~ '\"']", "['⟦aB cé⟧\\n\\'\"']"},
    {"['\\n' ~ (c|replace('a', '\\t'))]", "['\\n\\t⟦B cé⟧']"},
    {"t|tojson", "{\"⟦name⟧\": \"⟦f<>⟧\", \"⟦n⟧\": 7, \"⟦list⟧\": [\"⟦x⟧\", \"⟦y⟧\"]}"},
    {"m|tojson(ensure_ascii=true)", "\"<⟦aB c\\u00e9⟧>\""},
    {"['x', 'y']|tojson(separators=[c, ':'])", "[\"x\"⟦aB cé⟧\"y\"]"},
    {"[1]|tojson(indent=c)", "[\n⟦aB cé⟧1\n]"},
    {"c|string", "⟦aB cé⟧"},
    // Formats
    {"'%s|%r|%d|%%' % (c, c, t.n)", "⟦aB cé⟧|'⟦aB cé⟧'|7|%"},
    {"'%7s|%-6.2s|' % (c, c)", "  ⟦aB cé⟧|⟦aB⟧    |"},
    {"'%(k)s' % {'k': c}", "⟦aB cé⟧"},
    {"(c ~ '%s') % 'x'", "⟦aB cé⟧x"},
    {"'%c%c' % ('x', 60)", "x⟦<⟧"},  // the number may come from a message
    {"'%s-%s'|format('x', c)", "x-⟦aB cé⟧"},
    {"'{0}{{{1}}}'.format('x', c)", "x{⟦aB cé⟧}"},
    {"'{:>7}|{:.1}|{!r}'.format(c, c, c)", "  ⟦aB cé⟧|⟦a⟧|'⟦aB cé⟧'"},
    {"'{0.name}{0[n]}{k}'.format(t, k='x')", "⟦f<>⟧7x"},
    {"'{:{}>3}'.format('x', t.list[0])", "⟦xxx⟧"},  // the fill counts as content, so everything does
    {"(c ~ '{}{}').format('x', c)", "⟦aB cé⟧x⟦aB cé⟧"},
    // A lookup returns the found text, not the key
    {"{'aB cé': 'own'}[c]", "own"},
    {"{c: 1, 'aB cé': 2}", "{'⟦aB cé⟧': 2}"},
    {"{'aB cé': 1, c: 2}", "{'aB cé': 2}"},
    {"(['aB cé'] + [c])|unique|join", "aB cé"},
    {"([c] + ['aB cé'])|unique|join", "⟦aB cé⟧"},
    {"['b', c]|sort|join ~ ['b', c]|min", "⟦aB cé⟧b⟦aB cé⟧"},
    {"c == 'aB cé' and c in ['aB cé'] and 'B' in c", "True"},
    {"'own' if c == 'aB cé' else c", "own"},
    {"nope|default(c)", "⟦aB cé⟧"},
    {"c|length ~ c.find('B') ~ c|wordcount", "512"},
    {"t.items()|map('first')|join(',')", "⟦name⟧,⟦n⟧,⟦list⟧"},
    {"(t|dictsort)[0][0]", "⟦list⟧"},
    {"dict(t, own=1)|list|join(',')", "⟦name⟧,⟦n⟧,⟦list⟧,own"},
    {"dict(**t)|list|join(',')", "⟦name⟧,⟦n⟧,⟦list⟧"},
    {"[c, 'x']|map('upper')|join(',')", "⟦AB CÉ⟧,X"},
};

const Row kBodies[] = {
    {"<{{ c }}>", "<⟦aB cé⟧>"},
    {"{% for x in t.list %}{{ loop.previtem }}{{ x }};{% endfor %}", "⟦x⟧;⟦xy⟧;"},
    {"{% for k, v in t.items() %}{{ k }}={{ v }};{% endfor %}", "⟦name⟧=⟦f<>⟧;⟦n⟧=7;⟦list⟧=['⟦x⟧', '⟦y⟧'];"},
    {"{% for x in m %}{{ x }}.{% endfor %}", "<.⟦a⟧.⟦B⟧.⟦ ⟧.⟦c⟧.⟦é⟧.>."},
    {"{% set ns = namespace(text='') %}{% for x in t.list %}{% set ns.text = ns.text ~ '-' ~ x %}{% endfor %}{{ ns.text }}",
     "-⟦x⟧-⟦y⟧"},
    {"{% set block %}<{{ c }}>{% endset %}{{ block|trim }}", "<⟦aB cé⟧>"},
    {"{% set block | upper %}<{{ c }}>{% endset %}{{ block }}", "<⟦AB CÉ⟧>"},
    {"{% filter upper %}x{{ c }}{% endfilter %}", "X⟦AB CÉ⟧"},
    {"{% macro tag(x, y='own') %}<{{ x }}{{ y }}>{% endmacro %}{{ tag(c) }}{{ tag('x', c)[1:] }}",
     "<⟦aB cé⟧own>x⟦aB cé⟧>"},
    {"{% macro all() %}{{ kwargs }}{{ varargs }}{% endmacro %}{{ all(c, own=1, **{t.name: 2}) }}",
     "{'own': 1, '⟦f<>⟧': 2}('⟦aB cé⟧',)"},
    {"{% macro frame() %}<{{ caller() }}>{% endmacro %}{% call frame() %}x{{ c }}{% endcall %}", "<x⟦aB cé⟧>"},
    {"{% with x = c, y = 'own' %}{{ x }}{{ y }}{% endwith %}", "⟦aB cé⟧own"},
    // Qwen3 splits an answer like this, to show only the last one's reasoning
    {"{% set a = '<think>\nhm\n</think>\n\n' ~ c %}{% if '</think>' in a %}"
     "{% set thought = a.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}"
     "{% set a = a.split('</think>')[-1].lstrip('\n') %}{{ thought }}|{{ a }}{% endif %}", "hm|⟦aB cé⟧"},
    {"{% set a = c ~ '</think>' ~ c %}{{ a.split('</think>')[-1] }}</think>{{ a.split('</think>')|first }}",
     "⟦aB cé⟧</think>⟦aB cé⟧"},
};
// clang-format on

TEST(Content, IsWhatCameInWithTheMessages) {
  for (const Row& row : kExpressions)
    EXPECT_EQ(shown("{{ " + std::string(row.expression) + " }}"), row.expected) << row.expression;
  for (const Row& row : kBodies) EXPECT_EQ(shown(std::string(row.expression)), row.expected) << row.expression;
}

TEST(Content, OfTooManyPartsIsOneFromThereOn) {
  const TracedText prompt = ChatTemplate("{{ ('x' ~ messages) * 2000000 }}").render_parts({{"messages", "y"}});
  ASSERT_EQ(prompt.content.size(), TracedText::kMaxRanges);
  EXPECT_EQ(prompt.content[1], (TextRange{3, 4}));
  EXPECT_EQ(prompt.content.back(), (TextRange{2 * TracedText::kMaxRanges - 1, prompt.bytes.size()}));
}

// Equal texts remain separate values, wherever they come from.
TEST(Content, IsNotMixedBetweenRenderings) {
  const ChatTemplate parsed("{% set own = 'x' %}{{ own }}{{ messages }}{{ bos_token }}");
  const ordered_json content = {{"messages", "x"}, {"bos_token", "x"}}, none = {{"bos_token", "x"}};
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(shown(parsed.render_parts(content)), "x⟦x⟧x");
    EXPECT_EQ(shown(parsed.render_parts(none)), "xx");
  }
}

}  // namespace
}  // namespace warpchat
