#include "tests/support/arguments.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "models/error.h"

namespace warpchat {
namespace {

template <class Integer>
Integer parse_integer(const std::string& text, const std::string& what) {
  Integer value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) throw Error(what + " is \"" + text + "\", expected an integer");
  return value;
}

}  // namespace

Arguments::Arguments(int argc, char** argv, const std::vector<std::string>& known) {
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::string list;
      for (const std::string& option : known) list += " " + option;
      throw Error("unknown option " + name + "; known are" + list);
    }
    if (i + 1 == argc) throw Error("option " + name + " needs a value");
    if (!values_.emplace(name, argv[i + 1]).second) throw Error("option " + name + " is given twice");
  }
}

const std::string& Arguments::get(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw Error("option " + name + " is missing");
  return found->second;
}

std::string Arguments::get(const std::string& name, const std::string& absent) const {
  return has(name) ? get(name) : absent;
}

uint64_t Arguments::get_count(const std::string& name, uint64_t absent) const {
  return has(name) ? parse_integer<uint64_t>(get(name), "option " + name) : absent;
}

std::vector<int32_t> parse_tokens(const std::string& text) {
  std::string list = text;
  if (text.starts_with("@")) {
    std::ifstream in(text.substr(1), std::ios::binary);
    if (!in) throw Error("cannot read " + text.substr(1));
    list.assign(std::istreambuf_iterator<char>(in), {});
  }
  std::vector<int32_t> tokens;
  constexpr char kSeparators[] = ", \t\r\n";
  for (size_t at = list.find_first_not_of(kSeparators); at != std::string::npos;) {
    const size_t end = std::min(list.find_first_of(kSeparators, at), list.size());
    tokens.push_back(parse_integer<int32_t>(list.substr(at, end - at), "a token"));
    at = list.find_first_not_of(kSeparators, end);
  }
  return tokens;
}

int run_tool(const char* name, int (*tool)(int, char**), int argc, char** argv) {
  try {
    return tool(argc, argv);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
}

}  // namespace warpchat
