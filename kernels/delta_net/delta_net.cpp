#include "kernels/delta_net/delta_net.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include "kernels/common/columns.h"
#include "kernels/common/sigmoid.h"
#include "kernels/common/spec_check.h"
#include "kernels/common/warp_sums.h"
#include "kernels/delta_net/delta_net_body.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr uint32_t kChannelThreads = 128;
constexpr uint32_t kRowsOfRound = 32;  // of a thread's half of a state, per round

void check(const std::string& family, const DeltaNetSpec& s, bool is_prompt) {
  require_between(1, kMaxBlocksInY, family, "n_k_heads", s.n_k_heads);
  require_spec(s.n_v_heads > 0 && s.n_v_heads % s.n_k_heads == 0, family, "n_v_heads", s.n_v_heads,
               "a multiple of the " + std::to_string(s.n_k_heads) + " key heads");
  require_spec(s.head_dim >= 32 && s.head_dim <= 128 && s.head_dim % 32 == 0, family, "head_dim", s.head_dim,
               "a multiple of 32 up to 128");
  require_between(2, 8, family, "conv_kernel", s.conv_kernel);
  require_between(1, kMaxBlocksInY, family, "columns", s.columns);
  require_spec(s.one_sequence == is_prompt, family, "one_sequence", s.one_sequence, is_prompt ? "1" : "0");
}

std::string sizes_of(const DeltaNetSpec& s) {
  return std::to_string(s.n_k_heads) + "_" + std::to_string(s.n_v_heads) + "x" + std::to_string(s.head_dim) + "_k" +
         std::to_string(s.conv_kernel) + "_c" + std::to_string(s.columns);
}

// State of the block's sequence, for both kernels.
struct Sequence {
  Reg<u32> column;
  Pred begins;        // at position 0
  Global<f32> layer;  // of its state
};
StateAddresses declare_states(Builder& b, const DeltaNetSpec& s) {
  Global<u64> states = b.global<u64>("states", s.columns);
  Global<u32> positions = b.global<u32>("positions", s.columns);
  return {states, positions, b.param<u32>("layer")};
}
Sequence sequence_of(Builder& b, const DeltaNetSpec& s, const StateAddresses& at, const ColumnCount& n_columns,
                     const VirtualBlock& block) {
  Reg<u32> column = block.block(Axis::kY).named("column");
  leave_beyond_columns(b, n_columns, column);
  Pred begins = block.load_uniform(at.positions, column) == 0;
  Global<f32> state = b.pointer<f32>(at.states.load(column, block.cache(kReadOnly)), 16);
  return {column, begins, state + wide(at.layer) * s.layer_floats()};
}

Cost cost_of(const DeltaNetSpec& s, uint64_t bytes_a_column, uint64_t flops_a_column) {
  return {.bytes = s.columns * bytes_a_column, .flops = s.columns * flops_a_column};
}

}  // namespace

void require_prompt(const std::string& family, const DeltaNetSpec& s) { check(family, s, /*is_prompt=*/true); }

std::string name_of_conv(const DeltaNetSpec& s) { return "conv_step_" + sizes_of(s); }

Launch conv_launch(const DeltaNetSpec& s) {
  return Launch{{ceil_div(s.channels(), kChannelThreads), s.columns}, kChannelThreads};
}

// One thread per channel.
void conv_body(Builder& b, const DeltaNetSpec& s, const ConvAddresses& to, const VirtualBlock& block) {
  const uint32_t channels = s.channels(), n = s.conv_kernel;
  Reg<u32> channel = (block.block() * kChannelThreads + block.thread()).named("channel");
  b.return_if(channel >= channels);
  const Sequence sequence = sequence_of(b, s, to.state, to.n_columns, block);
  Global<f32> tail = sequence.layer + channel;
  std::vector<Reg<f32>> taps;
  std::vector<Var<f32>> seen;  // channel's previous inputs, oldest first
  for (uint32_t i = 0; i < n; ++i) taps.push_back(to.conv.load(channel * n + i, kReadOnly));
  for (uint32_t i = 0; i + 1 < n; ++i) seen.push_back(b.var("seen", 0.0f));
  b.if_(!sequence.begins, [&] {
    for (uint32_t i = 0; i + 1 < n; ++i) seen[i] = tail.load(uint64_t{i} * channels);
  });
  Global<f32> at = to.qkv + wide(sequence.column) * channels + channel;
  seen.push_back(b.var("seen", at.load()));
  Var<f32> sum = b.var("sum", seen[n - 1] * taps[n - 1]);
  for (uint32_t i = 0; i + 1 < n; ++i) sum = b.fma(seen[i], taps[i], sum);
  at.store(0, silu(b, sum));
  for (uint32_t i = 0; i + 1 < n; ++i) tail.store(uint64_t{i} * channels, seen[i + 1]);
}

