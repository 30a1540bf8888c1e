// The decoder's program passes; every program that would hang or race is refused by the phase that does it.
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

TEST(PhaseProgram, OfTheDecoderIsSound) { EXPECT_EQ(refusal(decoder_program()), ""); }

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
     {{{kEmbed, {}, {"x"}, {kScatter}}, {kQkv, {"x"}, {"y"}, {kEmbed}}, {kScatter, {"y"}, {}, {kEmbed}}}},
     "phase scatter reads y while qkv may still write it; it must wait for it"},
    {"waits_for_what_comes_later",
     {{{kEmbed, {}, {"x"}, {}}, {kQkv, {"x"}, {}, {kScatter}}, {kScatter, {}, {}, {kQkv}}}},
     "phase qkv waits for scatter, which comes only behind it: nobody goes on"},
    {"waits_for_itself",
     {{{kEmbed, {}, {}, {}}, {kQkv, {}, {}, {kQkv}}}},
     "phase qkv waits for qkv, which comes only behind it: nobody goes on"},
    {"waits_for_nobody",
     {{{kEmbed, {}, {}, {kPublish}}}},
     "phase embed waits for publish, which is not in the program"},
    {"stands_twice", {{{kEmbed, {}, {}, {}}, {kEmbed, {}, {}, {}}}}, "phase embed stands twice in the program"},
};

class BrokenProgram : public ::testing::TestWithParam<BrokenCase> {};
TEST_P(BrokenProgram, IsRefused) { EXPECT_EQ(refusal(GetParam().program), GetParam().refusal); }
INSTANTIATE_TEST_SUITE_P(Cases, BrokenProgram, ::testing::ValuesIn(kCases),
                         [](const auto& row) { return std::string(row.param.name); });

// Without any one of its waits the decoder's program is refused: none is there for nothing.
TEST(PhaseProgram, NeedsEveryBarrier) {
  for (size_t i = 0; i < decoder_program().phases.size(); ++i) {
    PhaseProgram program = decoder_program();
    program.phases[i].waits_for.clear();
    EXPECT_NE(refusal(program), "") << name_of(program.phases[i].kind);
  }
}

// As the kernel has them: before each phase of the program, once or once for each layer; the first one's ends a token.
TEST(PhaseProgramBarriers, AreCountedByLayers) {
  EXPECT_EQ(barriers_of_a_token(decoder_program(), 1), 10u);
  EXPECT_EQ(barriers_of_a_token(decoder_program(), 36), 10u + 35 * 6);
  PhaseProgram program = decoder_program();
  program.phases[2].waits_for.clear();  // in a layer
  EXPECT_EQ(barriers_of_a_token(program, 36), 10u + 35 * 5 - 1);
}

}  // namespace
}  // namespace warpchat
