// What the user has said about models: folders and aliases in models.json of the configuration, which may be edited by
// hand, and the files that were opened, in the state directory.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace warpchat {

// {"folders": ["/data/models", "~/gguf"], "aliases": {"coder": "Qwen/Qwen2.5-Coder-7B-Instruct-GGUF:Q4_K_M"}}
struct ModelBook {
  std::vector<std::string> folders;            // as written: absolute, or with a tilde
  std::map<std::string, std::string> aliases;  // to a path, a model's name or words of one
  std::string fault = {};                      // what is wrong with the file, as a sentence; empty: nothing
};

std::string model_book_path();
ModelBook read_model_book();  // without what is wrong

// Reads the book, changes and writes it, while no other process does; keeps keys that it does not know. Error for a
// book with a fault, which is not written over, and if it cannot be written.
void change_model_book(const std::function<void(ModelBook&)>& change);

void add_model_folder(const std::string& path);  // Error as above, if it is no folder, or if it is in the list already

// An alias may have what a file's name may have, but neither blanks nor slashes; at most 64 bytes.
bool is_alias(const std::string& text);

// Files that were opened once, the last one first; without those that are gone.
std::vector<std::string> opened_models();
void note_opened_model(const std::string& path);    // best effort
void forget_opened_model(const std::string& path);  // likewise

}  // namespace warpchat
