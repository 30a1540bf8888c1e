// The decoder's program passes. Every program that would deadlock or race is refused, with the phase at fault.
#include "kernels/phase_program.h"

#include <gtest/gtest.h>

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

constexpr LayerKind kDenseLayer{}, kExpertLayer{Mixer::kAttention, Ffn::kExperts},
    kDeltaLayer{Mixer::kDeltaNet, Ffn::kDense}, kBoth{Mixer::kDeltaNet, Ffn::kExperts};

// Programs of models with layers of these kinds.
const std::vector<LayerKind> kModels[] = {
    {kDenseLayer},
    {kExpertLayer},
    {kDeltaLayer, kDeltaLayer, kDenseLayer},
    {kBoth, kExpertLayer},
    {kDenseLayer, kExpertLayer},
    {kDenseLayer, kExpertLayer, kDeltaLayer, kBoth},
};

TEST(PhaseProgram, OfTheDecoderIsSound) {
  for (const std::vector<LayerKind>& model : kModels) EXPECT_EQ(refusal(decoder_program(model)), "");
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
     {{{kEmbed, {}, {"x"}, {kQkv}}, {kQkv, {"x"}, {}, {}}}},
     "phase qkv reads x while embed may still write it; it must wait for it"},
    {"next_token_overwrites_what_is_read",
     {{{kEmbed, {}, {"x"}, {}}, {kQkv, {"x"}, {}, {kEmbed}}}},
     "phase embed writes x while qkv may still read it; it must wait for it"},
    {"next_layer_overwrites_what_is_read",
     {{{kEmbed, {}, {"x"}, {kLogits}}, {kQkv, {"x"}, {"y"}, {kEmbed}}, {kLogits, {"y"}, {}, {kQkv}}}, 1, 2},
     "phase qkv writes y while qkv may still write it; it must wait for it"},
    {"two_writers",
     {{{kEmbed, {}, {"x"}, {kQkv}}, {kQkv, {}, {"x"}, {}}}},
     "phase qkv writes x while embed may still write it; it must wait for it"},
    {"waits_for_the_wrong_phase",  // embed has ended, qkv has not
     {{{kEmbed, {}, {"x"}, {kOutput}}, {kQkv, {"x"}, {"y"}, {kEmbed}}, {kOutput, {"y"}, {}, {kEmbed}}}},
     "phase output reads y while qkv may still write it; it must wait for it"},
    {"reads_before_it_waits",
     {{{kEmbed, {}, {"x"}, {kQkv}}, {kQkv, {"x"}, {}, {kEmbed}, LayerPart::kEvery, {"x"}}}},
     "phase qkv reads x before it waits, while embed may still write it"},
    {"waits_for_what_comes_later",
     {{{kEmbed, {}, {"x"}, {}}, {kQkv, {"x"}, {}, {kOutput}}, {kOutput, {}, {}, {kQkv}}}},
     "phase qkv deadlocks: it waits for output, which runs later"},
    {"waits_for_itself",
     {{{kEmbed, {}, {}, {}}, {kQkv, {}, {}, {kQkv}}}},
     "phase qkv deadlocks: it waits for qkv, which runs later"},
    {"waits_for_nothing", {{{kEmbed, {}, {}, {kEmit}}}}, "phase embed waits for emit, which is not in the program"},
    {"waits_for_the_mixer_of_another_kind_of_layer",
     {{{kEmbed, {}, {"x"}, {kOutput}},
       {kAttention, {"x"}, {"mixed"}, {kEmbed, kOutput}, LayerPart::kAttention},
       {kDelta, {"x"}, {"mixed"}, {kEmbed, kOutput}, LayerPart::kDeltaNet},
       {kOutput, {"mixed"}, {"x"}, {kAttention}}},
      1,
      4,
      {kDenseLayer, kDeltaLayer}},
     "phase output reads mixed while delta may still write it; it must wait for it"},
    {"stands_twice", {{{kEmbed, {}, {}, {}}, {kEmbed, {}, {}, {}}}}, "phase embed is in the program twice"},
};

class BrokenProgram : public ::testing::TestWithParam<BrokenCase> {};
TEST_P(BrokenProgram, IsRefused) { EXPECT_EQ(refusal(GetParam().program), GetParam().refusal); }
INSTANTIATE_TEST_SUITE_P(Cases, BrokenProgram, ::testing::ValuesIn(kCases),
                         [](const auto& row) { return std::string(row.param.name); });

// The decoder's program is refused without any single one of its waits, so each is needed.
TEST(PhaseProgram, NeedsEveryBarrier) {
  for (const std::vector<LayerKind>& model : kModels) {
    const PhaseProgram whole = decoder_program(model);
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
  const auto barriers = [](const std::vector<LayerKind>& layers) {
    return barriers_of_a_token(decoder_program(layers), layers);
  };
  const std::vector<LayerKind> dense(36);
  EXPECT_EQ(barriers({kDenseLayer}), 9u);
  EXPECT_EQ(barriers(dense), 9u + 35 * 5);
  EXPECT_EQ(barriers({kExpertLayer}), 11u);
  EXPECT_EQ(barriers({kBoth, kDenseLayer, kDeltaLayer, kExpertLayer}), 4u + 8 + 5 + 6 + 7);
  PhaseProgram program = decoder_program(dense);
  program.phases[2].waits_for.clear();  // inside a layer
  EXPECT_EQ(barriers_of_a_token(program, dense), 9u + 35 * 4 - 1);
}

}  // namespace
}  // namespace warpchat
