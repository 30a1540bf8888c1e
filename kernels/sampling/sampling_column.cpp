#include "kernels/sampling/sampling_column.h"

#include <bit>
#include <cstddef>

#include "kernels/sampling/sampling_weight.h"

namespace warpchat {

using namespace ptx;

namespace {

SampleMemory shared_parts(Builder& b, const VirtualBlock& block, const Shared<u8>& memory) {
  const Shared<u64> words = memory.as<u64>();
  const Shared<u64> slots = words + 2 * kMaxSampleThreads, found = slots + kWarpSize, behind = found + 2;
  const Shared<u32> counters = behind.as<u32>();
  SampleMemory parts{words, words, slots, found, counters, counters + 1, counters + 2};
  const Shared<u64> slot = slots + block.thread();
  b.predicated(block.thread() < kWarpSize, [&] { slot.store(0, uint64_t{0}); });
  b.predicated(block.thread() == 0, [&] { counters.store(0, {0u, UINT32_MAX}); });
  block.barrier();
  return parts;
}

Global<u8> field(const Global<u8>& state, size_t offset) { return state + static_cast<int64_t>(offset); }

SampleSettings load_settings(Builder& b, const SampleSpec& s, const Global<u8>& state, const Reg<u32>& position) {
  const auto f32_at = [&](size_t offset) { return field(state, offset).as<f32>().load(); };
  const auto u32_at = [&](size_t offset) { return field(state, offset).as<u32>().load(); };
  Reg<u32> window = b.min(u32_at(offsetof(SamplerState, penalty_window)), s.ring);
  Reg<f32> repeat = f32_at(offsetof(SamplerState, repeat_penalty));
  Reg<f32> presence = f32_at(offsetof(SamplerState, presence_penalty));
  Reg<f32> frequency = f32_at(offsetof(SamplerState, frequency_penalty));
  Reg<u32> top_k = b.uniform(u32_at(offsetof(SamplerState, top_k)));
  Reg<f32> top_p = b.uniform(f32_at(offsetof(SamplerState, top_p)));
  Reg<f32> temperature = b.uniform(f32_at(offsetof(SamplerState, temperature)));
  Reg<f64> log_min_p = field(state, offsetof(SamplerState, log_min_p)).as<f64>().load();
  Reg<u64> seed = field(state, offsetof(SamplerState, seed)).as<u64>().load();
  return {{repeat, presence, frequency, window}, top_k, top_p, temperature, log_min_p, seed, position};
}

// Calls body(id, x) for each of four values in a real loop; all are back in their places at its end.
template <class Body>
void take_turns(Builder& b, const Reg<u32>& first, SampleColumn::Logits& x, const Body& body) {
  b.for_("turn", 0, 4, 1, [&](Reg<u32> turn) {
    Var<f32> own = b.var("logit", x[0]);
    body(first + turn, own);
    for (int i = 0; i < 3; ++i) x[i] = x[i + 1];
    x[3] = own;
  });
}

}  // namespace

SampleColumn::SampleColumn(Builder& builder, const SampleSpec& s, const SampleBuffers& sources, const Reg<u32>& which,
                           const VirtualBlock& players, const Shared<u8>& shared)
    : b(builder),
      spec(s),
      buffers(sources),
      column(which),
      block(players),
      memory(shared_parts(b, block, shared)),
      state(buffers.states + wide(column) * sampler_state_stride(s)),
      slots((state + static_cast<int64_t>(sampler_slots_offset(s))).as<u64>()),
      settings(load_settings(b, s, state, buffers.positions.load(column))),
      logits_(buffers.logits + wide(column) * s.n_vocab),
      recent_(b, s.n_vocab, s.ring, settings.penalties,
              {field(state, offsetof(SamplerState, n_accepted)).as<u64>(), field(state, sizeof(SamplerState)).as<u32>(),
               field(state, sampler_counts_offset(s)).as<u32>()}),
      id_bits_(static_cast<uint32_t>(std::bit_width(s.n_vocab - 1))) {}

void SampleColumn::penalised(const Reg<u32>& id, const OnLogit& body) const {
  Var<f32> logit = b.var<f32>("logit");
  logit = logits_.load(id);
  recent_.penalise(id, logit);
  body(id, logit);
}

void SampleColumn::for_all(const OnLogit& body) const {
  b.for_("id", block.thread(), spec.n_vocab, block.threads(), [&](Reg<u32> id) { penalised(id, body); });
}

void SampleColumn::for_each_of_slot(const Reg<u32>& slot, const OnLogit& body) const {
  Reg<u32> begin = slot * kSampleSlotLogits;
  b.for_("id", begin + b.lane(), b.min(begin + kSampleSlotLogits, spec.n_vocab), kWarpSize,
         [&](Reg<u32> id) { penalised(id, body); });
}

void SampleColumn::for_slot(const Reg<u32>& slot, const OnLogits& body) const {
  Logits logits;
  if (spec.n_vocab % 4 != 0) {
    logits.push_back(b.var<f32>("logit"));
    return for_each_of_slot(slot, [&](const Reg<u32>& id, const Reg<f32>& logit) {
      logits[0] = logit;
      body(id, logits);
    });
  }
  Reg<u32> begin = slot * kSampleSlotLogits;
  for (int i = 0; i < 4; ++i) logits.push_back(b.var<f32>("logit"));
  Reg<u32> first = begin + b.lane() * 4;
  b.if_(first < spec.n_vocab, [&] {
    const Vec<f32, 4> loaded = logits_.load<4>(first);
    for (int i = 0; i < 4; ++i) logits[i] = loaded[i];
    recent_.if_any_of_four(first, [&] {
      take_turns(b, first, logits,
                 [&](const Reg<u32>& id, Var<f32>& logit) { recent_.penalise_one_of_four(id, logit); });
    });
    body(first, logits);
  });
}

Reg<u64> SampleColumn::candidate(const Reg<u32>& ordered, const Reg<u32>& id) const {
  return (wide(ordered) << id_bits_) + wide((spec.n_vocab - 1) - id);
}

Reg<u32> SampleColumn::ordered_of(const Reg<u64>& candidate) const { return b.convert<u32>(candidate >> id_bits_); }

Reg<u32> SampleColumn::id_of(const Reg<u64>& candidate) const {
  return (spec.n_vocab - 1) - b.convert<u32>(order_of_id(candidate));
}

Reg<u64> SampleColumn::order_of_id(const Reg<u64>& candidate) const {
  return candidate & ((uint64_t{1} << id_bits_) - 1);
}

Reg<u64> SampleColumn::lowest_of(const Reg<u32>& ordered) const { return wide(ordered) << id_bits_; }

uint32_t SampleColumn::weight_bits() const { return sampling_weight_bits(spec.n_vocab); }

void SampleColumn::commit(const Reg<u32>& token) const {
  buffers.tokens.store(column, token);
  recent_.accept(token);
  (buffers.positions + column).red(Atomic::kAdd, buffers.advance);
}

}  // namespace warpchat