Kernel conv_kernel(const DeltaNetSpec& s, Target target, const BodyOf<ConvAddresses>& body) {
  check("conv_step", s, /*is_prompt=*/false);
  const uint64_t channels = s.channels(), n = s.conv_kernel;
  Builder b(name_of_conv(s), target);
  Global<f32> qkv = b.global<f32>("qkv", s.columns * channels);
  Global<f32> conv = b.global<f32>("conv", channels * n);
  const StateAddresses states = declare_states(b, s);
  body(b, {qkv, conv, states, declare_columns(b, s.columns)}, VirtualBlock(b));
  return b.finish(conv_launch(s), conv_step_cost(s));
}

Kernel conv_step(const DeltaNetSpec& spec, Target target) {
  return conv_kernel(spec, target, [&](Builder& b, const ConvAddresses& at, const VirtualBlock& block) {
    conv_body(b, spec, at, block);
  });
}

// The tail is read and written.
Cost conv_step_cost(const DeltaNetSpec& s) {
  return cost_of(s, 8 * (s.channels() + s.tail_floats()), uint64_t{2} * s.conv_kernel * s.channels());
}

std::string name_of_step(const DeltaNetSpec& s) {
  char eps[16];
  std::snprintf(eps, sizeof eps, "_e%08x", std::bit_cast<uint32_t>(s.eps));
  return "delta_step_" + sizes_of(s) + (s.tiled ? "_tiled" : "") + eps;
}

Launch delta_launch(const DeltaNetSpec& s) { return Launch{{s.n_v_heads, s.columns}, 2 * s.head_dim}; }

// One block per value head, two neighbouring threads per value, each with half of the value's state column in
// registers. In single-token kernels a large half is read in rounds, and again for the update: there a thread has few
// registers.
void delta_body(Builder& b, const DeltaNetSpec& s, const DeltaAddresses& at, const VirtualBlock& block) {
  const uint32_t d = s.head_dim, n_rows = d / 2, channels = s.channels();
  const uint32_t vector_warps = d / kWarpSize, warps = 2 * vector_warps;
  Shared<f32> keys = block.shared<f32>("keys", d), queries = block.shared<f32>("queries", d);
  Shared<f32> key_squares = block.shared<f32>("key_squares", vector_warps);
  Shared<f32> query_squares = block.shared<f32>("query_squares", vector_warps);
  Shared<f32> out_squares = block.shared<f32>("out_squares", warps);

  const Reg<u32> thread = block.thread(), warp = block.warp();
  Reg<u32> head = block.block().named("head"), value = (thread / 2).named("value");
  Reg<u32> first_row = (thread % 2 * n_rows).named("first_row");
  const Sequence sequence = sequence_of(b, s, at.state, at.n_columns, block);
  Reg<u32> key_head = s.tiled ? head % s.n_k_heads : head / (s.n_v_heads / s.n_k_heads);
  Reg<u32> value_at = head * d + value;
  Global<f32> cells =
      sequence.layer + s.tail_floats() + wide(head) * (uint64_t{d} * d) + wide(first_row) * d + wide(value);
  const bool stays = s.columns > 1 || n_rows <= kRowsOfRound;
  const uint32_t round = stays ? n_rows : n_rows / 2;
  std::vector<Var<f32>> state;  // rows of one round
  for (uint32_t i = 0; i < round; ++i) state.push_back(b.var<f32>("state"));
  const auto load = [&](const Global<f32>& from) {
    for (Var<f32>& cell : state) cell = 0.0f;
    b.if_(!sequence.begins, [&] {
      for (uint32_t i = 0; i < round; ++i) state[i] = from.load(uint64_t{i} * d);
    });
  };
  const auto store = [&](const Global<f32>& to) {
    for (uint32_t i = 0; i < round; ++i) to.store(uint64_t{i} * d, state[i]);
  };
  if (stays) load(cells);
  Reg<f32> gain = at.norm.load(value, kReadOnly), fade = at.decay.load(head, kReadOnly);
  Reg<f32> bias = at.dt_bias.load(head, kReadOnly);
  const auto put_squares = [&](const Shared<f32>& slots, const Reg<f32>& x) {
    Reg<f32> sum = warp_sum(b, x * x);
    b.if_(b.lane() == 0, [&] { slots.store(warp, sum); });
  };
  const auto sum_of = [&](const Shared<f32>& slots, uint32_t n) {
    Var<f32> sum = b.var("squares", slots.load());
    for (uint32_t i = 1; i < n; ++i) sum += slots.load(i);
    return Reg<f32>(sum);
  };
  // Sums over both halves in four independent accumulators, to shorten dependency chains. change(keys, i): four rows
  // from i on.
  const Shared<f32> own_keys = keys + first_row;
  const auto over_state = [&](const Shared<f32>& with, bool changes, const auto& change) {
    std::vector<Var<f32>> sums;
    for (int j = 0; j < 4; ++j) sums.push_back(b.var("sum", 0.0f));
    const auto add = [&](const Shared<f32>& own, const Shared<f32>& keys_of_round) {
      for (uint32_t i = 0; i < round; i += 4) {
        Vec<f32, 4> four = own.load<4>(i);
        change(keys_of_round, i);
        for (uint32_t j = 0; j < 4; ++j) sums[j] = b.fma(state[i + j], four[static_cast<int>(j)], sums[j]);
      }
    };
    if (stays) {
      add(with + first_row, own_keys);
    } else {
      b.for_("row", 0, n_rows, round, [&](Reg<u32> row) {
        const Global<f32> of_round = cells + wide(row) * d;
        load(of_round);
        add(with + first_row + row, own_keys + row);
        if (changes) store(of_round);
      });
    }
    Reg<f32> half = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    return half + b.shuffle_xor(half, 1);
  };
  const Reg<u32>& column = sequence.column;
  Global<f32> row = at.qkv + wide(column) * channels;
  Var<f32> query = b.var("query", 0.0f), key = b.var("key", 0.0f);
  const auto in_vector = [&](const auto& body) { b.if_(b.warp_uniform(warp) < vector_warps, body); };
  in_vector([&] {
    query = row.load(key_head * d + thread);
    key = row.load(key_head * d + thread + s.n_k_heads * d);
    put_squares(query_squares, query), put_squares(key_squares, key);
  });
  block.barrier();
  in_vector([&] {
    const float scale = 1.0f / std::sqrt(static_cast<float>(d));
    queries.store(thread, query * b.rsqrt(sum_of(query_squares, vector_warps) + kMinLength) * scale);
    keys.store(thread, key * b.rsqrt(sum_of(key_squares, vector_warps) + kMinLength));
  });
  block.barrier();
  Reg<u32> of_head = column * s.n_v_heads + head;
  Reg<f32> decay = exponential(b, fade * softplus(b, at.alpha.load(of_head) + bias));
  Reg<f32> found = over_state(keys, false, [](const Shared<f32>&, uint32_t) {});
  Reg<f32> own = row.load(value_at + 2 * s.n_k_heads * d);
  Reg<f32> change = switched(b, own - decay * found, at.beta.load(of_head));
  Reg<f32> read = over_state(queries, true, [&](const Shared<f32>& keys_of_round, uint32_t i) {
    const Vec<f32, 4> four = keys_of_round.load<4>(i);
    for (uint32_t j = 0; j < 4; ++j) state[i + j] = b.fma(four[static_cast<int>(j)], change, state[i + j] * decay);
  });
  put_squares(out_squares, read);  // each value is counted twice
  block.barrier();
  Reg<f32> factor = b.rsqrt(sum_of(out_squares, warps) * (0.5f / static_cast<float>(d)) + s.eps);
  Reg<u64> place = wide(column) * s.inner() + wide(value_at);
  b.if_(first_row == 0, [&] { at.out.store(place, read * factor * gain * silu(b, at.z.load(place))); });
  if (stays) store(cells);
}

