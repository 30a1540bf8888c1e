// Random programs of variables and copies: copies that the builder folds must not change results. Each program runs in
// the emulator and is evaluated here, statement by statement.
#include <gtest/gtest.h>

#include <random>

#include "ptx/builder.h"
#include "tests/emulator/harness.h"

namespace ptx::testing {
namespace {

constexpr int kVariables = 3;
constexpr uint32_t kThreads = 64;  // they take different branches: variable 0 starts as the thread's number

struct Statement {
  enum class Kind { kAssign, kCopy, kIf, kLoop, kPredicated };
  Kind kind;
  int to, left, right;  // variables; copies count from kVariables
  uint32_t number;
  std::vector<Statement> body, otherwise;
};

// `copies`: those in scope; copies made in a body are visible only there.
std::vector<Statement> random_program(std::mt19937& random, int depth, int copies) {
  std::vector<Statement> program;
  const int length = 2 + static_cast<int>(random() % 5);
  for (int i = 0; i < length; ++i) {
    const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<uint32_t>(n)); };
    Statement s{static_cast<Statement::Kind>(pick(depth > 0 ? 5 : 2)),
                pick(kVariables),
                pick(kVariables + copies),
                pick(kVariables + copies),
                static_cast<uint32_t>(random() % 50),
                {},
                {}};
    if (s.kind == Statement::Kind::kCopy) s.left = pick(kVariables);
    if (s.kind == Statement::Kind::kIf || s.kind == Statement::Kind::kLoop) {
      s.body = random_program(random, depth - 1, copies);
      if (s.number % 2) s.otherwise = random_program(random, depth - 1, copies);
    }
    copies += s.kind == Statement::Kind::kCopy;
    program.push_back(std::move(s));
  }
  return program;
}

class Written {
 public:
  explicit Written(Builder& b) : b_(b) {
    variables_.push_back(b.var<u32>("v", b.thread()));
    for (int i = 1; i < kVariables; ++i) variables_.push_back(b.var<u32>("v", static_cast<uint32_t>(i * 77)));
  }

  void write(const std::vector<Statement>& program) {
    const size_t outer = copies_.size();
    for (const Statement& s : program) write(s);
    while (copies_.size() > outer) copies_.pop_back();
  }

  const std::vector<Var<u32>>& variables() const { return variables_; }

 private:
  In<u32> value(int i) const {
    if (i < kVariables) return variables_[static_cast<size_t>(i)];
    return copies_[static_cast<size_t>(i - kVariables)];
  }
  void write(const Statement& s) {
    Var<u32>& to = variables_[static_cast<size_t>(s.to)];
    switch (s.kind) {
      case Statement::Kind::kAssign:
        to = b_.mad(value(s.left), s.number, value(s.right));
        break;
      case Statement::Kind::kCopy:
        copies_.emplace_back(variables_[static_cast<size_t>(s.left)]);
        break;
      case Statement::Kind::kPredicated:
        b_.predicated(b_.compare(Compare::kLt, value(s.left), s.number * 3), [&] { to = value(s.right); });
        break;
      case Statement::Kind::kIf:
        b_.if_else(
            b_.compare(Compare::kGt, value(s.left), value(s.right)), [&] { write(s.body); },
            [&] { write(s.otherwise); });
        break;
      case Statement::Kind::kLoop:
        b_.for_("round", 0, s.number % 4, 1, [&](Reg<u32> round) {
          to += round;
          write(s.body);
        });
        break;
    }
  }

  Builder& b_;
  std::vector<Var<u32>> variables_;
  std::vector<Reg<u32>> copies_;
};

void evaluate(const std::vector<Statement>& program, std::vector<uint32_t>& values) {
  const size_t outer = values.size();
  for (const Statement& s : program) {
    const auto value = [&](int i) { return values[static_cast<size_t>(i)]; };
    uint32_t& to = values[static_cast<size_t>(s.to)];
    switch (s.kind) {
      case Statement::Kind::kAssign:
        to = value(s.left) * s.number + value(s.right);
        break;
      case Statement::Kind::kCopy:
        values.push_back(value(s.left));
        break;
      case Statement::Kind::kPredicated:
        if (value(s.left) < s.number * 3) to = value(s.right);
        break;
      case Statement::Kind::kIf:
        evaluate(value(s.left) > value(s.right) ? s.body : s.otherwise, values);
        break;
      case Statement::Kind::kLoop:
        for (uint32_t round = 0; round < s.number % 4; ++round) {
          values[static_cast<size_t>(s.to)] += round;
          evaluate(s.body, values);
        }
        break;
    }
  }
  values.resize(outer);
}

TEST(VariableTest, RandomProgramsKeepTheirMeaning) {
  emulator::Device device;
  size_t folded = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const std::vector<Statement> program = random_program(random, 3, 0);
    Builder b("variables", sm_80);
    Global<u32> out = b.global<u32>("out", kThreads * kVariables);
    Written written(b);
    written.write(program);
    for (int i = 0; i < kVariables; ++i) {
      out.store(b.thread() * kVariables + static_cast<uint32_t>(i), written.variables()[static_cast<size_t>(i)]);
    }
    const Kernel kernel = b.finish(Launch{1, kThreads});
    folded += kernel.text.find("mad.lo.u32 %v") != kernel.text.npos;
    uint32_t* results = device.zeros<uint32_t>(kThreads * kVariables);
    const emulator::Module module(kernel.text, device.profile, device.memory);
    ASSERT_EQ(emulator::run(device, module, "variables", {1}, {kThreads}, emulator::pack_parameters(results), 0,
                            {.checks = emulator::Checks::all()}),
              "")
        << "seed " << seed << "\n"
        << kernel.text;
    for (uint32_t thread = 0; thread < kThreads; ++thread) {
      std::vector<uint32_t> values = {thread, 77, 154};
      evaluate(program, values);
      const std::vector<uint32_t> got(results + thread * kVariables, results + (thread + 1) * kVariables);
      ASSERT_EQ(got, values) << "seed " << seed << ", thread " << thread << "\n" << kernel.text;
    }
  }
  EXPECT_GT(folded, 100u);  // otherwise the test would be empty
}

}  // namespace
}  // namespace ptx::testing
