// Malformed variants of small valid model files, each with the expected reaction: a refusal in one sentence that names
// the fault, or loading if the change is harmless.
#pragma once
#include <string>
#include <vector>

#include "tests/tools/malformed/document.h"

namespace warpchat {

// The reader that must find the fault.
enum class Finder {
  kNone,       // harmless: the file loads
  kModel,      // reader, configuration or tensors
  kTokenizer,  // the model itself is valid
  kTemplate,   // the tokeniser is valid, too
};

struct Variant {
  std::string name;  // also a file name: letters, digits, '.', '_', '-'
  Bytes file;
  Finder finder;
  std::string fault;  // must be in the message; empty: anything
};

// The valid files: "qwen2", "qwen3" or "llama".
Bytes valid_model(const std::string& architecture);

// All variants with distinct names, in a fixed order. Every run gives the same bytes.
std::vector<Variant> malformed_variants();

}  // namespace warpchat
