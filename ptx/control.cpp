#include "ptx/control.h"

namespace ptx {
namespace {

Operand negated(Operand p) {
  p.negated = !p.negated;
  return p;
}

bool is_constant(const Operand& operand) { return operand.kind == Operand::Kind::kImmediate; }

int64_t value(const Operand& constant) {
  const int unused = 64 - 8 * info(constant.type).bytes;
  if (info(constant.type).family == Family::kUnsigned) return static_cast<int64_t>(constant.bits);
  return static_cast<int64_t>(constant.bits << unused) >> unused;
}

// Spelling in a loop's comment: a number, or a register's role.
std::string describe(const Body& body, const Operand& operand) {
  return is_constant(operand) ? spell_immediate(operand) : body.registers[operand.index].role;
}

std::string typed(const char* name, Type type) { return std::string(name) + "." + std::string(info(type).name); }

}  // namespace

void Control::branch(int to, const Operand& guard, Where at) { emit_branch(*body_, to, guard, at); }

int Control::begin_if(const AnyIn& condition) {
  const int end = new_label(*body_, "endif");
  branch(end, negated(condition.operand), condition.at);
  return end;
}

int Control::begin_else(int start, Where at) {
  const int end = new_label(*body_, "endif");
  body_->labels[start] = "else";
  branch(end, {}, at);
  place_label(*body_, start, at);
  return end;
}

Control::Loop Control::begin_while(Where at) {
  const Loop round{new_label(*body_, "while"), new_label(*body_, "while_end")};
  comment(*body_, "while (" + spell(at) + ")", at);
  place_label(*body_, round.start, at);
  ends_.push_back(round.end);
  return round;
}

void Control::leave_unless(const Loop& round, const Pred& condition, Where at) {
  branch(round.end, negated(condition.operand()), at);
}

void Control::end_while(const Loop& round, Where at) {
  branch(round.start, {}, at);
  place_label(*body_, round.end, at);
  ends_.pop_back();
}

void Control::repeat_if(const Loop& round, const Pred& again, Where at) {
  branch(round.start, again.operand(), at);
  place_label(*body_, round.end, at);
  ends_.pop_back();
}

// Tests the counter before the first iteration, unless it certainly runs, and after each.
void Control::rounds(const Counter& counter, const Operand& bound, bool runs_once, int bodies,
                     const std::function<void(const Operand&)>& body) {
  const Loop round{new_label(*body_, counter.name), new_label(*body_, counter.name + "_end")};
  const AnyIn variable{counter.variable, body_, counter.at}, limit{bound, nullptr, counter.at};
  if (!runs_once) branch(round.end, compare(Compare::kGe, counter.type, variable, limit), counter.at);
  place_label(*body_, round.start, counter.at);
  ends_.push_back(round.end);
  for (int i = 0; i < bodies; ++i) {
    body(snapshot(*body_, counter.type, counter.variable, counter.at));
    append(*body_, {.spelling = typed("add", counter.type),
                    .operands = {counter.variable, counter.variable, counter.step},
                    .n_results = 1,
                    .at = counter.at});
  }
  branch(round.start, compare(Compare::kLt, counter.type, variable, limit), counter.at);
  place_label(*body_, round.end, counter.at);
  ends_.pop_back();
}

// end - distance, or 0 if that is negative and the type unsigned: unrolled groups run while the counter is below it.
Operand Control::group_bound(const Counter& counter, int64_t rounds_ahead) {
  const Type type = counter.type;
  const bool is_unsigned = info(type).family == Family::kUnsigned;
  const AnyIn ahead{immediate_operand(static_cast<uint64_t>(rounds_ahead), type), nullptr, counter.at};
  const AnyIn step{counter.step, body_, counter.at}, end{counter.end, body_, counter.at};
  AnyIn distance = ahead;
  if (is_constant(counter.step)) {
    distance.operand.bits *= counter.step.bits;
  } else {
    distance = {binary(Binary::kMul, type, step, ahead), body_, counter.at};
  }
  if (is_constant(end.operand) && is_constant(distance.operand)) {
    const int64_t bound = value(end.operand) - value(distance.operand);
    return immediate_operand(static_cast<uint64_t>(is_unsigned && bound < 0 ? 0 : bound), type);
  }
  if (!is_unsigned) return binary(Binary::kSub, type, end, distance);
  const Operand max = emit(*body_, typed("max", type), type, {end.operand, distance.operand}, counter.at);
  return binary(Binary::kSub, type, {max, body_, counter.at}, distance);
}

void Control::counted(const std::string& name, Type type, const AnyIn& start, const AnyIn& end, const AnyIn& step,
                      int unroll, const std::function<void(const Operand&)>& body) {
  const Where at = start.at;
  comment(*body_,
          "for " + name + " = " + describe(*body_, start.operand) + " to " + describe(*body_, end.operand) + " step " +
              describe(*body_, step.operand) + (unroll > 1 ? " unrolled " + std::to_string(unroll) : "") + " (" +
              spell(at) + ")",
          at);
  // A variable bound is evaluated once, here.
  Counter counter{new_register(*body_, type, name, at, true),
                  settled(*body_, type, end.operand, at),
                  settled(*body_, type, step.operand, at),
                  type,
                  name,
                  at};
  assign(*body_, type, counter.variable, start.operand, at);
  if (is_constant(counter.step) && value(counter.step) <= 0) {
    fail(*body_, at, "for " + name + " has step " + spell_immediate(counter.step) + "; expected a positive one");
  }
  const bool constant = is_constant(start.operand) && is_constant(counter.end) && is_constant(counter.step);
  int64_t n_rounds =
      constant ? (value(counter.end) - value(start.operand) + value(counter.step) - 1) / value(counter.step) : 0;
  if (constant && n_rounds <= 0) return;
  if (unroll > 1 && (!constant || n_rounds >= unroll)) {
    rounds(counter, group_bound(counter, unroll - 1), constant, unroll, body);
    if (constant && n_rounds % unroll == 0) return;
    n_rounds %= unroll;
  }
  rounds(counter, counter.end, constant, 1, body);
}

void Control::break_if(In<pred> condition) {
  if (ends_.empty()) fail(*body_, condition.at, "break_if outside a loop");
  branch(ends_.back(), condition.operand, condition.at);
}

void Control::return_(Where at) {
  if (!parts_.empty()) return branch(parts_.back(), {}, at);
  emit(*body_, "ret", {}, at);
}

void Control::return_if(In<pred> condition) {
  if (!parts_.empty()) return branch(parts_.back(), condition.operand, condition.at);
  predicated(condition, [&] { emit(*body_, "ret", {}, condition.at); });
}

void Control::trap_if(In<pred> condition) {
  predicated(condition, [&] { emit(*body_, "trap", {}, condition.at); });
}

// Returns the outer guard, to be restored; inside, both guards must hold.
Operand Control::begin_predicated(const AnyIn& p) {
  const Operand outer = body_->guard;
  body_->guard = {};
  Operand guard = settled(*body_, Type::kPred, p.operand, p.at);
  if (outer.kind != Operand::Kind::kNone)
    guard = binary(Binary::kAnd, Type::kPred, {outer, body_, p.at}, {guard, body_, p.at});
  body_->guard = guard;
  return outer;
}

}  // namespace ptx
