// chat tokenize: text to token ids, one line a record. Opens the file and its vocabulary, loads no weights.
#include "app/commands/commands.h"
#include "app/model_choice/model_loading.h"
#include "app/platform/output.h"
#include "app/platform/text_input.h"
#include "models/gguf_reader.h"
#include "models/tokenizer/tokenizer.h"

namespace warpchat {

namespace {

std::string ids_of(const Tokenizer& tokenizer, std::string_view text) {
  std::string line;
  for (Token token : tokenizer.encode(text, /*parse_special=*/true, /*add_bos=*/false)) {
    if (!line.empty()) line += ' ';
    line += std::to_string(token);
  }
  return line + "\n";
}

}  // namespace

int run_command(const TokenizeOptions& options) {
  if (options.text && options.file) throw UsageError("give a text or a file with -f, not both");
  const GgufFile file = GgufFile::open(find_model_file(options.model));
  const std::unique_ptr<Tokenizer> tokenizer = Tokenizer::from(file);
  const std::string text = options.text   ? *options.text
                           : options.file ? read_file(*options.file)
                                          : read_standard_input();
  require_utf8(text, options.text ? "TEXT" : options.file ? *options.file : "standard input");
  std::string lines;
  std::string_view rest = text;
  for (size_t end; options.null_separated && (end = rest.find('\0')) != std::string_view::npos;) {
    lines += ids_of(*tokenizer, rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  write_output(lines + ids_of(*tokenizer, rest));
  return 0;
}

}  // namespace warpchat
