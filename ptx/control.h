// Structured control flow: if_, while_, for_, early return, predicated instructions. The emitter creates the labels.
//   b.for_("chunk", b.lane(), n_chunks, kWarpSize, [&](Reg<u32> chunk) { ... });
//   b.if_(row < n_rows, [&] { ... });
// A C++ if or for is evaluated while the kernel is built; if_ and for_ while it runs.
#pragma once
#include <functional>

#include "ptx/value.h"

namespace ptx {

struct Unroll {
  int factor = 1;
};

class Control {
 public:
  explicit Control(Body& body) : body_(&body) {}

  template <std::invocable F>
  void if_(In<pred> condition, F&& then) {
    const int end = begin_if(condition);
    then();
    place_label(*body_, end, condition.at);
  }
  template <std::invocable F, std::invocable G>
  void if_else(In<pred> condition, F&& then, G&& otherwise) {
    const int start = begin_if(condition);
    then();
    const int end = begin_else(start, condition.at);
    otherwise();
    place_label(*body_, end, condition.at);
  }

  // Iterates name = start, start + step, ... while below end; unsigned values must not wrap past end + step. The body's
  // parameter type determines the counter's: u32, s32, u64 or s64. Unroll{4} unrolls four times.
  template <std::invocable<Reg<u32>> F>
  void for_(const std::string& name, In<u32> start, In<u32> end, In<u32> step, F&& body, Unroll unroll = {}) {
    loop<u32>(name, start, end, step, body, unroll);
  }
  template <std::invocable<Reg<s32>> F>
  void for_(const std::string& name, In<s32> start, In<s32> end, In<s32> step, F&& body, Unroll unroll = {}) {
    loop<s32>(name, start, end, step, body, unroll);
  }
  template <std::invocable<Reg<u64>> F>
  void for_(const std::string& name, In<u64> start, In<u64> end, In<u64> step, F&& body, Unroll unroll = {}) {
    loop<u64>(name, start, end, step, body, unroll);
  }
  template <std::invocable<Reg<s64>> F>
  void for_(const std::string& name, In<s64> start, In<s64> end, In<s64> step, F&& body, Unroll unroll = {}) {
    loop<s64>(name, start, end, step, body, unroll);
  }

  // Repeats while condition(), evaluated before each iteration, holds.
  template <std::invocable C, std::invocable F>
  void while_(C&& condition, F&& body, Where at = Where::current()) {
    const Loop round = begin_while(at);
    leave_unless(round, condition(), at);
    body();
    end_while(round, at);
  }
  // Runs at least once, and again while the body returns true.
  template <std::invocable F>
  void do_while(F&& body, Where at = Where::current()) {
    const Loop round = begin_while(at);
    const Pred again = body();
    repeat_if(round, again, at);
  }
  void break_if(In<pred> condition);          // leaves the innermost loop
  void return_(Where at = Where::current());  // exits the thread
  void return_if(In<pred> condition);
  void trap_if(In<pred> condition);  // ends the launch with an error

  // body() as part of a larger kernel: a return inside ends only the body.
  template <std::invocable F>
  void inlined(F&& body, Where at = Where::current()) {
    parts_.push_back(new_label(*body_, "end_of_part"));
    body();
    place_label(*body_, parts_.back(), at);
    parts_.pop_back();
  }

  // Guards every instruction of the body by p instead of branching: for a few stores or variable updates. Values
  // defined inside are valid only under p.
  template <std::invocable F>
  void predicated(In<pred> p, F&& body) {
    const Operand outer = begin_predicated(p);
    body();
    body_->guard = outer;
  }

  // Encloses the body's instructions in "// tag: name" and "// end tag: name"; the profiler reports them by name.
  template <std::invocable F>
  void region(const std::string& name, F&& body, Where at = Where::current()) {
    comment(*body_, "tag: " + name, at);
    body();
    comment(*body_, "end tag: " + name, at);
  }

 private:
  struct Loop {
    int start, end;  // labels
  };
  struct Counter {
    Operand variable, end, step;
    Type type;
    std::string name;
    Where at;
  };

  template <class T, class F>
  void loop(const std::string& name, const In<T>& start, const In<T>& end, const In<T>& step, F& body, Unroll unroll) {
    counted(name, T::kType, start, end, step, unroll.factor,
            [&](const Operand& counter) { body(Reg<T>(*body_, counter)); });
  }
  void counted(const std::string& name, Type type, const AnyIn& start, const AnyIn& end, const AnyIn& step, int unroll,
               const std::function<void(const Operand&)>& body);
  void rounds(const Counter& counter, const Operand& bound, bool runs_once, int bodies,
              const std::function<void(const Operand&)>& body);
  Operand group_bound(const Counter& counter, int64_t rounds_ahead);
  int begin_if(const AnyIn& condition);
  int begin_else(int start, Where at);
  Loop begin_while(Where at);
  void leave_unless(const Loop& round, const Pred& condition, Where at);
  void end_while(const Loop& round, Where at);
  void repeat_if(const Loop& round, const Pred& again, Where at);
  Operand begin_predicated(const AnyIn& p);
  void branch(int to, const Operand& guard, Where at);
  Body* body_;
  std::vector<int> ends_;   // of the enclosing loops, innermost last
  std::vector<int> parts_;  // ends of the enclosing inlined bodies
};

}  // namespace ptx
