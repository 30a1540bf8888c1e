#include "tests/tools/malformed/variants.h"

#include <stdexcept>

#include "tests/support/tiny_model.h"
#include "tests/tools/malformed/families.h"

namespace warpchat {
namespace {

// Small models that together have every key that the reader knows, and most storage formats.
TinyModelSpec spec_of(const std::string& architecture) {
  TinyModelSpec spec;
  spec.architecture = architecture;
  spec.hidden = 32, spec.ffn = 256, spec.n_heads = 2, spec.n_kv_heads = 1;
  spec.context_length = 512;
  using enum TensorType;
  if (architecture == "qwen2") {  // the smallest file, the base of most variants; YaRN
    spec.n_layers = 1;
    spec.formats = {kQ8_0, kQ8_0, kQ4_0, kQ4_1, kQ5_0, kQ5_1, kF16, kBF16, kQ4_K};
    spec.rope_scaling = {RopeScaling::Kind::kYarn, 4, 128};
  } else if (architecture == "qwen3") {  // heads wider than hidden / n_heads, an output matrix, few rotated dimensions
    spec.head_dim = 32, spec.rope_dims = 16, spec.tied_output = false;
    spec.formats = {kQ4_0, kQ8_0, kQ8_0, kQ8_0, kF32, kQ8_0, kQ4_0, kQ5_0, kQ6_K};
    spec.rope_scaling = {RopeScaling::Kind::kLinear, 2};
  } else if (architecture == "llama") {  // scores instead of merges, frequency divisors
    spec.vocabulary = TinyVocabulary::kSpm;
    spec.n_layers = 1, spec.tied_output = false;
    spec.formats = TinyFormats::all(kQ8_0);
    spec.formats.ffn_down = kQ5_K;
    spec.rope_scaling.kind = RopeScaling::Kind::kLlama3;
  } else if (architecture == "qwen2moe") {
    spec.n_layers = 1;
    spec.formats = TinyFormats::all(kQ8_0);
    spec.experts = {.n = 4, .n_used = 2, .ffn = 256, .shared_ffn = 64};
  } else if (architecture == "qwen35") {  // a delta net, and gated attention
    spec.head_dim = 32, spec.rope_dims = 16;
    spec.formats = TinyFormats::all(kQ8_0);
    spec.delta_net = {.n_k_heads = 1, .n_v_heads = 2, .head_dim = 32, .conv_kernel = 4};
  } else {
    throw std::logic_error("no base for architecture " + architecture);
  }
  return spec;
}

Base base_of(const std::string& architecture) {
  Bytes file = valid_model(architecture);
  const GgufFile view = GgufFile::view(file, architecture);
  Document document = Document::of(view);
  std::vector<Field> fields = fields_of(file);
  return {architecture, std::move(file), std::move(fields), std::move(document)};
}

}  // namespace

Bytes valid_model(const std::string& architecture) {
  GgufWriter writer = tiny_model(spec_of(architecture), /*seed=*/1);
  writer.add_uint32("general.file_type", 0);
  writer.add_uint32("general.alignment", 32);
  return writer.bytes();
}

std::vector<Variant> malformed_variants() {
  Variants variants;
  const Base qwen2 = base_of("qwen2");
  add_truncations(qwen2, variants);
  add_broken_header(qwen2, variants);
  add_broken_lengths(qwen2, variants);
  add_broken_types(qwen2, variants);
  add_broken_layouts(qwen2, variants);
  for (const Base& base : {qwen2, base_of("qwen3"), base_of("llama"), base_of("qwen2moe"), base_of("qwen35")}) {
    add_harmless_bytes(base, variants);
    add_missing_and_doubled(base, variants);
    add_wrong_kinds(base, variants);
    add_wrong_values(base, variants);
    add_wrong_tensors(base, variants);
    add_wrong_weights(base, variants);
    add_wrong_vocabularies(base, variants);
  }
  return variants;
}

}  // namespace warpchat
