// Renders chat templates for the comparisons with jinja2.
//   render_template FILE VARIABLES.json   prints the text; an error goes to stderr, exit code 1
//   render_template --lines               each line of stdin is {"template": ..., "variables": {...}}; each line of
//                                         stdout is {"text": ..., "content": [[begin, end], ...]} or {"error": ...}
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>

#include "models/chat_template/chat_template.h"
#include "models/error.h"

namespace {

using nlohmann::ordered_json;

std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw warpchat::Error(std::string("cannot read ") + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

ordered_json answer(const ordered_json& request, std::unordered_map<std::string, warpchat::ChatTemplate>& parsed) {
  try {
    const auto source = request.at("template").get<std::string>();
    const auto known = parsed.try_emplace(source, source).first;
    const warpchat::TracedText prompt = known->second.render_parts(request.at("variables"));
    ordered_json content = ordered_json::array();
    for (const warpchat::TextRange& range : prompt.content) content.push_back({range.begin, range.end});
    return {{"text", prompt.bytes}, {"content", std::move(content)}};
  } catch (const warpchat::Error& error) {
    return {{"error", error.what()}};
  }
}

void answer_lines() {
  std::unordered_map<std::string, warpchat::ChatTemplate> parsed;
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << answer(ordered_json::parse(line), parsed).dump() << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2 && std::string(argv[1]) == "--lines") {
      answer_lines();
    } else if (argc == 3) {
      std::cout << warpchat::ChatTemplate(read_file(argv[1])).render(ordered_json::parse(read_file(argv[2])));
    } else {
      std::cerr << "usage: render_template FILE VARIABLES.json | render_template --lines\n";
      return 2;
    }
  } catch (const std::exception& error) {
    std::cerr << "render_template: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
