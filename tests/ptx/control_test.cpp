// Structured control flow: its branches and labels, and what it refuses.
#include <gtest/gtest.h>

#include "operations.h"

namespace ptx::testing {
namespace {

struct ControlCase {
  const char* name;
  std::function<void(Builder&, const Inputs&)> build;
  const char* text;
};
class ControlTest : public ::testing::TestWithParam<ControlCase> {};

// Removes the comments above loops, which name lines of this file.
std::string without_comments(const std::string& text) {
  std::string kept;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (text.compare(at, 2, "//") != 0) kept += text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return kept;
}

TEST_P(ControlTest, GivesItsText) {
  const ControlCase& c = GetParam();
  EXPECT_EQ("\n" + without_comments(added_lines(kernel_of({c.name, sm_80, c.build, ""}, sm_80).text)), c.text);
}

const ControlCase kControlCases[] = {
    {"if_", [](Builder& b, const Inputs& t) { b.if_(t.p, [&] { b.trap(); }); },
     R"(
@!%p bra $endif;
trap;
$endif:
)"},
    {"if_not", [](Builder& b, const Inputs& t) { b.if_(!t.p, [&] { b.trap(); }); },
     R"(
@%p bra $endif;
trap;
$endif:
)"},
    {"if_else",
     [](Builder& b, const Inputs& t) {
       Var<u32> n = b.var<u32>("count");
       b.if_else(
           t.a < 3, [&] { n = 1; }, [&] { n = t.b; });
     },
     R"(
setp.lt.u32 %lt, %a, 3;
@!%lt bra $else;
mov.u32 %count, 1;
bra $endif;
$else:
mov.u32 %count, %b;
$endif:
)"},
    {"while_",
     [](Builder& b, const Inputs& t) {
       Var<u32> n = b.var("count", t.a);
       b.while_([&] { return n > 1; }, [&] { n = n >> 1; });
     },
     R"(
mov.u32 %count, %a;
$while:
setp.gt.u32 %gt, %count, 1;
@!%gt bra $while_end;
shr.u32 %count, %count, 1;
bra $while;
$while_end:
)"},
    {"do_while",
     [](Builder& b, const Inputs& t) {
       Var<u32> n = b.var("count", t.a);
       b.do_while([&] {
         n -= 2;
         return n > 1;
       });
     },
     R"(
mov.u32 %count, %a;
$while:
sub.u32 %count, %count, 2;
setp.gt.u32 %gt, %count, 1;
@%gt bra $while;
$while_end:
)"},
    // Constant ends give at least one round, so there is no test before the first.
    {"for_constant", [](Builder& b, const Inputs& t) { b.for_("step", 0, 10, 3, [&](Reg<u32> i) { b.max(i, t.a); }); },
     R"(
mov.u32 %step, 0;
$step:
max.u32 %max, %step, %a;
add.u32 %step, %step, 3;
setp.lt.u32 %lt, %step, 10;
@%lt bra $step;
$step_end:
)"},
    {"for_never", [](Builder& b, const Inputs&) { b.for_("step", 5, 5, 1, [&](Reg<u32>) { b.trap(); }); },
     "\nmov.u32 %step, 5;\n"},
    {"for_signed", [](Builder& b, const Inputs& t) { b.for_("step", -4, t.j, 2, [&](Reg<s32> i) { b.abs(i); }); },
     R"(
mov.s32 %step, -4;
setp.ge.s32 %ge, %step, %j;
@%ge bra $step_end;
$step:
abs.s32 %abs, %step;
add.s32 %step, %step, 2;
setp.lt.s32 %lt, %step, %j;
@%lt bra $step;
$step_end:
)"},
    // The end is the variable's value at the start of the loop. (count and step are the parameters' only readers, so
    // those registers are named count and step.)
    {"for_until_a_variable",
     [](Builder& b, const Inputs& t) {
       Var<u64> n = b.var("count", t.l);
       b.for_("step", t.m, n, 1, [&](Reg<u64> i) { n = i; });
     },
     R"(
mov.u64 %count_2, %count;
setp.ge.u64 %ge, %step, %count_2;
@%ge bra $step_end;
$step:
mov.u64 %count, %step;
add.u64 %step, %step, 1;
setp.lt.u64 %lt, %step, %count_2;
@%lt bra $step;
$step_end:
)"},
    // 10 rounds in groups of 4: two groups, then two single rounds.
    {"for_unrolled",
     [](Builder& b, const Inputs& t) {
       Var<u32> sum = b.var("sum", 0u);
       b.for_(
           "step", 0, 10, 1, [&](Reg<u32> i) { sum += i * t.a; }, Unroll{4});
     },
     R"(
mov.u32 %sum, 0;
mov.u32 %step, 0;
$step:
mul.lo.u32 %mul, %step, %a;
add.u32 %sum, %sum, %mul;
add.u32 %step, %step, 1;
mul.lo.u32 %mul_2, %step, %a;
add.u32 %sum, %sum, %mul_2;
add.u32 %step, %step, 1;
mul.lo.u32 %mul_3, %step, %a;
add.u32 %sum, %sum, %mul_3;
add.u32 %step, %step, 1;
mul.lo.u32 %mul_4, %step, %a;
add.u32 %sum, %sum, %mul_4;
add.u32 %step, %step, 1;
setp.lt.u32 %lt, %step, 7;
@%lt bra $step;
$step_end:
$step_2:
mul.lo.u32 %mul_5, %step, %a;
add.u32 %sum, %sum, %mul_5;
add.u32 %step, %step, 1;
setp.lt.u32 %lt_2, %step, 10;
@%lt_2 bra $step_2;
$step_end_2:
)"},
    // Groups run while the end is more than three steps away. Near 0, nothing wraps.
    {"for_unrolled_to_a_register",
     [](Builder& b, const Inputs& t) {
       b.for_(
           "step", t.a, t.b, t.c, [&](Reg<u32> i) { b.popc(i); }, Unroll{2});
     },
     R"(
mov.u32 %step, %a;
max.u32 %max, %b, %c;
sub.u32 %sub, %max, %c;
setp.ge.u32 %ge, %step, %sub;
@%ge bra $step_end;
$step:
popc.b32 %popc, %step;
add.u32 %step, %step, %c;
popc.b32 %popc_2, %step;
add.u32 %step, %step, %c;
setp.lt.u32 %lt, %step, %sub;
@%lt bra $step;
$step_end:
setp.ge.u32 %ge_2, %step, %b;
@%ge_2 bra $step_end_2;
$step_2:
popc.b32 %popc_3, %step;
add.u32 %step, %step, %c;
setp.lt.u32 %lt_2, %step, %b;
@%lt_2 bra $step_2;
$step_end_2:
)"},
    {"break_leaves_the_inner_loop",
     [](Builder& b, const Inputs& t) {
       b.while_([&] { return t.p; }, [&] { b.for_("step", 0, t.a, 1, [&](Reg<u32> i) { b.break_if(i == t.b); }); });
     },
     R"(
$while:
@!%p bra $while_end;
mov.u32 %step, 0;
setp.ge.u32 %ge, %step, %a;
@%ge bra $step_end;
$step:
setp.eq.u32 %eq, %step, %b;
@%eq bra $step_end;
add.u32 %step, %step, 1;
setp.lt.u32 %lt, %step, %a;
@%lt bra $step;
$step_end:
bra $while;
$while_end:
)"},
    {"returns",
     [](Builder& b, const Inputs& t) {
       b.return_if(t.a >= t.b);
       b.if_(t.p, [&] { b.return_(); });
     },
     R"(
setp.ge.u32 %ge, %a, %b;
@%ge ret;
@!%p bra $endif;
ret;
$endif:
)"},
    // A return inside an inlined part jumps to the part's end; after it, a return is the kernel's again.
    {"inlined_parts_return_to_their_ends",
     [](Builder& b, const Inputs& t) {
       b.inlined([&] {
         b.return_if(t.p);
         b.inlined([&] { b.if_(t.q, [&] { b.return_(); }); });
         b.return_if(!t.q);
       });
       b.return_if(t.q);
     },
     R"(
@%p bra $end_of_part;
@!%q bra $endif;
bra $end_of_part_2;
$endif:
$end_of_part_2:
@!%q bra $end_of_part;
$end_of_part:
@%q ret;
)"},
    // A guard within a guard needs both.
    {"predicated",
     [](Builder& b, const Inputs& t) {
       Var<u32> n = b.var("count", 0u);
       b.predicated(t.p, [&] {
         n += t.a;
         b.predicated(!t.q, [&] { n = 3; });
         b.return_if(t.q);
       });
     },
     R"(
mov.u32 %count, 0;
@%p add.u32 %count, %count, %a;
not.pred %not, %q;
and.pred %and, %p, %not;
@%and mov.u32 %count, 3;
and.pred %and_2, %p, %q;
@%and_2 ret;
)"},
};
INSTANTIATE_TEST_SUITE_P(All, ControlTest, ::testing::ValuesIn(kControlCases),
                         [](const auto& row) { return std::string(row.param.name); });

int line = 0;  // of the failing call

// `build` fails with "ptx: test_control (<this file>:<line>): <what>".
void expect_error(const std::function<void(Builder&, const Inputs&)>& build, const std::string& what) {
  try {
    kernel_of({"control", sm_80, build, ""}, sm_80);
    ADD_FAILURE() << "no error: " << what;
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), "ptx: test_control (tests/ptx/control_test.cpp:" + std::to_string(line) + "): " + what);
  }
}

TEST(ControlErrors, NameTheCall) {
  expect_error([](Builder& b, const Inputs& t) { line = __LINE__, b.break_if(t.p); }, "break_if outside a loop");
  expect_error([](Builder& b, const Inputs& t) { b.predicated(t.p, [&] { line = __LINE__, b.if_(t.q, [] {}); }); },
               "control flow inside predicated(); use if_ around it");
  expect_error([](Builder& b, const Inputs& t) { line = __LINE__, b.for_("step", t.a, 4, 0, [](Reg<u32>) {}); },
               "for step has step 0; expected a positive one");
}

}  // namespace
}  // namespace ptx::testing
