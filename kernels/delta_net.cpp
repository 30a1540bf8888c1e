#include "kernels/delta_net.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include "kernels/columns.h"
#include "kernels/sigmoid.h"
#include "kernels/spec_check.h"
#include "kernels/warp_sums.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr uint32_t kChannelThreads = 128;

void check(const std::string& family, const DeltaNetSpec& s) {
  require_between(1, kMaxBlocksInY, family, "n_k_heads", s.n_k_heads);
  require_spec(s.n_v_heads > 0 && s.n_v_heads % s.n_k_heads == 0, family, "n_v_heads", s.n_v_heads,
               "a multiple of the " + std::to_string(s.n_k_heads) + " key heads");
  require_spec(s.head_dim >= 32 && s.head_dim <= 128 && s.head_dim % 32 == 0, family, "head_dim", s.head_dim,
               "a multiple of 32 up to 128");
  require_between(2, 8, family, "conv_kernel", s.conv_kernel);
  require_between(1, kMaxBlocksInY, family, "columns", s.columns);
}

std::string sizes_of(const DeltaNetSpec& s) {
  return std::to_string(s.n_k_heads) + "_" + std::to_string(s.n_v_heads) + "x" + std::to_string(s.head_dim) + "_k" +
         std::to_string(s.conv_kernel) + (s.one_sequence ? "_prompt" : "") + "_c" + std::to_string(s.columns);
}

// What both kernels say of the sequence that a block is of.
struct Sequence {
  Reg<u32> first;     // column
  In<u32> end;        // behind its last
  Pred begins;        // at position 0
  Global<f32> layer;  // of its state
};
struct SequenceParameters {
  Global<u64> states;
  Global<u32> positions;
  Reg<u32> layer;
};
SequenceParameters declare_sequences(Builder& b, const DeltaNetSpec& s) {
  Global<u64> states = b.global<u64>("states", s.sequences());
  Global<u32> positions = b.global<u32>("positions", s.columns);
  return {states, positions, b.param<u32>("layer")};
}
Sequence sequence_of(Builder& b, const DeltaNetSpec& s, const SequenceParameters& p,
                     const std::optional<Reg<u32>>& n_columns) {
  Reg<u32> index = b.block(Axis::kY).named("sequence");
  if (!s.one_sequence) leave_beyond_columns(b, n_columns, index);
  Reg<u32> end = s.one_sequence && n_columns ? *n_columns : index + 1;
  Pred begins = p.positions.load(index, kReadOnly) == 0;
  Global<f32> state = b.pointer<f32>(p.states.load(index, kReadOnly), 16);
  return {index, end, begins, state + wide(p.layer) * s.layer_floats()};
}

Cost cost_of(const DeltaNetSpec& s, uint64_t bytes_a_column, uint64_t bytes_a_sequence, uint64_t flops_a_column) {
  return {.bytes = s.columns * bytes_a_column + s.sequences() * bytes_a_sequence, .flops = s.columns * flops_a_column};
}

uint32_t positions_of(const DeltaNetSpec& s) { return s.one_sequence ? s.columns : 1; }

}  // namespace

void require_delta_net(const std::string& family, const DeltaNetSpec& s) { check(family, s); }

std::string name_of_conv(const DeltaNetSpec& s) { return "conv_step_" + sizes_of(s); }

// A thread a channel, from position to position.
Kernel conv_step(const DeltaNetSpec& s, Target target) {
  check("conv_step", s);
  const uint32_t channels = s.channels(), n = s.conv_kernel;
  Builder b(name_of_conv(s), target);
  Global<f32> qkv = b.global<f32>("qkv", uint64_t{s.columns} * channels);
  Global<f32> conv = b.global<f32>("conv", uint64_t{channels} * n);
  const SequenceParameters parameters = declare_sequences(b, s);
  const std::optional<Reg<u32>> n_columns = declare_columns(b, s.columns);
  Reg<u32> channel = (b.block() * kChannelThreads + b.thread()).named("channel");
  b.return_if(channel >= channels);
  const Sequence sequence = sequence_of(b, s, parameters, n_columns);
  Global<f32> tail = sequence.layer + channel;
  std::vector<Reg<f32>> taps;
  std::vector<Var<f32>> before;  // what the channel was, the oldest first
  for (uint32_t i = 0; i < n; ++i) taps.push_back(conv.load(channel * n + i, kReadOnly));
  for (uint32_t i = 0; i + 1 < n; ++i) before.push_back(b.var("before", 0.0f));
  b.if_(!sequence.begins, [&] {
    for (uint32_t i = 0; i + 1 < n; ++i) before[i] = tail.load(uint64_t{i} * channels);
  });
  b.for_("column", sequence.first, sequence.end, 1, [&](Reg<u32> column) {
    Global<f32> at = qkv + wide(column) * channels + channel;
    Reg<f32> now = at.load();
    Var<f32> sum = b.var("sum", now * taps[n - 1]);
    for (uint32_t i = 0; i + 1 < n; ++i) {
      sum = b.fma(before[i], taps[i], sum);
      if (i + 2 < n)
        before[i] = before[i + 1];
      else
        before[i] = now;
    }
    at.store(0, silu(b, sum));
  });
  for (uint32_t i = 0; i + 1 < n; ++i) tail.store(uint64_t{i} * channels, before[i]);
  return b.finish(Launch{{ceil_div(channels, kChannelThreads), s.sequences()}, kChannelThreads}, conv_step_cost(s));
}

