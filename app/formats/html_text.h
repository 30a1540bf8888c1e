// HTML as Markdown, for answers that other programs store so.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace warpchat {

// "&amp;", "&#65;" or "&#x41;" as a character. A number that is no character's stands for U+FFFD; an unknown name stays
// as it is.
std::string entity_text(std::string_view entity);

// Text with its entities as characters.
std::string without_entities(std::string_view text);

std::string in_html(std::string_view text);  // the text with entities for what would be markup, and for controls

struct HtmlText {
  std::string markdown;
  size_t n_pictures = 0;  // left out
};

// Headings, paragraphs, lists, quotes, code, tables, emphasis and links. Other elements give their text, scripts and
// styles nothing. A tag that does not end is text. Linear in the text.
HtmlText text_of_html(std::string_view html);

}  // namespace warpchat
