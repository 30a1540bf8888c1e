// The scanner's table of languages. Lists are words separated by single blanks.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace warpchat {

enum class CodeForm : uint8_t { kWords, kMarkup, kDiff };

struct CodeRow {
  std::string_view names;                    // as after a fence, lower case
  std::string_view comments = "// | /* */";  // to the line's end | from one to the other
  std::string_view quotes = "\" '";          // of strings that end with their line
  std::string_view long_quotes = {};         // of strings that go on over lines
  std::string_view raw_quotes = {};          // those of both without escapes
  std::string_view signs = {};               // of namespace sign
  std::string_view base = {};                // a row whose words and types are this one's, too
  std::string_view separators = {};          // between a key at a line's begin and its value
  std::string_view in_words = {};            // characters of words besides letters, digits and _
  CodeForm form = CodeForm::kWords;
  std::string_view keywords = {}, types = {};
};

// What a few languages have.
namespace sign {
inline constexpr char kPreprocessor = '#', kDecorator = '@', kVariable = '$', kHeredoc = 'h';
inline constexpr char kAttribute = '!';    // #[test], println!
inline constexpr char kNested = 'n';       // comments
inline constexpr char kPrefix = 'p';       // letters before a quote belong to the string
inline constexpr char kRawString = 'r';    // R"(...)", r#"..."#
inline constexpr char kLongBracket = 'l';  // [[...]], [==[...]==]
inline constexpr char kLifetime = '\'';
inline constexpr char kDots = '.';     // .f32
inline constexpr char kStyles = 's';   // CSS
inline constexpr char kKeys = 'k';     // JSON's strings before ":"
inline constexpr char kCapital = 'C';  // names with a capital are types
inline constexpr char kAnyCase = 'i';  // of keywords and types
}  // namespace sign

struct CodeLanguage {
  const CodeRow* row;
  std::vector<std::string_view> keywords, types;  // sorted
  std::vector<std::string_view> line_comments, quotes, long_quotes;
  std::string_view comment_opens = {}, comment_closes = {};
};

const CodeLanguage* code_language(std::string_view name);  // lower case; nullptr: there is no row

}  // namespace warpchat
