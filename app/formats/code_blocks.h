// The fenced code blocks of a Markdown text.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

struct CodeBlock {
  std::string info;  // what stands behind the opening fence: "cpp"
  std::string code;  // each line with its end
};

// In order. A block without a closing fence ends with the text. Lines lose the indentation of their opening fence.
std::vector<CodeBlock> code_blocks(std::string_view markdown);

}  // namespace warpchat
