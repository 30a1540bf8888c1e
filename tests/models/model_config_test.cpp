// Hyper-parameters and tensors of every architecture, on small models. For refused files, see tests/tools/malformed.
#include "models/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "models/model_purpose.h"
#include "tests/support/test_files.h"
#include "tests/support/tiny_model.h"

namespace warpchat {
namespace {

using Bytes = std::vector<std::byte>;

ModelConfig config_of(const GgufWriter& writer) {
  const Bytes bytes = writer.bytes();
  return read_model_config(GgufFile::view(bytes, "a.gguf"));
}

std::string error_of(const GgufWriter& writer) {
  const Bytes bytes = writer.bytes();
  try {
    const GgufFile file = GgufFile::view(bytes, "a.gguf");
    read_model_tensors(file, read_model_config(file));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// The file with some keys replaced or added, and with its tensors.
GgufWriter with_keys(const TinyModelSpec& spec, const std::vector<std::string>& replaced, void (*add)(GgufWriter&)) {
  const Bytes bytes = build_tiny_model(spec, 1);
  const GgufFile file = GgufFile::view(bytes, "a.gguf");
  GgufWriter writer;
  writer.copy_metadata(file, replaced);
  add(writer);
  for (const TensorInfo& tensor : file.tensors())
    writer.add_tensor(tensor.name, tensor.type, std::span(tensor.shape).first(tensor.n_dims), tensor.data);
  return writer;
}

// As GgufWriter::add_encoded wants it: the type's number and the value.
Bytes int32_value(int32_t value) {
  constexpr uint32_t kInt32 = 5;
  Bytes bytes(8);
  std::memcpy(bytes.data(), &kInt32, 4);
  std::memcpy(bytes.data() + 4, &value, 4);
  return bytes;
}

TinyModelSpec small(const std::string& architecture) {
  TinyModelSpec spec;
  spec.architecture = architecture;
  spec.hidden = 64, spec.ffn = 96, spec.n_heads = 4, spec.n_kv_heads = 2, spec.n_layers = 3;
  spec.formats = TinyFormats::all(TensorType::kQ8_0);
  return spec;
}

TEST(ModelConfig, ReadsEverySize) {
  TinyModelSpec spec = small("qwen3");
  spec.head_dim = 32, spec.rope_dims = 24, spec.context_length = 777;
  spec.rms_eps = 1e-5f, spec.rope_base = 5e6f, spec.tied_output = false;
  const ModelConfig config = config_of(tiny_model(spec, 1));
  EXPECT_EQ(config.architecture, Architecture::kQwen3);
  EXPECT_EQ(config.name, "tiny qwen3");
  EXPECT_EQ(config.n_layers, 3u);
  EXPECT_EQ(config.hidden, 64u);
  EXPECT_EQ(config.ffn, 96u);
  EXPECT_EQ(config.n_heads, 4u);
  EXPECT_EQ(config.n_kv_heads, 2u);
  EXPECT_EQ(config.head_dim, 32u);
  EXPECT_EQ(config.n_vocab, vocabulary_size(TinyVocabulary::kByteBpe));
  EXPECT_EQ(config.context_length, 777u);
  EXPECT_EQ(config.rope_dims, 24u);
  EXPECT_EQ(config.rms_eps, 1e-5f);
  ASSERT_EQ(config.ropes.size(), 1u);
  EXPECT_EQ(config.ropes[0].base, 5e6);
  EXPECT_EQ(config.ropes[0].frequencies.size(), 12u);
  ASSERT_EQ(config.layers.size(), 3u);
  for (const LayerConfig& layer : config.layers) {
    EXPECT_EQ(layer.mixer, Mixer::kAttention);
    EXPECT_EQ(layer.ffn, Ffn::kDense);
    EXPECT_EQ(layer.window, 0u);
    EXPECT_EQ(layer.rope, 0u);
  }
  EXPECT_FALSE(config.tied_output);
}

TEST(ModelConfig, PairsAsTheArchitectureDoes) {
  EXPECT_EQ(config_of(tiny_model(small("llama"), 1)).rope_pairing, RopePairing::kInterleaved);
  EXPECT_EQ(config_of(tiny_model(small("qwen2"), 1)).rope_pairing, RopePairing::kNeox);
  EXPECT_EQ(config_of(tiny_model(small("qwen3"), 1)).rope_pairing, RopePairing::kNeox);
}

TEST(ModelConfig, HasDefaultsForWhatFilesLeaveOut) {
  const GgufWriter writer = with_keys(small("qwen2"), {"qwen2.rope.freq_base", "general.name"}, [](GgufWriter&) {});
  const ModelConfig config = config_of(writer);
  EXPECT_EQ(config.ropes[0].base, 10000);
  EXPECT_EQ(config.name, "");
  EXPECT_EQ(config.head_dim, 16u);   // hidden / heads
  EXPECT_EQ(config.rope_dims, 16u);  // all of the head
  EXPECT_EQ(config.ropes[0].scaling.kind, RopeScaling::Kind::kNone);
  EXPECT_EQ(config.ropes[0].magnitude, 1);
  EXPECT_TRUE(config.tied_output);
}

struct OtherPurpose {
  const char* name;
  const char* architecture;
  void (*add)(GgufWriter&);
  const char* sentence;  // after "cannot load a.gguf: "; empty: a chat model
};

const OtherPurpose kOtherPurposes[] = {
    {"no_pooling", "qwen3", [](GgufWriter& to) { to.add_uint32("qwen3.pooling_type", 0); }, ""},
    {"pooling_not_said", "qwen3", [](GgufWriter& to) { to.add_encoded("qwen3.pooling_type", int32_value(-1)); }, ""},
    {"mean", "llama", [](GgufWriter& to) { to.add_uint32("llama.pooling_type", 1); },
     "key llama.pooling_type is 1 (mean): the model makes vectors of texts (embeddings) and cannot chat; choose a "
     "model "
     "that is made for chat"},
    {"first", "llama", [](GgufWriter& to) { to.add_uint64("llama.pooling_type", 2); },
     "key llama.pooling_type is 2 (first token): the model makes vectors of texts (embeddings) and cannot chat; choose "
     "a model that is made for chat"},
    {"last", "qwen3", [](GgufWriter& to) { to.add_uint32("qwen3.pooling_type", 3); },
     "key qwen3.pooling_type is 3 (last token): the model makes vectors of texts (embeddings) and cannot chat; choose "
     "a "
     "model that is made for chat"},
    {"rank", "qwen3",
     [](GgufWriter& to) {
       to.add_uint32("qwen3.pooling_type", 4);
       to.add_tensor("cls.output.weight", TensorType::kF32, std::vector<uint64_t>{64, 2}, Bytes(512));
     },
     "key qwen3.pooling_type is 4 (rank): the model ranks texts and cannot chat; choose a model that is made for chat"},
    {"rank_by_its_tensor", "qwen3",
     [](GgufWriter& to) {
       to.add_tensor("cls.output.weight", TensorType::kF32, std::vector<uint64_t>{64, 2}, Bytes(512));
     },
     "tensor cls.output.weight belongs to a model that ranks or classifies texts and cannot chat; choose a model that "
     "is made for chat"},
    {"vectors_by_its_tensor", "llama",
     [](GgufWriter& to) {
       to.add_tensor("dense_2.weight", TensorType::kF32, std::vector<uint64_t>{64, 64}, Bytes(4 * 64 * 64));
     },
     "tensor dense_2.weight belongs to a model that makes vectors of texts (embeddings) and cannot chat; choose a "
     "model "
     "that is made for chat"},
    {"adapter", "llama", [](GgufWriter& to) { to.add_string("general.type", "adapter"); },
     "key general.type is \"adapter\", expected \"model\": it is no model of its own"},
};

TEST(ModelPurpose, SaysWhatCannotChat) {
  for (const OtherPurpose& c : kOtherPurposes) {
    const GgufWriter writer = with_keys(small(c.architecture), {}, c.add);
    EXPECT_EQ(error_of(writer), *c.sentence == 0 ? "" : std::string("cannot load a.gguf: ") + c.sentence) << c.name;
    const Bytes bytes = writer.bytes();
    EXPECT_EQ(why_no_chat_model(GgufFile::view(bytes, "a.gguf")), c.sentence) << c.name;
  }
}

TEST(ModelPurpose, WhereverTheKeyLies) {
  const Bytes bytes = build_tiny_model(small("qwen3"), 1);
  GgufWriter writer;
  writer.add_uint32("qwen3.pooling_type", 3);  // before general.architecture
  writer.copy_metadata(GgufFile::view(bytes, "a.gguf"));
  EXPECT_THAT(error_of(writer), testing::HasSubstr("cannot chat"));
}

// The last block alone, under its number in the whole model and as the only one.
TEST(ModelPurpose, BlocksThatOnlyDraft) {
  TinyModelSpec spec = small("qwen35");
  spec.head_dim = 32, spec.n_layers = 2, spec.n_unused_blocks = 1;
  spec.delta_net = {.n_k_heads = 1, .n_v_heads = 2, .head_dim = 32, .conv_kernel = 4};
  const Bytes bytes = build_tiny_model(spec, 1);
  const GgufFile file = GgufFile::view(bytes, "a.gguf");
  EXPECT_EQ(why_no_chat_model(file), "");
  for (const bool renumbered : {false, true}) {
    GgufWriter writer;
    writer.copy_metadata(file, std::vector<std::string>{"qwen35.block_count"});
    writer.add_uint32("qwen35.block_count", renumbered ? 1 : 3);
    for (const TensorInfo& tensor : file.tensors()) {
      std::string name = tensor.name;
      if (name.starts_with("blk.") && !name.starts_with("blk.2.")) continue;
      if (renumbered && name.starts_with("blk.2.")) name.replace(4, 1, "0");
      writer.add_tensor(name, tensor.type, std::span(tensor.shape).first(tensor.n_dims), tensor.data);
    }
    EXPECT_EQ(
        error_of(writer),
        "cannot load a.gguf: key qwen35.nextn_predict_layers is 1 and the file has no other blocks: it is a draft "
        "for another model, which proposes tokens and cannot chat alone; choose that model");
  }
  const auto eagle = with_keys(small("llama"), {"general.architecture"},
                               [](GgufWriter& to) { to.add_string("general.architecture", "eagle3"); });
  EXPECT_EQ(error_of(eagle),
            "cannot load a.gguf: architecture \"eagle3\": it is a draft for another model, which proposes tokens and "
            "cannot chat alone; choose that model");
}

// Keys that other families use and that would change the computation.
TEST(ModelConfig, RefusesOtherScales) {
  const auto refusal = [](void (*add)(GgufWriter&)) { return error_of(with_keys(small("llama"), {}, add)); };
  EXPECT_EQ(refusal([](GgufWriter& to) { to.add_float32("llama.attention.scale", 0.25f); }), "") << "heads of 16";
  EXPECT_EQ(refusal([](GgufWriter& to) { to.add_float32("llama.attention.scale", 0.5f); }),
            "cannot load a.gguf: key llama.attention.scale is 0.5, only 0.25 (1 / the root of the head's size) is "
            "supported");
  EXPECT_EQ(refusal([](GgufWriter& to) { to.add_float32("llama.residual_scale", 0.22f); }),
            "cannot load a.gguf: key llama.residual_scale is neither 0 nor 1, which is not supported");
  EXPECT_EQ(refusal([](GgufWriter& to) { to.add_bool("llama.use_parallel_residual", true); }),
            "cannot load a.gguf: key llama.use_parallel_residual is true, which is not supported");
}

TEST(ModelConfig, AFileMaySayWhetherExpertWeightsAreNormalised) {
  TinyModelSpec spec = small("qwen3moe");
  spec.experts = {.n = 8, .n_used = 2, .ffn = 64};
  const auto writer = with_keys(spec, {}, [](GgufWriter& to) { to.add_bool("qwen3moe.expert_weights_norm", false); });
  EXPECT_FALSE(config_of(writer).experts.normalises);
}

TEST(ModelConfig, TakesEqualCountsForEveryLayer) {
  const auto writer =
      with_keys(small("llama"), {"llama.attention.head_count", "llama.attention.head_count_kv"}, [](GgufWriter& to) {
        to.add_ints("llama.attention.head_count", std::vector<int32_t>{4, 4, 4});
        to.add_ints("llama.attention.head_count_kv", std::vector<int32_t>{2, 2, 2});
      });
  EXPECT_EQ(error_of(writer), "");
  EXPECT_EQ(config_of(writer).n_kv_heads, 2u);
}

TEST(ModelConfig, ReadsExperts) {
  TinyModelSpec spec = small("qwen2moe");
  spec.experts = {.n = 8, .n_used = 3, .ffn = 64, .shared_ffn = 128};
  const ModelConfig config = config_of(tiny_model(spec, 1));
  EXPECT_EQ(config.layers[2].ffn, Ffn::kExperts);
  EXPECT_EQ(config.ffn, 0u);
  EXPECT_EQ(config.experts.n, 8u);
  EXPECT_EQ(config.experts.n_used, 3u);
  EXPECT_EQ(config.experts.ffn, 64u);
  EXPECT_EQ(config.experts.shared_ffn, 128u);
  EXPECT_FALSE(config.experts.normalises);
  spec.architecture = "qwen3moe", spec.experts.shared_ffn = 0;
  EXPECT_EQ(config_of(tiny_model(spec, 1)).experts.shared_ffn, 0u);
  EXPECT_TRUE(config_of(tiny_model(spec, 1)).experts.normalises);
  spec.architecture = "qwen3vlmoe";
  EXPECT_EQ(config_of(tiny_model(spec, 1)).architecture, Architecture::kQwen3);
  EXPECT_TRUE(config_of(tiny_model(spec, 1)).experts.normalises);
}

// Old qwen2moe files state only the shared expert's size, in the key of dense models.
TEST(ModelConfig, ExpertSizesFollowFromTheDenseOne) {
  TinyModelSpec spec = small("qwen2moe");
  spec.experts = {.n = 8, .n_used = 2, .ffn = 64, .shared_ffn = 128};
  const auto writer =
      with_keys(spec, {"qwen2moe.expert_feed_forward_length", "qwen2moe.expert_shared_feed_forward_length"},
                [](GgufWriter& to) { to.add_uint32("qwen2moe.feed_forward_length", 128); });
  EXPECT_EQ(error_of(writer), "");
  EXPECT_EQ(config_of(writer).experts.ffn, 64u);
  EXPECT_EQ(config_of(writer).experts.shared_ffn, 128u);
}

TEST(ModelConfig, VisionModelsAreReadAsText) {
  const auto writer = with_keys(small("qwen3vl"), {}, [](GgufWriter& to) {
    to.add_ints("qwen3vl.rope.dimension_sections", std::vector<int32_t>{3, 3, 2, 0});
    to.add_uint32("qwen3vl.n_deepstack_layers", 3);
  });
  EXPECT_EQ(error_of(writer), "");
  EXPECT_EQ(config_of(writer).architecture, Architecture::kQwen3);
}

TinyModelSpec hybrid() {
  TinyModelSpec spec = small("qwen35");
  spec.head_dim = 32, spec.n_layers = 5, spec.full_attention_interval = 3, spec.n_unused_blocks = 1;
  spec.delta_net = {.n_k_heads = 2, .n_v_heads = 6, .head_dim = 32, .conv_kernel = 4};
  return spec;
}

TEST(ModelConfig, ReadsDeltaNets) {
  const ModelConfig config = config_of(tiny_model(hybrid(), 1));
  EXPECT_EQ(config.n_layers, 5u) << "the block after them is not a layer";
  EXPECT_TRUE(config.gated_attention);
  const std::pair<Mixer, uint32_t> expected[] = {{Mixer::kDeltaNet, 0},
                                                 {Mixer::kDeltaNet, 1},
                                                 {Mixer::kAttention, 0},
                                                 {Mixer::kDeltaNet, 2},
                                                 {Mixer::kDeltaNet, 3}};
  for (size_t i = 0; i < 5; ++i)
    EXPECT_EQ(std::pair(config.layers[i].mixer, config.cache_slot_of_layer()[i]), expected[i]) << i;
  EXPECT_EQ(config.delta_net.n_k_heads, 2u);
  EXPECT_EQ(config.delta_net.n_v_heads, 6u);
  EXPECT_EQ(config.delta_net.head_dim, 32u);
  EXPECT_EQ(config.delta_net.conv_kernel, 4u);
  EXPECT_EQ(config.delta_net.channels(), 320u);
  EXPECT_EQ(config.delta_net.key_head(3), 1u) << "3 % 2";
  TinyModelSpec next = hybrid();
  next.architecture = "qwen3next", next.experts = {.n = 4, .n_used = 2, .ffn = 32, .shared_ffn = 32};
  EXPECT_EQ(config_of(tiny_model(next, 1)).delta_net.key_head(2), 0u) << "2 / 3";
}

TEST(ModelConfig, AListSaysWhichLayersAreDeltaNets) {
  const auto config_with = [](std::vector<bool> list) {
    const Bytes bytes = build_tiny_model(hybrid(), 1);
    GgufWriter writer;
    writer.copy_metadata(GgufFile::view(bytes, "a.gguf"));
    writer.add_bools("qwen35.attention.recurrent_layers", list);
    const GgufFile file = GgufFile::view(bytes, "a.gguf");
    for (const TensorInfo& tensor : file.tensors())
      writer.add_tensor(tensor.name, tensor.type, std::span(tensor.shape).first(tensor.n_dims), tensor.data);
    return writer;
  };
  const ModelConfig config = config_of(config_with({true, false, false, true, true, false}));
  EXPECT_EQ(config.layers[1].mixer, Mixer::kAttention);
  EXPECT_EQ(config.cache_slot_of_layer()[2], 1u);
  EXPECT_EQ(error_of(config_with({true, false, false, true, true})),
            "cannot load a.gguf: key qwen35.attention.recurrent_layers has 5 elements for 6 layers");
}

// Each row of the fused tensors lands where the separate ones have it.
TEST(ModelTensors, FusedTensorsAreReadAsTheirParts) {
  TinyModelSpec spec = small("qwen3next");
  spec.n_layers = 2, spec.head_dim = 32, spec.older_layout = true;
  spec.experts = {.n = 3, .n_used = 2, .ffn = 32, .shared_ffn = 32};
  spec.delta_net = {.n_k_heads = 2, .n_v_heads = 4, .head_dim = 32, .conv_kernel = 4};
  const Bytes bytes = build_tiny_model(spec, 1);
  const GgufFile file = GgufFile::view(bytes, "a.gguf");
  const ModelTensors tensors = read_model_tensors(file, read_model_config(file));
  const auto place = [](const TensorInfo& tensor, uint64_t row) {
    const auto from = tensor.row(row).data() - tensor.data.data();
    return static_cast<uint64_t>(from) / bytes_per_row(tensor.type, tensor.k());
  };
  const DeltaMatrices<const TensorInfo*>& m = tensors.layers[0].delta_matrices;  // per key head: q, k, v, v, z, z of 32
  EXPECT_EQ(m.qkv->rows(), 256u);
  EXPECT_EQ(place(*m.qkv, 0), 0u);
  EXPECT_EQ(place(*m.qkv, 33), 192u + 1) << "q of the second head";
  EXPECT_EQ(place(*m.qkv, 64), 32u) << "k of the first";
  EXPECT_EQ(place(*m.qkv, 128 + 64), 192u + 64) << "v of the third value head";
  EXPECT_EQ(place(*m.z, 63), 128u + 63);
  EXPECT_EQ(place(*m.z, 64), 192u + 128);
  EXPECT_EQ(place(*m.beta, 2), 4u);  // per key head: beta, beta, alpha, alpha
  EXPECT_EQ(place(*m.alpha, 1), 3u);
  EXPECT_EQ(place(*tensors.layers[1].matrices.q, 32), 64u);  // per head: query, gate
  EXPECT_EQ(place(*tensors.layers[1].matrices.q_gate, 33), 96u + 1);
  const TensorInfo &gate = *tensors.layers[0].experts.gate, &up = *tensors.layers[0].experts.up;
  EXPECT_EQ(gate.rows(), 96u);
  EXPECT_EQ(place(gate, 33), 64u + 1);
  EXPECT_EQ(expert_of(up, 2).data.data(), up.row(64).data());
  EXPECT_EQ(place(up, 64), 2 * 64u + 32);
}

TEST(ModelTensors, AttentionMayComeInOneTensor) {
  const Bytes bytes = build_tiny_model(small("qwen3"), 1);
  const GgufFile file = GgufFile::view(bytes, "a.gguf");
  GgufWriter writer;
  writer.copy_metadata(file);
  Bytes fused;
  for (const TensorInfo& tensor : file.tensors()) {
    const bool is_part = tensor.name == "blk.1.attn_q.weight" || tensor.name == "blk.1.attn_k.weight" ||
                         tensor.name == "blk.1.attn_v.weight";
    if (is_part) {
      fused.insert(fused.end(), tensor.data.begin(), tensor.data.end());
    } else {
      writer.add_tensor(tensor.name, tensor.type, std::span(tensor.shape).first(tensor.n_dims), tensor.data);
    }
  }
  writer.add_tensor("blk.1.attn_qkv.weight", TensorType::kQ8_0, std::vector<uint64_t>{64, 128}, fused);
  const Bytes other = writer.bytes();
  const GgufFile joined = GgufFile::view(other, "joined.gguf");
  const ModelTensors parts = read_model_tensors(file, read_model_config(file)),
                     views = read_model_tensors(joined, read_model_config(joined));
  const auto same = [](const TensorInfo* a, const TensorInfo* b) {
    return a->shape == b->shape && std::ranges::equal(a->data, b->data);
  };
  EXPECT_TRUE(same(views.layers[1].matrices.q, parts.layers[1].matrices.q));
  EXPECT_TRUE(same(views.layers[1].matrices.k, parts.layers[1].matrices.k));
  EXPECT_TRUE(same(views.layers[1].matrices.v, parts.layers[1].matrices.v));
}

TEST(ModelTensors, OneExpertOfMany) {
  TinyModelSpec spec = small("qwen3moe");
  spec.experts = {.n = 4, .n_used = 2, .ffn = 32};
  const Bytes bytes = build_tiny_model(spec, 1);
  const GgufFile file = GgufFile::view(bytes, "a.gguf");
  const ModelTensors tensors = read_model_tensors(file, read_model_config(file));
  EXPECT_EQ(tensors.layers[0].matrices.gate, nullptr);
  const TensorInfo& all = *tensors.layers[0].experts.down;
  const TensorInfo third = expert_of(all, 2);
  EXPECT_EQ(third.rows(), 64u);
  EXPECT_EQ(third.k(), 32u);
  EXPECT_EQ(third.data.data(), all.data.data() + all.data.size() / 2);
  EXPECT_EQ(third.data.size(), all.data.size() / 4);
}

TEST(ModelTensors, ARouterIsNotQuantised) {
  TinyModelSpec spec = small("qwen3moe");
  spec.experts = {.n = 4, .n_used = 2, .ffn = 32};
  const Bytes bytes = build_tiny_model(spec, 1);
  const GgufFile file = GgufFile::view(bytes, "a.gguf");
  GgufWriter writer;
  writer.copy_metadata(file, {});
  for (const TensorInfo& tensor : file.tensors()) {
    const bool is_router = tensor.name == "blk.1.ffn_gate_inp.weight";
    writer.add_tensor(tensor.name, is_router ? TensorType::kQ8_0 : tensor.type,
                      std::span(tensor.shape).first(tensor.n_dims),
                      is_router ? Bytes(bytes_per_row(TensorType::kQ8_0, 64) * 4) : tensor.data);
  }
  EXPECT_EQ(error_of(writer),
            "cannot load a.gguf: tensor blk.1.ffn_gate_inp.weight has type Q8_0, expected F32, F16 or BF16");
}

TEST(ModelConfig, NamesWhatIsNotSupported) {
  struct Row {
    std::vector<std::string> replaced;
    void (*add)(GgufWriter&);
    const char* error;
  };
  const Row rows[] = {
      {{"general.architecture"},
       [](GgufWriter& to) { to.add_string("general.architecture", "gemma3"); },
       "architecture \"gemma3\" is not supported; supported are llama, qwen2, qwen3, qwen3vl, "
       "qwen2moe, qwen3moe, qwen3vlmoe, qwen3next, qwen35, qwen35moe"},
      {{"llama.attention.head_count"},
       [](GgufWriter& to) {
         to.add_ints("llama.attention.head_count", std::vector<int32_t>{4, 2, 4});
       },
       "key llama.attention.head_count differs from layer to layer (4, 2), which is not supported"},
      {{"llama.embedding_length"},
       [](GgufWriter& to) { to.add_uint32("llama.embedding_length", 1 << 24); },
       "heads have 4,194,304 dimensions, at most 4,096 are supported"},
      {{},
       [](GgufWriter& to) { to.add_uint32("llama.expert_count", 8); },
       "key llama.expert_count is 8: no experts are known of llama models"},
      {{},
       [](GgufWriter& to) { to.add_uint32("llama.attention.sliding_window", 512); },
       "key llama.attention.sliding_window is 512, below the context length of 1,024: sliding windows are not "
       "supported"},
      {{},
       [](GgufWriter& to) { to.add_string("llama.rope.scaling.type", "longrope"); },
       "key llama.rope.scaling.type is \"longrope\", supported are none, linear and yarn"},
      {{"llama.rope.freq_base"},
       [](GgufWriter& to) { to.add_float32("llama.rope.freq_base", 0); },
       "key llama.rope.freq_base is 0, expected more than 1 and at most 1e+15"},
      {{"llama.block_count"},
       [](GgufWriter& to) { to.add_uint32("llama.block_count", 4); },
       "tensor blk.3.attn_norm.weight is missing"},
      {{"llama.block_count"},
       [](GgufWriter& to) { to.add_uint32("llama.block_count", 2); },
       "tensor blk.2.attn_norm.weight is not part of a supported llama model"},
      {{"llama.feed_forward_length"},
       [](GgufWriter& to) { to.add_uint32("llama.feed_forward_length", 128); },
       "tensor blk.0.ffn_gate.weight has shape [96, 64], expected [128, 64]"},
      {{},
       [](GgufWriter& to) { to.add_tensor("output.scale", TensorType::kF32, std::vector<uint64_t>{1}, Bytes(4)); },
       "tensor output.scale is not part of a supported llama model"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(error_of(with_keys(small("llama"), row.replaced, row.add)),
              std::string("cannot load a.gguf: ") + row.error);
}

TEST(ModelTensors, AreFoundWithoutReadingWeights) {
  TinyModelSpec spec = small("qwen2");
  Bytes bytes = build_tiny_model(spec, 1);
  const GgufFile file = GgufFile::view(bytes, "a.gguf");
  const ModelConfig config = read_model_config(file);
  const auto at = static_cast<size_t>(file.tensor("blk.1.ffn_up.weight").data.data() - bytes.data());
  bytes[at] = std::byte{0}, bytes[at + 1] = std::byte{0x7c};  // the first scale is infinite
  EXPECT_NO_THROW(find_model_tensors(file, config));
  EXPECT_THROW(read_model_tensors(file, config), Error);
}

TEST(ModelTensors, AreFoundByRole) {
  for (const char* architecture : {"llama", "qwen2", "qwen3"}) {
    const Bytes bytes = build_tiny_model(small(architecture), 1);
    const GgufFile file = GgufFile::view(bytes, "a.gguf");
    const ModelTensors tensors = read_model_tensors(file, read_model_config(file));
    EXPECT_EQ(tensors.token_embd, &file.tensor("token_embd.weight"));
    EXPECT_EQ(tensors.output, tensors.token_embd);
    ASSERT_EQ(tensors.layers.size(), 3u);
    EXPECT_EQ(tensors.layers[2].matrices.down, &file.tensor("blk.2.ffn_down.weight"));
    EXPECT_EQ(tensors.layers[1].vectors.q_bias, file.find_tensor("blk.1.attn_q.bias"));
    EXPECT_EQ(tensors.layers[1].vectors.k_norm, file.find_tensor("blk.1.attn_k_norm.weight"));
  }
}

TEST(ModelTensors, BiasesOfALlamaAreOptional) {
  const auto with_biases = [](GgufWriter& to) {
    for (int layer = 0; layer < 3; ++layer)
      for (const auto& [name, rows] : {std::pair{"attn_q.bias", 64}, {"attn_k.bias", 32}, {"attn_v.bias", 32}})
        to.add_tensor("blk." + std::to_string(layer) + "." + name, TensorType::kF32,
                      std::vector<uint64_t>{static_cast<uint64_t>(rows)}, Bytes(4 * static_cast<size_t>(rows)));
  };
  EXPECT_EQ(error_of(with_keys(small("llama"), {}, with_biases)), "");
  const auto with_one = [](GgufWriter& to) {
    to.add_tensor("blk.0.attn_q.bias", TensorType::kF32, std::vector<uint64_t>{64}, Bytes(256));
  };
  EXPECT_EQ(error_of(with_keys(small("llama"), {}, with_one)), "");
}

// The file's tensors, with some left out and some added.
GgufWriter with_tensors(const TinyModelSpec& spec, bool (*keeps)(const std::string&), void (*add)(GgufWriter&)) {
  const Bytes bytes = build_tiny_model(spec, 1);
  const GgufFile file = GgufFile::view(bytes, "a.gguf");
  GgufWriter writer;
  writer.copy_metadata(file);
  add(writer);
  for (const TensorInfo& tensor : file.tensors())
    if (keeps(tensor.name))
      writer.add_tensor(tensor.name, tensor.type, std::span(tensor.shape).first(tensor.n_dims), tensor.data);
  return writer;
}

bool is_no_bias(const std::string& name) { return !name.ends_with(".bias"); }

TEST(ModelTensors, BiasesOfAQwen2AreOptional) {
  const Bytes bytes = with_tensors(small("qwen2"), is_no_bias, [](GgufWriter&) {}).bytes();
  const GgufFile file = GgufFile::view(bytes, "a.gguf");
  const ModelTensors tensors = read_model_tensors(file, read_model_config(file));
  EXPECT_EQ(tensors.layers[0].vectors.q_bias, nullptr);
  EXPECT_EQ(tensors.layers[0].vectors.v_bias, nullptr);
}

TEST(ModelTensors, FusedBiasesAreReadAsTheirParts) {
  for (const char* architecture : {"llama", "qwen2", "qwen3"}) {
    const auto add = [](GgufWriter& to) {
      std::vector<float> numbers(64 + 32 + 32);  // q, k, v
      for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
      for (int layer = 0; layer < 3; ++layer)
        to.add_tensor("blk." + std::to_string(layer) + ".attn_qkv.bias", TensorType::kF32,
                      std::vector<uint64_t>{numbers.size()}, std::as_bytes(std::span(numbers)));
    };
    const Bytes bytes = with_tensors(small(architecture), is_no_bias, add).bytes();
    const GgufFile file = GgufFile::view(bytes, "a.gguf");
    const ModelTensors tensors = read_model_tensors(file, read_model_config(file));
    const auto numbers_of = [](const TensorInfo* tensor) {
      std::vector<float> numbers(tensor->k());
      EXPECT_EQ(tensor->rows(), 1u);
      EXPECT_EQ(tensor->data.size(), 4 * numbers.size());
      std::memcpy(numbers.data(), tensor->data.data(), tensor->data.size());
      return std::pair(numbers.front(), numbers.back());
    };
    const LayerVectors<const TensorInfo*>& vectors = tensors.layers[2].vectors;
    EXPECT_EQ(numbers_of(vectors.q_bias), std::pair(0.f, 63.f)) << architecture;
    EXPECT_EQ(numbers_of(vectors.k_bias), std::pair(64.f, 95.f)) << architecture;
    EXPECT_EQ(numbers_of(vectors.v_bias), std::pair(96.f, 127.f)) << architecture;
  }
}

// The file of a spec with one more vector of equal numbers.
GgufWriter with_vector(const TinyModelSpec& spec, const std::string& name, uint64_t n, float number) {
  GgufWriter writer = tiny_model(spec, 1);
  const std::vector<float> numbers(n, number);
  writer.add_tensor(name, TensorType::kF32, std::vector<uint64_t>{n}, std::as_bytes(std::span(numbers)));
  return writer;
}

struct OtherBias {
  const char* name;
  uint64_t n;
  const TensorInfo* (*of)(const ModelTensors&);
};
const OtherBias kOtherBiases[] = {
    {"output.bias", vocabulary_size(TinyVocabulary::kByteBpe), [](const ModelTensors& t) { return t.output_bias; }},
    {"blk.0.attn_output.bias", 64, [](const ModelTensors& t) { return t.layers[0].vectors.output_bias; }},
    {"blk.1.ffn_gate.bias", 96, [](const ModelTensors& t) { return t.layers[1].vectors.gate_bias; }},
    {"blk.1.ffn_up.bias", 96, [](const ModelTensors& t) { return t.layers[1].vectors.up_bias; }},
    {"blk.2.ffn_down.bias", 64, [](const ModelTensors& t) { return t.layers[2].vectors.down_bias; }}};

TEST(ModelTensors, OtherBiasesAreReadUnlessTheyAreZeros) {
  for (const char* architecture : {"llama", "qwen2", "qwen3"})
    for (const OtherBias& bias : kOtherBiases)
      for (const float number : {0.0f, 0.5f}) {
        const Bytes bytes = with_vector(small(architecture), bias.name, bias.n, number).bytes();
        const GgufFile file = GgufFile::view(bytes, "a.gguf");
        const ModelTensors tensors = read_model_tensors(file, read_model_config(file));
        EXPECT_EQ(bias.of(tensors), number == 0 ? nullptr : file.find_tensor(bias.name)) << bias.name;
      }
}

TEST(ModelTensors, OtherBiasesHaveTheRowsOfTheirProduct) {
  for (const OtherBias& bias : kOtherBiases) {
    const GgufWriter file = with_vector(small("llama"), bias.name, bias.n - 1, 0.5f);
    EXPECT_EQ(error_of(file), "cannot load a.gguf: tensor " + std::string(bias.name) + " has shape [" +
                                  std::to_string(bias.n - 1) + "], expected [" + std::to_string(bias.n) + "]");
  }
}

TEST(ModelTensors, BiasesOfProductsThatALayerLacksAreRefused) {
  TinyModelSpec experts = small("qwen3moe");
  experts.experts = {.n = 4, .n_used = 2, .ffn = 32, .normalises = true};
  EXPECT_EQ(error_of(with_vector(experts, "blk.0.ffn_down.bias", 64, 0.5f)),
            "cannot load a.gguf: tensor blk.0.ffn_down.bias is not part of a supported qwen3moe model");
}

TEST(ModelConfig, TheTokensCountWhateverVocabSizeSays) {
  EXPECT_EQ(error_of(with_keys(small("qwen2"), {}, [](GgufWriter& to) { to.add_uint32("qwen2.vocab_size", 7); })), "");
}

TEST(ModelTensors, OutputMayBeAMatrixOfItsOwn) {
  TinyModelSpec spec = small("qwen2");
  spec.tied_output = false;
  const Bytes bytes = build_tiny_model(spec, 1);
  const GgufFile file = GgufFile::view(bytes, "a.gguf");
  EXPECT_EQ(read_model_tensors(file, read_model_config(file)).output, &file.tensor("output.weight"));
}

TEST(ModelTensors, TablesThatOldConvertersWroteAreIgnored) {
  const auto with_table = [](GgufWriter& to) {
    to.add_tensor("blk.0.attn_rot_embd.weight", TensorType::kF32, std::vector<uint64_t>{8}, Bytes(32));
  };
  EXPECT_EQ(error_of(with_keys(small("llama"), {}, with_table)), "");
}

TEST(ReferenceModels, HaveTheirKnownSizes) {
  struct Row {
    const char* name;
    Architecture architecture;
    uint32_t n_layers, hidden, ffn, n_heads, n_kv_heads, head_dim;
    bool tied_output;
  };
  const Row rows[] = {
      {"tiny2.gguf", Architecture::kQwen2, 2, 512, 512, 8, 2, 64, true},
      {"mini3.gguf", Architecture::kQwen3, 2, 256, 768, 8, 4, 64, false},
      {"odd2.gguf", Architecture::kQwen2, 1, 896, 288, 14, 2, 64, true},
      {"tinyll.gguf", Architecture::kLlama, 1, 512, 512, 8, 4, 64, false},
  };
  for (const Row& row : rows) {
    const GgufFile file = GgufFile::open(reference_data_path(row.name));
    const ModelConfig config = read_model_config(file);
    EXPECT_EQ(config.architecture, row.architecture);
    EXPECT_EQ(config.n_layers, row.n_layers);
    EXPECT_EQ(config.hidden, row.hidden);
    EXPECT_EQ(config.ffn, row.ffn);
    EXPECT_EQ(config.n_heads, row.n_heads);
    EXPECT_EQ(config.n_kv_heads, row.n_kv_heads);
    EXPECT_EQ(config.head_dim, row.head_dim);
    EXPECT_EQ(config.n_vocab, 512u);
    EXPECT_EQ(config.tied_output, row.tied_output);
    EXPECT_EQ(read_model_tensors(file, config).layers.size(), row.n_layers);
  }
}

}  // namespace
}  // namespace warpchat
