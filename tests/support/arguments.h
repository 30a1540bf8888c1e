// Command lines of the tools under tests/tools: every option is "--name value" or "-n value".
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace warpchat {

class Arguments {
 public:
  // known: all options of a tool. Throws Error for other options, repeated ones, and ones without a value.
  Arguments(int argc, char** argv, const std::vector<std::string>& known);

  bool has(const std::string& name) const { return values_.count(name) != 0; }
  const std::string& get(const std::string& name) const;  // Error if absent
  std::string get(const std::string& name, const std::string& absent) const;
  uint64_t get_count(const std::string& name, uint64_t absent) const;

 private:
  std::map<std::string, std::string> values_;
};

// "1,2,3", or "@FILE" with the ids in a file; separated by commas or white space.
std::vector<int32_t> parse_tokens(const std::string& text);

// Runs a tool: exit code 0, or 1 after "NAME: message" on stderr for an Error.
int run_tool(const char* name, int (*tool)(int, char**), int argc, char** argv);

}  // namespace warpchat
