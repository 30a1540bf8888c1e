// Our templates for every construct, compared with jinja2's text or refusal in transformers' settings: cases.json,
// written by make_cases.py.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "models/chat_template/chat_template.h"
#include "models/error.h"

namespace warpchat {
namespace {

using nlohmann::ordered_json;

ordered_json read_cases() {
  std::ifstream file(WARPCHAT_SOURCE_DIR "/tests/chat_template/cases.json");
  return ordered_json::parse(file);
}

void check(const ordered_json& row, const ordered_json& variables) {
  const auto source = row.at("template").get<std::string>();
  SCOPED_TRACE(row.at("name").get<std::string>() + "\n" + source);
  try {
    const std::string text = ChatTemplate(source).render(variables);
    ASSERT_TRUE(row.contains("expected")) << "rendered as \"" << text << "\", jinja2: " << row.at("error");
    EXPECT_EQ(text, row.at("expected").get<std::string>());
  } catch (const Error& error) {
    EXPECT_TRUE(row.contains("error")) << "refused: " << error.what();
    EXPECT_EQ(std::string(error.what()).rfind("chat template line ", 0), 0u) << error.what();
  }
}

TEST(Cases, AgreeWithJinja2) {
  const ordered_json file = read_cases();
  ASSERT_GT(file.at("cases").size(), 1000u);
  for (const ordered_json& row : file.at("cases")) check(row, file.at("variables"));
}

}  // namespace
}  // namespace warpchat