Kernel delta_kernel(const DeltaNetSpec& s, Target target, const BodyOf<DeltaAddresses>& body) {
  check("delta_step", s, /*is_prompt=*/false);
  Builder b(name_of_step(s), target);
  const uint64_t columns = s.columns, channels = s.channels();
  Global<f32> qkv = b.global<f32>("qkv", columns * channels), z = b.global<f32>("z", columns * s.inner());
  Global<f32> alpha = b.global<f32>("alpha", columns * s.n_v_heads),
              beta = b.global<f32>("beta", columns * s.n_v_heads);
  Global<f32> dt_bias = b.global<f32>("dt_bias", s.n_v_heads), decay = b.global<f32>("decay", s.n_v_heads);
  Global<f32> norm = b.global<f32>("norm", s.head_dim);
  const StateAddresses states = declare_states(b, s);
  Global<f32> out = b.global<f32>("out", columns * s.inner());
  body(b, {qkv, z, alpha, beta, dt_bias, decay, norm, states, out, declare_columns(b, s.columns)}, VirtualBlock(b));
  return b.finish(delta_launch(s), delta_step_cost(s));
}

Kernel delta_step(const DeltaNetSpec& spec, Target target) {
  return delta_kernel(spec, target, [&](Builder& b, const DeltaAddresses& at, const VirtualBlock& block) {
    delta_body(b, spec, at, block);
  });
}

// The matrices are read and written.
Cost delta_step_cost(const DeltaNetSpec& s) {
  const uint64_t cells = uint64_t{s.inner()} * s.head_dim;
  return cost_of(s, 4 * (uint64_t{s.channels()} + 2 * s.inner() + 2 * s.n_v_heads) + 8 * cells, 7 * cells);
}

}  // namespace warpchat
