// Gated delta nets in the emulator against double precision: states over several steps, and sequences side by side.
#include "kernels/delta_net/delta_net.h"

#include <gtest/gtest.h>

#include "models/error.h"
#include "tests/kernels/delta_problem.h"
#include "tests/kernels/emulated_kernel.h"
#include "tests/support/error_of.h"

namespace warpchat {
namespace {

struct DeltaCase {
  const char* name;
  DeltaNetSpec spec;  // for one column
  uint32_t n_sequences, n, first;
};
std::ostream& operator<<(std::ostream& out, const DeltaCase& c) { return out << c.name; }

// Runs a problem's sequences step by step. Several sequences have one position each.
class Steps {
 public:
  // columns: the kernels' columns; the problem may have fewer.
  Steps(const DeltaProblem& p, uint32_t columns, ptx::Target target)
      : spec_(with_columns(p.spec, columns)),
        n_columns_(p.n_sequences),
        n_(p.n),
        conv_kernel_(conv_step(spec_, target)),
        step_kernel_(delta_step(spec_, target)),
        device_(target) {
    const auto up = [&](const std::vector<float>& values) { return device_.upload(values); };
    qkv_ = up(p.qkv), z_ = up(p.z), alpha_ = up(p.alpha), beta_ = up(p.beta), conv_ = up(p.conv);
    dt_bias_ = up(p.dt_bias), decay_ = up(p.decay), norm_ = up(p.norm);
    std::vector<uint64_t> addresses;
    for (const std::vector<float>& state : p.states)
      states_.push_back(up(state)), addresses.push_back(reinterpret_cast<uint64_t>(states_.back()));
    table_ = device_.upload(addresses), positions_ = device_.upload(p.positions());
    out_ = device_.poisoned<float>(p.z.size());
  }

  // Returns "" or the fault.
  std::string convolve(const ptx::emulator::LaunchOptions& options = kAllChecks) {
    return each_position([&](uint32_t i) {
      return run(options, conv_kernel_, qkv_ + uint64_t{i} * spec_.channels(), conv_, table_, positions_ + i, kLayer);
    });
  }
  // The kernel's parameter `layer` comes before `out`.
  std::string step(const ptx::emulator::LaunchOptions& options = kAllChecks) {
    return each_position([&](uint32_t i) {
      const uint64_t inner = uint64_t{i} * spec_.inner(), head = uint64_t{i} * spec_.n_v_heads;
      return run(options, step_kernel_, qkv_ + uint64_t{i} * spec_.channels(), z_ + inner, alpha_ + head, beta_ + head,
                 dt_bias_, decay_, norm_, table_, positions_ + i, kLayer, out_ + inner);
    });
  }

  std::vector<float> qkv() const { return device_.download(qkv_, uint64_t{n_} * n_columns_ * spec_.channels()); }
  std::vector<float> out() const { return device_.download(out_, uint64_t{n_} * n_columns_ * spec_.inner()); }
  std::vector<float> state(uint32_t sequence) const {
    return device_.download(states_[sequence], kLayers * spec_.layer_floats());
  }

 private:
  static DeltaNetSpec with_columns(DeltaNetSpec spec, uint32_t columns) {
    spec.columns = columns;
    return spec;
  }
  template <class Launch>
  std::string each_position(const Launch& launch) {
    std::string fault;
    for (uint32_t i = 0; i < n_ && fault.empty(); ++i) fault = launch(i);
    return fault;
  }
  template <class... Arguments>
  std::string run(const ptx::emulator::LaunchOptions& options, const ptx::Kernel& kernel, Arguments... arguments) {
    if (spec_.columns == 1) return device_.run_as(options, kernel, kernel.launch.blocks, arguments...);
    return device_.run_as(options, kernel, kernel.launch.blocks, arguments..., n_columns_);
  }

