// Every malformed variant through reader, configuration, tensors and tokeniser. It is refused in one line that names
// the file and the fault, or loads if the change is harmless.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "models/model_config.h"
#include "models/text_format.h"
#include "models/tokenizer/tokenizer.h"
#include "tests/tools/malformed/variants.h"

namespace warpchat {
namespace {

constexpr char kName[] = "models/broken.gguf";
constexpr char kRefused[] = "cannot load models/broken.gguf: ";

const char* name_of(Finder finder) {
  constexpr const char* kNames[] = {"none", "model", "tokeniser", "template"};
  return kNames[static_cast<size_t>(finder)];
}

struct Outcome {
  Finder finder = Finder::kNone;
  std::string message;
};

// The heap buffer has the variant's exact size, so a read beyond it is seen.
Outcome load(const Variant& variant) {
  Finder stage = Finder::kModel;
  try {
    const auto bytes = std::make_unique<std::byte[]>(variant.file.size());
    std::copy(variant.file.begin(), variant.file.end(), bytes.get());
    const GgufFile file = GgufFile::view({bytes.get(), variant.file.size()}, kName);
    const ModelConfig config = read_model_config(file);
    read_model_tensors(file, config);
    stage = Finder::kTokenizer;
    Tokenizer::from(file);
    return {};
  } catch (const Error& error) {
    return {stage, error.what()};
  }
}

bool is_one_printable_line(const std::string& message) {
  return message == printable(message, message.size()) && !message.empty() && message.back() != '.';
}

class Malformed : public testing::Test {
 protected:
  static const std::vector<Variant>& variants() {
    static const std::vector<Variant> all = malformed_variants();
    return all;
  }
};

TEST_F(Malformed, EveryVariantIsRefusedByNameOrLoads) {
  for (const Variant& variant : variants()) {
    const Outcome outcome = load(variant);
    const Finder expected = variant.finder == Finder::kTemplate ? Finder::kNone : variant.finder;
    EXPECT_STREQ(name_of(outcome.finder), name_of(expected)) << variant.name << ": " << outcome.message;
    if (outcome.finder == Finder::kNone || expected == Finder::kNone) continue;
    EXPECT_THAT(outcome.message, testing::StartsWith(kRefused)) << variant.name;
    EXPECT_THAT(outcome.message, testing::HasSubstr(variant.fault)) << variant.name;
    EXPECT_TRUE(is_one_printable_line(outcome.message)) << variant.name << ": " << outcome.message;
    EXPECT_LT(outcome.message.size(), 400u) << variant.name << ": " << outcome.message;
  }
}

TEST_F(Malformed, AreManyDifferentAndDistinctlyNamed) {
  std::set<std::string> names;
  size_t n_harmless = 0;
  for (const Variant& variant : variants()) {
    EXPECT_TRUE(names.insert(variant.name).second) << variant.name;
    EXPECT_EQ(variant.name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"),
              std::string::npos)
        << variant.name;
    n_harmless += variant.finder == Finder::kNone;
  }
  EXPECT_GE(variants().size() - n_harmless, 300u);
  EXPECT_GE(n_harmless, 10u);
}

}  // namespace
}  // namespace warpchat
