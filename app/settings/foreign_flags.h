// Flags of llama.cpp and Ollama that Warpchat does not have.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace warpchat {

// Flags with an equivalent are translated, flags that ask for the default behaviour are dropped, and any other throws a
// UsageError that names the alternative. is_own: whether the command has a flag of this name itself.
std::vector<std::string> translate_foreign_flags(const std::vector<std::string>& arguments,
                                                 const std::function<bool(const std::string&)>& is_own);

}  // namespace warpchat