  DeltaNetSpec spec_;
  uint32_t n_columns_, n_;
  ptx::Kernel conv_kernel_, step_kernel_;
  GuardedDevice device_;
  float *qkv_, *z_, *alpha_, *beta_, *conv_, *dt_bias_, *decay_, *norm_, *out_;
  std::vector<float*> states_;
  uint64_t* table_;
  uint32_t* positions_;
};

class DeltaNet : public ::testing::TestWithParam<DeltaCase> {};

TEST_P(DeltaNet, MatchesDouble) {
  const auto& [name, spec, n_sequences, n, first] = GetParam();
  const DeltaProblem problem(spec, n_sequences, n, first);
  const uint32_t columns = n_sequences == 1 ? 1 : n_sequences + 3;
  for (uint64_t seed = 0; seed <= 1; ++seed) {
    const ptx::emulator::LaunchOptions options = seed == 0 ? kAllChecks : reordered(seed);
    Steps steps(problem, columns, ptx::sm_80);
    ASSERT_EQ(steps.convolve(options), "");
    const DeltaProblem::Result expected = problem.expected(steps.qkv());
    expect_close(steps.qkv(), expected.qkv, 1e-6);
    ASSERT_EQ(steps.step(options), "");
    expect_close(steps.out(), expected.out, 2e-5);
    for (uint32_t s = 0; s < n_sequences; ++s) expect_close(steps.state(s), expected.states[s], 1e-5);
  }
}

const DeltaNetSpec kSmall{2, 4, 32, 4, true, 1e-6f}, kWide{1, 2, 128, 4, false, 1e-6f}, kOdd{1, 3, 64, 3, false, 1e-5f};
const DeltaCase kCases[] = {
    {"a_token", kSmall, 1, 1, 7},
    {"the_first_token", kSmall, 1, 1, 0},
    {"many_tokens", kSmall, 1, 70, 0},
    {"some_tokens", kOdd, 1, 9, 5},
    {"some_tokens_of_heads_of_128", kWide, 1, 3, 4},
    {"a_token_of_heads_of_128", kWide, 1, 1, 4},
    {"the_first_of_heads_of_128", kWide, 1, 1, 0},
    {"sequences", kSmall, 5, 1, 6},
    {"odd_sequences", kOdd, 2, 1, 0},
};
INSTANTIATE_TEST_SUITE_P(Cases, DeltaNet, ::testing::ValuesIn(kCases), [](const auto& c) { return c.param.name; });

// Holds whether the kernel keeps the state in registers or not.
TEST(DeltaNetSteps, AreTheSameBesideOthers) {
  for (const DeltaNetSpec& net : {kWide, kOdd}) {
    const DeltaProblem problem(net, 1, 3, 4);
    Steps alone(problem, 1, ptx::sm_75), among(problem, 2, ptx::sm_75);
    for (Steps* steps : {&alone, &among}) ASSERT_EQ(steps->convolve() + steps->step(), "");
    EXPECT_EQ(alone.out(), among.out()) << net.head_dim;
    EXPECT_EQ(alone.state(0), among.state(0)) << net.head_dim;
  }
}

TEST(DeltaNetSpecs, AreCheckedByName) {
  EXPECT_EQ(error_of([] {
              delta_step({2, 4, 48, 4}, ptx::sm_75);
            }),
            "delta_step: head_dim is 48, expected a multiple of 32 up to 128");
  EXPECT_EQ(error_of([] {
              conv_step({2, 5, 64, 4}, ptx::sm_75);
            }),
            "conv_step: n_v_heads is 5, expected a multiple of the 2 key heads");
  EXPECT_EQ(error_of([] { conv_step({2, 4, 64, 9}, ptx::sm_75); }), "conv_step: conv_kernel is 9, expected 2 to 8");
  DeltaNetSpec prompt = kSmall;
  prompt.one_sequence = true;
  EXPECT_EQ(error_of([&] { delta_step(prompt, ptx::sm_75); }), "delta_step: one_sequence is 1, expected 0");
}

}  // namespace
}  // namespace warpchat