// The tail is read and written.
Cost conv_step_cost(const DeltaNetSpec& s) {
  return cost_of(s, uint64_t{8} * s.channels(), 8 * s.tail_floats(), uint64_t{2} * s.conv_kernel * s.channels());
}

// The state's address and the first position; the tail, with the taps; then position by position.
Flow conv_step_flow(const DeltaNetSpec& s) {
  const uint32_t blocks = ceil_div(s.channels(), kChannelThreads);
  return {.pieces = uint64_t{blocks} * s.sequences(),
          .warps = kChannelThreads / kWarpSize,
          .blocks_per_sm = 16,
          .piece = Waits{.memory = 1, .l2 = 1} + positions_of(s) * Waits{.l2 = 1},
          .bytes_in_flight = uint64_t{kChannelThreads} * (2 * s.conv_kernel - 1) * sizeof(float)};
}

std::string name_of_step(const DeltaNetSpec& s) {
  char eps[16];
  std::snprintf(eps, sizeof eps, "_e%08x", std::bit_cast<uint32_t>(s.eps));
  return "delta_step_" + sizes_of(s) + (s.tiled ? "_tiled" : "") + eps;
}

// A block a value head, two neighbouring threads a value: each keeps half of the value's column of the state in
// registers from position to position.
Kernel delta_step(const DeltaNetSpec& s, Target target) {
  check("delta_step", s);
  const uint32_t d = s.head_dim, n_rows = d / 2, channels = s.channels();
  const uint32_t vector_warps = d / kWarpSize, warps = 2 * vector_warps;
  Builder b(name_of_step(s), target);
  const uint64_t columns = s.columns;
  Global<f32> qkv = b.global<f32>("qkv", columns * channels), z = b.global<f32>("z", columns * s.inner());
  Global<f32> alpha = b.global<f32>("alpha", columns * s.n_v_heads),
              beta = b.global<f32>("beta", columns * s.n_v_heads);
  Global<f32> dt_bias = b.global<f32>("dt_bias", s.n_v_heads), decay = b.global<f32>("decay", s.n_v_heads);
  Global<f32> norm = b.global<f32>("norm", d);
  const SequenceParameters parameters = declare_sequences(b, s);
  Global<f32> out = b.global<f32>("out", columns * s.inner());
  const std::optional<Reg<u32>> n_columns = declare_columns(b, s.columns);
  Shared<f32> keys = b.shared<f32>("keys", d), queries = b.shared<f32>("queries", d);
  Shared<f32> key_squares = b.shared<f32>("key_squares", vector_warps);
  Shared<f32> query_squares = b.shared<f32>("query_squares", vector_warps);
  Shared<f32> out_squares = b.shared<f32>("out_squares", warps);

  Reg<u32> head = b.block().named("head"), value = (b.thread() / 2).named("value");
  Reg<u32> first_row = (b.thread() % 2 * n_rows).named("first_row");
  const Sequence sequence = sequence_of(b, s, parameters, n_columns);
  Reg<u32> key_head = s.tiled ? head % s.n_k_heads : head / (s.n_v_heads / s.n_k_heads);
  Reg<u32> value_at = head * d + value;
  Global<f32> cells =
      sequence.layer + s.tail_floats() + wide(head) * (uint64_t{d} * d) + wide(first_row) * d + wide(value);
  std::vector<Var<f32>> state;
  for (uint32_t i = 0; i < n_rows; ++i) state.push_back(b.var("state", 0.0f));
  b.if_(!sequence.begins, [&] {
    for (uint32_t i = 0; i < n_rows; ++i) state[i] = cells.load(uint64_t{i} * d);
  });
  Reg<f32> gain = norm.load(value, kReadOnly), fade = decay.load(head, kReadOnly), bias = dt_bias.load(head, kReadOnly);
  const auto put_squares = [&](const Shared<f32>& slots, const Reg<f32>& x) {
    Reg<f32> sum = warp_sum(b, x * x);
    b.if_(b.lane() == 0, [&] { slots.store(b.warp(), sum); });
  };
  const auto sum_of = [&](const Shared<f32>& slots, uint32_t n) {
    Var<f32> sum = b.var("squares", slots.load());
    for (uint32_t i = 1; i < n; ++i) sum += slots.load(i);
    return Reg<f32>(sum);
  };
  // Over both halves; of each four sums, so that none waits for the one before.
  const auto over_state = [&](const Shared<f32>& with, const auto& body) {
    std::vector<Var<f32>> sums;
    for (int j = 0; j < 4; ++j) sums.push_back(b.var("sum", 0.0f));
    for (uint32_t i = 0; i < n_rows; i += 4) {
      Vec<f32, 4> four = (with + first_row).load<4>(i);
      for (uint32_t j = 0; j < 4; ++j) {
        body(i + j);
        sums[j] = b.fma(state[i + j], four[static_cast<int>(j)], sums[j]);
      }
    }
    Reg<f32> half = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    return half + b.shuffle_xor(half, 1);
  };
  b.for_("column", sequence.first, sequence.end, 1, [&](Reg<u32> column) {
    Global<f32> row = qkv + wide(column) * channels;
    Var<f32> query = b.var("query", 0.0f), key = b.var("key", 0.0f);
    const auto in_vector = [&](const auto& body) { b.if_(b.warp_uniform(b.warp()) < vector_warps, body); };
    in_vector([&] {
      query = row.load(key_head * d + b.thread());
      key = row.load(key_head * d + b.thread() + s.n_k_heads * d);
      put_squares(query_squares, query), put_squares(key_squares, key);
    });
    b.barrier();
    in_vector([&] {
      const float scale = 1.0f / std::sqrt(static_cast<float>(d));
      queries.store(b.thread(), query * b.rsqrt(sum_of(query_squares, vector_warps) + kLeastLength) * scale);
      keys.store(b.thread(), key * b.rsqrt(sum_of(key_squares, vector_warps) + kLeastLength));
    });
    b.barrier();
    Reg<u32> of_head = column * s.n_v_heads + head;
    Reg<f32> forget = exponential(b, fade * softplus(b, alpha.load(of_head) + bias));
    Reg<f32> found = over_state(keys, [](uint32_t) {});
    Reg<f32> own = row.load(value_at + 2 * s.n_k_heads * d);
    Reg<f32> change = switched(b, own - forget * found, beta.load(of_head));
    std::vector<Vec<f32, 4>> four;
    Reg<f32> read = over_state(queries, [&](uint32_t i) {
      if (i % 4 == 0) four.push_back((keys + first_row).load<4>(i));
      state[i] = b.fma(four.back()[static_cast<int>(i % 4)], change, state[i] * forget);
    });
    put_squares(out_squares, read);  // of each value twice
    b.barrier();
    Reg<f32> factor = b.rsqrt(sum_of(out_squares, warps) * (0.5f / static_cast<float>(d)) + s.eps);
    Reg<u64> place = wide(column) * s.inner() + wide(value_at);
    b.if_(first_row == 0, [&] { out.store(place, read * factor * gain * silu(b, z.load(place))); });
  });
  for (uint32_t i = 0; i < n_rows; ++i) cells.store(uint64_t{i} * d, state[i]);
  return b.finish(Launch{{s.n_v_heads, s.sequences()}, 2 * d}, delta_step_cost(s));
}

