#include "app/formats/code_blocks.h"

#include <gtest/gtest.h>

#include "app/platform/clipboard.h"

namespace warpchat {
namespace {

struct BlockCase {
  const char* name;
  const char* markdown;
  std::vector<std::pair<std::string, std::string>> blocks;  // info and code
};

const BlockCase kBlocks[] = {
    {"none", "text with `code` and ```more```\n", {}},
    {"one", "see\n```cpp\nint a;\n\n```\nend", {{"cpp", "int a;\n\n"}}},
    {"two_kinds_of_fences", "```\na\n```\n~~~ py\nb\n~~~\n", {{"", "a\n"}, {"py", "b\n"}}},
    {"a_shorter_fence_within", "````md\n```\na\n```\n````\n", {{"md", "```\na\n```\n"}}},
    {"another_mark_within", "~~~\n```\n~~~\n", {{"", "```\n"}}},
    {"in_a_list", "- x\n  ```sh\n  ls\n    -l\n y\n  ```\n", {{"sh", "ls\n  -l\ny\n"}}},
    {"not_closed", "```c\nint a", {{"c", "int a\n"}}},
    {"only_opened", "```c", {{"c", ""}}},
    {"fence_with_info_closes_nothing", "```\na\n```b\n```\n", {{"", "a\n```b\n"}}},
};

class CodeBlocks : public testing::TestWithParam<BlockCase> {};
TEST_P(CodeBlocks, AreFound) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const CodeBlock& block : code_blocks(GetParam().markdown)) found.emplace_back(block.info, block.code);
  EXPECT_EQ(found, GetParam().blocks);
}
INSTANTIATE_TEST_SUITE_P(Rows, CodeBlocks, testing::ValuesIn(kBlocks),
                         [](const auto& test) { return test.param.name; });

TEST(Clipboard, WritesBase64) {
  const std::pair<std::string, std::string> cases[] = {
      {"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
      {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {std::string("\0\xff\x10", 3), "AP8Q"}};
  for (const auto& [bytes, text] : cases) EXPECT_EQ(base64_of(bytes), text);
}

}  // namespace
}  // namespace warpchat
