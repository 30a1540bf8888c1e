#include "ptx/async_copy.h"

namespace ptx {
namespace {

Operand constant(int value) { return immediate_operand(static_cast<uint64_t>(value), Type::kU32); }

Pred test(const Shared<b64>& barrier, const std::string& spelling, const AnyIn& what) {
  Body& body = barrier.body();
  return {body, emit(body, spelling, Type::kPred, {operand_of(barrier.address()), what.operand}, what.at, "done")};
}

// Loops until the phase has completed; try_wait suspends the thread meanwhile.
void spin(const Shared<b64>& barrier, const std::string& how, const AnyIn& what) {
  Body& body = barrier.body();
  const int again = new_label(body, "wait");
  place_label(body, again, what.at);
  const std::string name = runs(body.target, sm_90) ? "mbarrier.try_wait" : "mbarrier.test_wait";
  Operand pending = test(barrier, name + how + ".shared.b64", what).operand();
  pending.negated = true;
  emit_branch(body, again, pending, what.at);
}

Reg<b64> arrival(const Shared<b64>& barrier, const char* spelling, std::vector<Operand> sources, Where at) {
  Body& body = barrier.body();
  sources.insert(sources.begin(), operand_of(barrier.address()));
  return {body, emit(body, spelling, Type::kB64, std::move(sources), at, "phase")};
}

}  // namespace

void Mbarrier::init(In<u32> arrivals) const {
  emit(at_.body(), "mbarrier.init.shared.b64", {operand_of(at_.address()), arrivals.operand}, arrivals.at);
}

void Mbarrier::invalidate(Where at) const {
  emit(at_.body(), "mbarrier.inval.shared.b64", {operand_of(at_.address())}, at);
}

Reg<b64> Mbarrier::arrive(Where at) const { return arrival(at_, "mbarrier.arrive.shared.b64", {}, at); }

Reg<b64> Mbarrier::arrive_many(In<u32> arrivals) const {
  return arrival(at_, "mbarrier.arrive.release.cta.shared.b64", {arrivals.operand}, arrivals.at);
}

Reg<b64> Mbarrier::arrive_expecting(In<u32> bytes) const {
  return arrival(at_, "mbarrier.arrive.expect_tx.shared.b64", {bytes.operand}, bytes.at);
}

void Mbarrier::expect(In<u32> bytes) const {
  emit(at_.body(), "mbarrier.expect_tx.relaxed.cta.shared.b64", {operand_of(at_.address()), bytes.operand}, bytes.at);
}

void Mbarrier::arrive_after_copies(Where at) const {
  emit(at_.body(), "cp.async.mbarrier.arrive.noinc.shared.b64", {operand_of(at_.address())}, at);
}

Pred Mbarrier::done(In<b64> token) const { return test(at_, "mbarrier.test_wait.shared.b64", token); }

Pred Mbarrier::done_parity(In<u32> parity) const { return test(at_, "mbarrier.test_wait.parity.shared.b64", parity); }

void Mbarrier::wait_for(In<b64> token) const { spin(at_, "", token); }

void Mbarrier::wait(In<u32> parity) const { spin(at_, ".parity", parity); }

void AsyncCopies::commit_copies(Where at) { emit(*body_, "cp.async.commit_group", {}, at); }
void AsyncCopies::wait_copies(Where at) { emit(*body_, "cp.async.wait_all", {}, at); }
void AsyncCopies::wait_copies(int pending_groups, Where at) {
  emit(*body_, "cp.async.wait_group", {constant(pending_groups)}, at);
}

void AsyncCopies::commit_bulk(Where at) { emit(*body_, "cp.async.bulk.commit_group", {}, at); }
void AsyncCopies::wait_bulk(int pending_groups, Where at) {
  emit(*body_, "cp.async.bulk.wait_group", {constant(pending_groups)}, at);
}
void AsyncCopies::wait_bulk_read(int pending_groups, Where at) {
  emit(*body_, "cp.async.bulk.wait_group.read", {constant(pending_groups)}, at);
}

// 16-byte copies bypass L1; smaller ones cannot.
void AsyncCopies::copy(const Address& to, const Address& from, int bytes, const Operand* valid, Where at) {
  std::vector<Operand> operands = {operand_of(to), operand_of(from), constant(bytes)};
  if (valid) operands.push_back(*valid);
  emit(*body_, bytes == 16 ? "cp.async.cg.shared.global" : "cp.async.ca.shared.global", std::move(operands), at);
}

void AsyncCopies::bulk(const Address& to, const Address& from, const AnyIn& bytes, const Mbarrier& barrier) {
  emit(*body_, "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
       {operand_of(to), operand_of(from), bytes.operand, operand_of(barrier.address().address())}, bytes.at);
}

void AsyncCopies::bulk(const Address& to, const Address& from, const AnyIn& bytes) {
  emit(*body_, "cp.async.bulk.global.shared::cta.bulk_group", {operand_of(to), operand_of(from), bytes.operand},
       bytes.at);
}

void AsyncCopies::prefetch(const char* spelling, const Address& from, Where at) {
  emit(*body_, spelling, {operand_of(from)}, at);
}

}  // namespace ptx