// The matrices are read and written.
Cost delta_step_cost(const DeltaNetSpec& s) {
  const uint64_t cells = uint64_t{s.inner()} * s.head_dim;
  return cost_of(s, 4 * (uint64_t{s.channels()} + 2 * s.inner() + 2 * s.n_v_heads), 8 * cells, 7 * cells);
}

// The state's address and the first position; the matrix; then position by position: query and key, and their lengths;
// what else the position has, and what the state finds by key and query; the output's norm, and its gate.
Flow delta_step_flow(const DeltaNetSpec& s) {
  constexpr double kOverLanes = std::bit_width(kWarpSize) - 1;
  constexpr Waits kSquares{.local = kOverLanes + 2};  // over the lanes; a barrier, and the warps' sums
  constexpr Waits kOverState{.local = 2};             // a read of shared memory, and the other half's sum
  const Waits position =
      Waits{.l2 = 1} + kSquares + Waits{.local = 1} + Waits{.l2 = 1} + 2 * kOverState + kSquares + Waits{.l2 = 1};
  return {.pieces = uint64_t{s.n_v_heads} * s.sequences(),
          .warps = 2 * s.head_dim / kWarpSize,
          .blocks_per_sm = 1,  // of up to 155 registers a thread, by ptxas for sm_90; fewer would spill
          .piece = Waits{.memory = 1, .l2 = 1} + positions_of(s) * position,
          .bytes_in_flight = uint64_t{s.head_dim} * s.head_dim * sizeof(float)};
}

}  // namespace warpchat
