#include "kernels/sampling_column.h"

#include <bit>
#include <cstddef>

#include "kernels/sampling_weight.h"

namespace warpchat {

using namespace ptx;

namespace {

SampleMemory shared_parts(Builder& b, const VirtualBlock& block, const Shared<u8>& memory) {
  const Shared<u64> words = memory.as<u64>();
  const Shared<u64> slots = words + 2 * kMostSampleThreads, found = slots + kWarpSize, behind = found + 2;
  const Shared<u32> zeros = behind.as<u32>();
  SampleMemory parts{words, words + kMostSampleThreads, slots, found, zeros, zeros + 1, (behind + 1).as<u8>()};
  b.if_(block.thread() == 0, [&] { zeros.store(0, {0u, 0u}); });
  return parts;
}

Global<u8> field(const Global<u8>& state, size_t offset) { return state + static_cast<int64_t>(offset); }

SampleSettings load_settings(Builder& b, const SampleSpec& s, const Global<u8>& state, const Reg<u32>& position) {
  const auto f32_at = [&](size_t offset) { return b.uniform(field(state, offset).as<f32>().load()); };
  const auto u32_at = [&](size_t offset) { return b.uniform(field(state, offset).as<u32>().load()); };
  Reg<u64> n_accepted = b.uniform(field(state, offsetof(SamplerState, n_accepted)).as<u64>().load());
  Reg<u32> window = b.min(u32_at(offsetof(SamplerState, penalty_window)), s.ring);
  Reg<u32> n_tokens = b.convert<u32>(b.min(n_accepted, wide(window)));
  Reg<f32> repeat = f32_at(offsetof(SamplerState, repeat_penalty));
  Reg<f32> presence = f32_at(offsetof(SamplerState, presence_penalty));
  Reg<f32> frequency = f32_at(offsetof(SamplerState, frequency_penalty));
  Reg<u32> top_k = u32_at(offsetof(SamplerState, top_k));
  Reg<f32> top_p = f32_at(offsetof(SamplerState, top_p));
  Reg<f32> temperature = f32_at(offsetof(SamplerState, temperature));
  Reg<f64> log_min_p = b.uniform(field(state, offsetof(SamplerState, log_min_p)).as<f64>().load());
  Reg<u64> seed = b.uniform(field(state, offsetof(SamplerState, seed)).as<u64>().load());
  return {{repeat, presence, frequency, n_tokens, n_accepted}, top_k, top_p, temperature, log_min_p, seed, position};
}

// x = body(id, x) for each of four, in a loop that runs: all are back in their places at its end.
template <class Body>
void take_turns(Builder& b, const Reg<u32>& first, VarVec<f32, 4>& x, const Body& body) {
  b.for_("turn", first, first + 4, 1, [&](Reg<u32> id) {
    Reg<f32> own = x[0];
    Reg<f32> next = body(id, own);
    for (int i = 0; i < 3; ++i) x[i] = x[i + 1];
    x[3] = next;
  });
}

}  // namespace

uint64_t sample_shared_bytes(const SampleSpec& s) {
  return (uint64_t{kMostSampleThreads} * 2 + kWarpSize + 3) * sizeof(uint64_t) + RecentTokens::shared_bytes(s.ring);
}

SampleColumn::SampleColumn(Builder& builder, const SampleSpec& s, const SampleBuffers& sources, const Reg<u32>& which,
                           const VirtualBlock& players, const Shared<u8>& shared)
    : b(builder),
      spec(s),
      buffers(sources),
      column(which),
      block(players),
      memory(shared_parts(b, block, shared)),
      settings(load_settings(b, s, buffers.states + wide(column) * sampler_state_stride(s),
                             b.uniform(buffers.positions.load(column)))),
      state_(buffers.states + wide(column) * sampler_state_stride(s)),
      ring_(field(state_, sizeof(SamplerState)).as<u32>()),
      logits_(buffers.logits + wide(column) * s.n_vocab),
      recent_(b, s.n_vocab, s.ring, block, settings.penalties, ring_, memory.penalties),
      id_bits_(static_cast<uint32_t>(std::bit_width(s.n_vocab - 1))) {}

void SampleColumn::for_all(uint32_t at_once, const OnLogit& body) const {
  if (at_once == 1 || !has_fours())
    return b.for_("id", block.thread(), spec.n_vocab, block.threads(), [&](Reg<u32> id) { body(id, logit(id)); });
  for_fours([&](const Reg<u32>& first, Four& logits) {
    for (uint32_t i = 0; i < 4; ++i) body(first + i, logits[i]);
  });
}

void SampleColumn::for_all_from(const Reg<f32>& bound, const OnLogit& body) const {
  const auto check = [&](const Reg<u32>& id, const Reg<f32>& logit) {
    b.if_(logit >= bound, [&] { body(id, logit); });
  };
  if (!has_fours()) return for_all(1, check);
  for_fours([&](const Reg<u32>& first, Four& logits) {
    Reg<f32> best = b.max(b.max(logits[0], logits[1]), b.max(logits[2], logits[3]));
    b.if_(best >= bound, [&] {
      take_turns(b, first, logits, [&](const Reg<u32>& id, const Reg<f32>& logit) {
        check(id, logit);
        return logit;
      });
    });
  });
}

void SampleColumn::for_fours(const std::function<void(const Reg<u32>& first, Four& logits)>& body) const {
  b.for_("four", block.thread(), spec.n_vocab / 4, block.threads(), [&](Reg<u32> four) {
    Reg<u32> first = four * 4;
    Four logits = b.vars<f32, 4>("logit", 0.0f);
    logits = logits_.load<4>(first);
    b.if_(recent_.may_know_four(first), [&] {
      take_turns(b, first, logits,
                 [&](const Reg<u32>& id, const Reg<f32>& logit) { return recent_.penalised(id, logit); });
    });
    body(first, logits);
  });
}

Reg<f32> SampleColumn::logit(const Reg<u32>& id) const { return recent_.penalised(id, logits_.load(id)); }

Reg<u64> SampleColumn::candidate(const Reg<u32>& ordered, const Reg<u32>& id) const {
  return (wide(ordered) << id_bits_) + wide((spec.n_vocab - 1) - id);
}

Reg<u32> SampleColumn::ordered_of(const Reg<u64>& candidate) const { return b.convert<u32>(candidate >> id_bits_); }

Reg<u32> SampleColumn::id_of(const Reg<u64>& candidate) const {
  const uint32_t mask = (1u << id_bits_) - 1;
  return (spec.n_vocab - 1) - (b.convert<u32>(candidate) & mask);
}

Reg<u64> SampleColumn::lowest_of(const Reg<u32>& ordered) const { return wide(ordered) << id_bits_; }

uint32_t SampleColumn::weight_bits() const { return sampling_weight_bits(spec.n_vocab); }

void SampleColumn::commit(const Reg<u32>& token) const {
  const Reg<u64>& n_accepted = settings.penalties.n_accepted;
  buffers.tokens.store(column, token);
  ring_.store(b.convert<u32>(n_accepted) & (spec.ring - 1), token);
  field(state_, offsetof(SamplerState, n_accepted)).as<u64>().store(0, n_accepted + 1);
  buffers.positions.store(column, settings.position + buffers.advance);
}

}  // namespace warpchat
