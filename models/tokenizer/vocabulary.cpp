#include "models/tokenizer/vocabulary.h"

#include <algorithm>
#include <cctype>

#include "models/ascii.h"
#include "models/gguf_value.h"
#include "models/text_format.h"

namespace warpchat {
namespace {

constexpr std::string_view kTokens = "tokenizer.ggml.tokens";
constexpr std::string_view kScores = "tokenizer.ggml.scores";
constexpr std::string_view kTypes = "tokenizer.ggml.token_type";
constexpr uint64_t kMaxVocabularyBytes = uint64_t{1} << 30;  // total; real vocabularies have a few MB

// Texts that are control tokens in every vocabulary, whatever type the file gives them: those that end an answer,
// besides the file's own end tokens, ...
constexpr std::string_view kEndTexts[] = {
    "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<end_of_turn>", "</s>", "<EOT>", "_<EOT>",
    "[EOT]", "[EOS]", "<|end_of_text|>", "<end_of_utterance>", "<eos>", "<｜end▁of▁sentence｜>", "<|return|>",
    "<|call|>", "<|calls|>", "<|flush|>", "<turn|>", "<|tool_response>", "[e~[",
    // code: another file or repository begins
    "<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]", "<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>",
    "<reponame>", "<|file_sep|>"};
// ... and those that surround code with a gap.
constexpr std::string_view kGapTexts[] = {
    "<|fim_prefix|>",  "<fim-prefix>",  "<fim_prefix>",    "<｜fim▁begin｜>", "<PRE>",           "▁<PRE>",
    "<|code_prefix|>", "<|prefix|>",    "<|fim_suffix|>",  "<fim-suffix>",    "<fim_suffix>",    "<｜fim▁hole｜>",
    "<SUF>",           "▁<SUF>",        "<|code_suffix|>", "<|suffix|>",      "<|fim_middle|>",  "<fim-middle>",
    "<fim_middle>",    "<｜fim▁end｜>", "<MID>",           "▁<MID>",          "<|code_middle|>", "<|middle|>"};

// Texts that end no answer in a vocabulary that has all of the others.
struct NoEnd {
  std::string_view text;
  std::vector<std::string_view> beside;
};
const NoEnd kNoEnds[] = {
    {"<|end|>", {"<|return|>", "<|call|>"}},  // ends a message of several (gpt-oss)
    {"<|end|>", {"<|flush|>", "<|calls|>"}},  // Solar Open
    {"</s>", {"<|tool_response>"}},           // a tag of HTML (Gemma 4)
};

// GGUF's token types by number.
constexpr uint8_t kKindOfType[] = {kNormalToken,  kNormalToken,      kUnknownToken,
                                   kControlToken, kUserDefinedToken, kNormalToken | kUnusedToken,
                                   kByteToken};

std::string quoted(std::string_view text) { return "\"" + printable(text) + "\""; }

}  // namespace

int byte_value(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return -1;
  int value = 0;
  for (const char digit : text.substr(3, 2)) {
    if (!std::isxdigit(static_cast<unsigned char>(digit))) return -1;
    value = value * 16 + (std::isdigit(static_cast<unsigned char>(digit)) ? digit - '0' : (digit | 0x20) - 'a' + 10);
  }
  return value;
}

Vocabulary::Vocabulary(const GgufFile& file, TokenRoles defaults) : index_(file.n_elements(kTokens)) {
  read_texts(file);
  read_kinds(file);
  mark_control_by_text();
  read_roles(file, defaults);
  read_strip(file);
  for (Token token = 0; contains(token); ++token)
    if (is(token, kSpecialKinds)) special_.push_back(token);
}

Token Vocabulary::find(std::string_view wanted) const {
  return index_.find(wanted, [this](Token token) { return text(token); });
}

void Vocabulary::read_texts(const GgufFile& file) {
  const std::vector<std::string_view> tokens = file.get_strings(kTokens);
  if (tokens.empty()) file.fail("key " + std::string(kTokens) + " is empty, expected at least one token");
  if (tokens.size() > INT32_MAX)
    file.fail("key " + std::string(kTokens) + " has " + counted(tokens.size(), "token") + ", at most 2^31 can be used");
  starts_.reserve(tokens.size() + 1);
  for (Token id = 0; static_cast<size_t>(id) < tokens.size(); ++id) {
    starts_.push_back(static_cast<uint32_t>(texts_.size()));
    // An empty text would match everywhere, so the token gets a name, as in llama.cpp.
    if (tokens[id].empty()) {
      texts_ += "[EMPTY_" + std::to_string(id) + "]";
    } else {
      texts_ += tokens[id];
    }
    if (texts_.size() > kMaxVocabularyBytes)
      file.fail("the texts of key " + std::string(kTokens) + " have more than " + counted(kMaxVocabularyBytes, "byte"));
  }
  starts_.push_back(static_cast<uint32_t>(texts_.size()));
  for (Token id = 0; static_cast<size_t>(id) < tokens.size(); ++id) {
    const Token holder = index_.add(text(id), id, [this](Token token) { return text(token); });
    if (holder != id)
      notes_.push_back("key " + std::string(kTokens) + " has the text " + quoted(text(id)) + " twice; token " +
                       grouped(holder) + " stands for it, and " + grouped(id) + " is only read");
  }
}

void Vocabulary::check_count(const GgufFile& file, std::string_view key) const {
  if (!file.has(key)) return;
  const uint64_t n_elements = file.n_elements(key);
  if (n_elements != starts_.size() - 1)
    file.fail("key " + std::string(key) + " has " + counted(n_elements, "element") + ", " + std::string(kTokens) +
              " has " + grouped(starts_.size() - 1));
}

void Vocabulary::read_kinds(const GgufFile& file) {
  kinds_.assign(starts_.size() - 1, kNormalToken);
  check_count(file, kScores);
  check_count(file, kTypes);
  if (!file.has(kTypes)) return;
  const std::vector<int32_t> types = file.get_ints(kTypes);
  for (Token id = 0; contains(id); ++id) {
    if (types[id] < 0 || types[id] >= std::ssize(kKindOfType))
      file.fail("element " + grouped(id) + " of key " + std::string(kTypes) + " is " + std::to_string(types[id]) +
                ", expected 0 to " + std::to_string(std::ssize(kKindOfType) - 1));
    kinds_[id] = kKindOfType[types[id]];
    if (is(id, kByteToken) && byte_value(text(id)) < 0)
      file.fail("token " + grouped(id) + " of key " + std::string(kTokens) + " is " + quoted(text(id)) +
                ", but its type is byte: expected a text like \"<0x0A>\"");
  }
}

void Vocabulary::mark_control_by_text() {
  const auto mark = [this](std::string_view text_of_control) {
    if (ends_nothing(text_of_control)) return;
    if (const Token token = find(text_of_control); token >= 0) kinds_[token] |= kControlToken;
  };
  for (const std::string_view text_of_control : kEndTexts) mark(text_of_control);
  for (const std::string_view text_of_control : kGapTexts) mark(text_of_control);
}

// A number outside the vocabulary stands for "none" in some files, as in llama.cpp: the default counts.
Token Vocabulary::read_role(const GgufFile& file, std::string_view key, Token absent) {
  const Token usual = contains(absent) ? absent : -1;
  const auto found = std::ranges::find(file.values(), key, &GgufValue::key);
  if (found == file.values().end()) return usual;
  const auto number = found->type == GgufType::kArray ? std::nullopt : integer_at(*found, 0);
  if (!number) return static_cast<Token>(file.get_uint(key));  // throws, naming key and type
  if (*number >= 0 && *number < size()) return static_cast<Token>(*number);
  notes_.push_back("key " + std::string(key) + " is " + text_of(*found) + ", outside the vocabulary of " +
                   counted(size(), "token") + ", and is ignored");
  return usual;
}

void Vocabulary::read_roles(const GgufFile& file, TokenRoles defaults) {
  roles_.bos = read_role(file, "tokenizer.ggml.bos_token_id", defaults.bos);
  roles_.eos = read_role(file, "tokenizer.ggml.eos_token_id", defaults.eos);
  const auto of_type = std::ranges::find_if(kinds_, [](uint8_t kind) { return (kind & kUnknownToken) != 0; });
  roles_.unknown = read_role(file, "tokenizer.ggml.unknown_token_id",
                             of_type == kinds_.end() ? -1 : static_cast<Token>(of_type - kinds_.begin()));
  add_end(roles_.eos);
  for (const char* key : {"eot", "eom", "fim_pad", "fim_rep", "fim_sep"})
    add_end(read_role(file, std::string("tokenizer.ggml.") + key + "_token_id", -1));
  for (const std::string_view end : kEndTexts)
    if (const Token token = find(end); token >= 0 && !ends_nothing(end)) add_end(token);
}

bool Vocabulary::ends_nothing(std::string_view end) const {
  return std::ranges::any_of(kNoEnds, [&](const NoEnd& no_end) {
    return no_end.text == end &&
           std::ranges::all_of(no_end.beside, [this](std::string_view other) { return find(other) >= 0; });
  });
}

void Vocabulary::add_end(Token token) {
  if (token >= 0 && std::ranges::find(ends_, token) == ends_.end()) ends_.push_back(token);
}

// Phi-3's tokeniser drops white space after its special tokens. GGUF has no key for that; llama.cpp goes by the model's
// name, and files rely on it.
void Vocabulary::read_strip(const GgufFile& file) {
  const std::string name = lower_case(file.get_string("general.name", ""));
  if (name.find("phi-3") == std::string::npos && name.find("phi3") == std::string::npos) return;
  for (uint8_t& kind : kinds_)
    if (kind & kSpecialKinds) kind |= kStripsRight;
  for (const std::string_view keeps : {"<unk>", "<s>", "<|endoftext|>"})
    if (const Token token = find(keeps); token >= 0) kinds_[token] &= static_cast<uint8_t>(~kStripsRight);
}

}  // namespace warpchat
