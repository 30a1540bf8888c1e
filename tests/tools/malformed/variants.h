// Malformed variants of small valid model files, each with what a program must do with it: refuse it in one sentence
// that names the fault, or load it because the change is harmless.
#pragma once
#include <string>
#include <vector>

#include "tests/tools/malformed/document.h"

namespace warpchat {

// What must find the fault.
enum class Finder {
  kNobody,     // harmless: the file loads
  kModel,      // reader, configuration or tensors
  kTokenizer,  // the model's part is in order
  kTemplate,   // the tokeniser too
};

struct Variant {
  std::string name;  // also a file name: letters, digits, '.', '_', '-'
  Bytes file;
  Finder finder;
  std::string fault;  // what the message must contain; empty: nothing in particular
};

// The valid files: "qwen2", "qwen3" or "llama".
Bytes valid_model(const std::string& architecture);

// All variants, in a fixed order, with distinct names. The same bytes on every run.
std::vector<Variant> malformed_variants();

}  // namespace warpchat
