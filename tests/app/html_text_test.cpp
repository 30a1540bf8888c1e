// HTML as Markdown: every element that is known, and texts that are no HTML.
#include "app/formats/html_text.h"

#include <gtest/gtest.h>

#include <chrono>

namespace warpchat {
namespace {

struct HtmlCase {
  const char *name, *html, *markdown;
};

constexpr HtmlCase kHtmlCases[] = {
    {"nothing", "", ""},
    {"plain_text", "  a \n b\t", "a b"},
    {"paragraphs", "<p>a</p>\n<p class=\"x\">b</p>", "a\n\nb"},
    {"line_ends", "a<br>b<BR/>c", "a\nb\nc"},
    {"headings", "<h1>A</h1><p>b</p><h3>C d</h3>e", "# A\n\nb\n\n### C d\n\ne"},
    {"emphasis", "an <strong>a </strong>b <em> c</em>d<b></b><i>e</i>", "an **a** b *c*d*e*"},
    {"emphasis_that_never_began", "a</b> c</em>", "a c"},
    {"list", "<p>a:</p><ul><li>b</li><li><p>c</p></li>\n<li>d</li></ul><p>e</p>", "a:\n\n- b\n- c\n- d\n\ne"},
    {"numbered_list", "<ol><li>a<ul><li>b</li><li>c</li></ul></li><li>d</li></ol>", "1. a\n   - b\n   - c\n2. d"},
    {"paragraphs_of_an_item", "<ul><li><p>a</p><p>b</p></li></ul>", "- a\n\n   b"},
    {"item_without_list", "<li>a</li>", "- a"},
    {"code", "use <code>a  b</code> or <code>a`b</code>", "use `a  b` or `` a`b ``"},
    {"code_block", "x<pre><code class=\"language-cpp\">if (a &lt; b) {\n  <span>c</span>;\n}</code></pre>y",
     "x\n\n```cpp\nif (a < b) {\n  c;\n}\n```\n\ny"},
    {"code_block_with_a_fence", "<pre>```\n</pre>", "````\n```\n````"},
    {"code_that_does_not_end", "<pre>a<b>b", "```\nab\n```"},
    {"links", "see <a href=\"https://a.example/?b&amp;c\">the page</a> and <a name=\"d\">e</a>",
     "see [the page](https://a.example/?b&c) and e"},
    {"quote", "<blockquote><p>a</p><p>b</p></blockquote><p>c</p>", "> a\n>\n> b\n\nc"},
    {"quote_behind_text", "x<blockquote>a</blockquote>", "x\n\n> a"},
    {"table", "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td><p>1</p></td><td>2</td></tr></table>c",
     "| a | b |\n| --- | --- |\n| 1 | 2 |\n\nc"},
    {"rule", "a<hr>b", "a\n\n---\n\nb"},
    {"entities", "&lt;b&gt; &amp;amp; &#65;&#x42; &nbsp; &unknown; &; & &#0; AT&T",
     "<b> &amp; AB \xC2\xA0 &unknown; &; & � AT&T"},
    {"scripts_and_styles", "a<script>if (1 < 2) x();</script>b<style>p{}</style>c", "abc"},
    {"comments", "a<!-- b -->c<!DOCTYPE html>d", "acd"},
    {"unknown_elements", "<div><span>a</span></div><div>b</div><custom-x>c</custom-x>", "a\nb\nc"},
    {"no_tags", "1 < 2, a <- b, <3, x<", "1 < 2, a <- b, <3, x<"},
    {"tag_that_does_not_end", "a <b c", "a <b c"},
};

TEST(HtmlText, BecomesMarkdown) {
  for (const HtmlCase& c : kHtmlCases) EXPECT_EQ(text_of_html(c.html).markdown, c.markdown) << c.name;
}

TEST(HtmlText, CountsPictures) {
  const HtmlText text = text_of_html("a<img src=\"x\"><IMG alt='b'/>");
  EXPECT_EQ(text.markdown, "a");
  EXPECT_EQ(text.n_pictures, 2u);
}

// A megabyte of one piece takes milliseconds; in quadratic time it would take minutes.
TEST(HtmlText, IsLinearAndDoesNotGrow) {
  for (const char* piece : {"<", "<a", "<b>", "</i>", "<!--", "<ul><li>a", "<p>a", "<td>", "<pre>", "<code>", "&", "&#",
                            "<a href=", "<blockquote>a", "<script>", "<tr><td>"}) {
    std::string html;
    while (html.size() < 1 << 20) html += piece;
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_LE(text_of_html(html).markdown.size(), 4 * html.size()) << piece;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10)) << piece;
  }
}

}  // namespace
}  // namespace warpchat
