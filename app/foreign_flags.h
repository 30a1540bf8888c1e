// Flags that llama.cpp and Ollama have and this program has not, by the names that people have in their fingers.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace warpchat {

// Those that mean something here become this program's own, those that ask for what happens anyway go, and any other is
// a UsageError that tells what to use instead. is_own: whether the command has a flag of this name itself.
std::vector<std::string> translate_foreign_flags(const std::vector<std::string>& arguments,
                                                 const std::function<bool(const std::string&)>& is_own);

}  // namespace warpchat
