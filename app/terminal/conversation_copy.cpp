// The commands that take an answer, or the code in it, out of the conversation: /copy, and /save code N FILE.
#include <filesystem>
#include <sstream>

#include "app/formats/code_blocks.h"
#include "app/platform/clipboard.h"
#include "app/platform/output.h"
#include "app/platform/typed_path.h"
#include "app/terminal/conversation.h"
#include "app/terminal/conversation_list.h"
#include "models/human_bytes.h"
#include "models/text_format.h"

namespace warpchat {

// number: empty where there is only one.
std::string Conversation::code_of_last_answer(const std::string& number) const {
  const std::vector<CodeBlock> blocks = code_blocks(last_of("assistant").content);
  if (blocks.empty()) throw Error("the last answer has no code block");
  if (number.empty() && blocks.size() > 1)
    throw Error("the last answer has " + counted(blocks.size(), "code block") + "; say which: code 1");
  const uint32_t wanted = number.empty() ? 1 : parse_count(number);
  if (wanted < 1 || wanted > blocks.size())
    throw Error("no code block has the number '" + printable(number, 60) + "'; the last answer has " +
                counted(blocks.size(), "code block"));
  return blocks[wanted - 1].code;
}

void Conversation::copy(const std::string& wanted) {
  std::string word, number, rest;
  std::istringstream words(wanted);
  words >> word >> number >> rest;
  if (!wanted.empty() && (word != "code" || !rest.empty()))
    throw Error("/copy takes nothing, or code and a number, found '" + printable(wanted, 60) + "'");
  const std::string text = wanted.empty() ? last_of("assistant").content : code_of_last_answer(number);
  if (text.empty()) throw Error("the last answer has no text");
  const std::string way = copy_to_clipboard(text);
  say("copied " + human_bytes(text.size()) + " through " + way);
}

// "code 2 main.cpp"; any other text is a title.
bool Conversation::save_code(const std::string& wanted) {
  std::string word, number, file;
  std::istringstream words(wanted);
  if (!(words >> word >> number) || word != "code" || parse_count(number) == 0) return false;
  std::getline(words, file);
  const std::string path = typed_path(file);
  if (path.empty()) throw Error("/save code " + number + " needs a file: /save code " + number + " FILE");
  const std::string code = code_of_last_answer(number);
  std::error_code error;
  if (std::filesystem::exists(path, error)) throw Error(path + " already exists; choose another name");
  write_file(path, code);
  say("wrote " + path);
  return true;
}

}  // namespace warpchat
