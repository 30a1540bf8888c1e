// The decoder's program passes. Every program that would deadlock or race is refused, with the phase at fault.
#include "kernels/persistent/phase_program.h"

#include <gtest/gtest.h>

#include "engine/decoder.h"
#include "kernels/shapes.h"
#include "models/error.h"

namespace warpchat {
namespace {

std::string refusal(const PhaseProgram& program) {
  try {
    check_program(program);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

constexpr LayerConfig kDenseLayer{}, kExpertLayer{Mixer::kAttention, Ffn::kExperts},
    kDeltaLayer{Mixer::kDeltaNet, Ffn::kDense}, kBoth{Mixer::kDeltaNet, Ffn::kExperts};

// Models with layers of these kinds.
const std::vector<LayerConfig> kModels[] = {
    {kDenseLayer},
    {kExpertLayer},
    {kDeltaLayer, kDeltaLayer, kDenseLayer},
    {kBoth, kExpertLayer},
    {kDenseLayer, kExpertLayer},
    {kDenseLayer, kExpertLayer, kDeltaLayer, kBoth},
};

LaunchList list_of(const std::vector<LayerConfig>& layers) {
  ModelConfig config = model_shape("qwen3.5-35b-a3b").config;
  config.layers = layers;
  config.n_layers = static_cast<uint32_t>(layers.size());
  config.ffn = 1024;
  return launch_list(text_decoder(config), config, q4_k_m_formats(config), {PassKind::kDecode, 1, 4096});
}

TEST(PhaseProgram, OfTheDecoderIsSound) {
  for (const std::vector<LayerConfig>& model : kModels) EXPECT_EQ(refusal(decoder_program(list_of(model))), "");
}

// What the proof goes by comes from the launches' arguments.
TEST(PhaseProgram, KnowsWhatPhasesReadAndWrite) {
  const PhaseProgram program = decoder_program(list_of(kModels[5]));
  const auto phase = [&](PhaseKind kind) { return *std::ranges::find(program.phases, kind, &Phase::kind); };
  using B = Buffer;
  EXPECT_EQ(phase(PhaseKind::kQkv).reads, std::set({B::kHidden}));
  EXPECT_EQ(phase(PhaseKind::kQkv).writes,
            std::set({B::kQ, B::kK, B::kV, B::kQGate, B::kQkv, B::kZ, B::kAlpha, B::kBeta}));
  EXPECT_EQ(phase(PhaseKind::kAttention).reads, std::set({B::kQ, B::kK, B::kV, B::kQGate, B::kPositions, B::kPageTables,
                                                          B::kKeys, B::kValues, B::kAttentionScratch}));
  EXPECT_EQ(phase(PhaseKind::kAttention).writes, std::set({B::kMixed, B::kKeys, B::kValues, B::kAttentionScratch}));
  EXPECT_EQ(phase(PhaseKind::kOutput).reads, std::set({B::kMixed, B::kDeltaMixed, B::kHidden}));
  EXPECT_EQ(phase(PhaseKind::kOutput).writes, std::set({B::kHidden}));
  EXPECT_EQ(phase(PhaseKind::kRouter).writes, std::set({B::kScores, B::kSharedExpertGate}));
  EXPECT_EQ(phase(PhaseKind::kExpertsDown).writes, std::set({B::kExpertOutputs, B::kSharedOutput}));
}

struct BrokenCase {
  const char* name;
  PhaseProgram program;
  const char* refusal;
};
std::ostream& operator<<(std::ostream& out, const BrokenCase& c) { return out << c.name; }

using enum PhaseKind;

const BrokenCase kCases[] = {
    {"reads_without_a_barrier",
     {{{kEmbed, {}, {Buffer::kHidden}, {kQkv}}, {kQkv, {Buffer::kHidden}, {}, {}}}},
     "phase qkv reads hidden while embed may still write it; it must wait for it"},
    {"next_token_overwrites_what_is_read",
     {{{kEmbed, {}, {Buffer::kHidden}, {}}, {kQkv, {Buffer::kHidden}, {}, {kEmbed}}}},
     "phase embed writes hidden while qkv may still read it; it must wait for it"},
    {"next_layer_overwrites_what_is_read",
     {{{kEmbed, {}, {Buffer::kHidden}, {kLogits}},
       {kQkv, {Buffer::kHidden}, {Buffer::kInner}, {kEmbed}},
       {kLogits, {Buffer::kInner}, {}, {kQkv}}},
      1,
      2},
     "phase qkv writes inner while qkv may still write it; it must wait for it"},
    {"two_writers",
     {{{kEmbed, {}, {Buffer::kHidden}, {kQkv}}, {kQkv, {}, {Buffer::kHidden}, {}}}},
     "phase qkv writes hidden while embed may still write it; it must wait for it"},
    {"waits_for_the_wrong_phase",  // embed has ended, qkv has not
     {{{kEmbed, {}, {Buffer::kHidden}, {kOutput}},
       {kQkv, {Buffer::kHidden}, {Buffer::kInner}, {kEmbed}},
       {kOutput, {Buffer::kInner}, {}, {kEmbed}}}},
     "phase output reads inner while qkv may still write it; it must wait for it"},
    {"reads_before_it_waits",
     {{{kEmbed, {}, {Buffer::kHidden}, {kQkv}}, {kQkv, {Buffer::kHidden}, {}, {kEmbed}, {Buffer::kHidden}}}},
     "phase qkv reads hidden before it waits, while embed may still write it"},
    {"waits_for_what_comes_later",
     {{{kEmbed, {}, {Buffer::kHidden}, {}}, {kQkv, {Buffer::kHidden}, {}, {kOutput}}, {kOutput, {}, {}, {kQkv}}}},
     "phase qkv deadlocks: it waits for output, which runs later"},
    {"waits_for_itself",
     {{{kEmbed, {}, {}, {}}, {kQkv, {}, {}, {kQkv}}}},
     "phase qkv deadlocks: it waits for qkv, which runs later"},
    {"waits_for_nothing", {{{kEmbed, {}, {}, {kEmit}}}}, "phase embed waits for emit, which is not in the program"},
    {"waits_for_the_mixer_of_another_kind_of_layer",
     {{{kEmbed, {}, {Buffer::kHidden}, {kOutput}},
       {kAttention, {Buffer::kHidden}, {Buffer::kMixed}, {kEmbed, kOutput}},
       {kDelta, {Buffer::kHidden}, {Buffer::kMixed}, {kEmbed, kOutput}},
       {kOutput, {Buffer::kMixed}, {Buffer::kHidden}, {kAttention}}},
      1,
      4,
      {set_of(kAttention) | set_of(kOutput), set_of(kDelta) | set_of(kOutput)}},
     "phase output reads mixed while delta may still write it; it must wait for it"},
    {"stands_twice", {{{kEmbed, {}, {}, {}}, {kEmbed, {}, {}, {}}}}, "phase embed is in the program twice"},
};

class BrokenProgram : public ::testing::TestWithParam<BrokenCase> {};
TEST_P(BrokenProgram, IsRefused) { EXPECT_EQ(refusal(GetParam().program), GetParam().refusal); }
INSTANTIATE_TEST_SUITE_P(Cases, BrokenProgram, ::testing::ValuesIn(kCases),
                         [](const auto& row) { return std::string(row.param.name); });

// The decoder's program is refused without any single one of its waits, so each is needed.
TEST(PhaseProgram, NeedsEveryBarrier) {
  for (const std::vector<LayerConfig>& model : kModels) {
    const PhaseProgram whole = decoder_program(list_of(model));
    for (size_t i = 0; i < whole.phases.size(); ++i) {
      for (size_t wait = 0; wait < whole.phases[i].waits_for.size(); ++wait) {
        PhaseProgram program = whole;
        program.phases[i].waits_for.erase(program.phases[i].waits_for.begin() + static_cast<ptrdiff_t>(wait));
        EXPECT_NE(refusal(program), "") << name_of(program.phases[i].kind);
      }
    }
  }
}

// The kernel has a barrier before each phase, once per token or once per layer. The first phase's barrier ends a token.
TEST(PhaseProgramBarriers, AreCountedByLayers) {
  const auto barriers = [](const std::vector<LayerConfig>& layers) {
    const LaunchList list = list_of(layers);
    return barriers_of_a_token(decoder_program(list), phases_of_layers(list));
  };
  const std::vector<LayerConfig> dense(36);
  EXPECT_EQ(barriers({kDenseLayer}), 9u);
  EXPECT_EQ(barriers(dense), 9u + 35 * 5);
  EXPECT_EQ(barriers({kExpertLayer}), 11u);
  EXPECT_EQ(barriers({kBoth, kDenseLayer, kDeltaLayer, kExpertLayer}), 4u + 8 + 5 + 6 + 7);
  const LaunchList list = list_of(dense);
  PhaseProgram program = decoder_program(list);
  program.phases[2].waits_for.clear();  // inside a layer
  EXPECT_EQ(barriers_of_a_token(program, phases_of_layers(list)), 9u + 35 * 4 - 1);
}

}  // namespace
}  // namespace warpchat
