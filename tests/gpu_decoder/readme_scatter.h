// The first example of engine/README.md, word for word: a test compares and runs it.
#pragma once
// clang-format off
#include "engine/gpu/attention_launch.h"

// One layer's f32 cache for a sequence of up to 128 positions: two pages of keys, two of values, and a page table.
// The model has two query heads of 64 dimensions, which share a KV head.
struct Cache {
  ContextPointer context;
  DeviceMemory k{context, 2 * 64 * 64 * 4, "keys"}, v{context, 2 * 64 * 64 * 4, "values"};
  DeviceMemory table{context, 2 * 4, "page table"}, tables{context, 8, "its address"};
  TensorView keys() const { return {k.address(), ElementType::kF32, {2, 1, 64, 64}}; }  // pages, KV heads, rows, values
  TensorView values() const { return {v.address(), ElementType::kF32, {2, 1, 64, 64}}; }
  TensorView page_tables() const { return {tables.address(), ElementType::kU64, {1}}; }
};

struct Tokens {  // three tokens: projections, f32 [3, heads * 64], and positions, u32 [3]
  DeviceMemory q, k, v, positions;
};

TensorView row(const DeviceMemory& of, uint64_t i, uint64_t width) {
  return {of.address() + i * width * 4, ElementType::kF32, {1, width}};
}

// Rotates q in place, and stores rotated keys, and values. Uses each of the three forms for one token.
void scatter(const Stream& stream, const Tokens& tokens, const Cache& cache) {
  KvScatterSpec spec{2, 1, /*head_dim=*/64, /*rope_dims=*/64, RopePairing::kNeox, /*max_positions=*/128};
  for (int i = 0; i < 32; ++i) spec.frequencies.push_back(std::pow(1e4, -i / 32.0));
  spec.k_type = spec.v_type = KvType::kF32;
  const auto token = [&](uint64_t i) -> KvScatterTensors {
    const TensorView position{tokens.positions.address() + i * 4, ElementType::kU32, {1}};
    return {row(tokens.q, i, 128), row(tokens.k, i, 64), row(tokens.v, i, 64), {}, {}, position,
            cache.keys(), cache.values(), cache.page_tables()};
  };
  KvScatterLaunch launch(cache.context, spec);   // compiles unless another object has
  launch.run(token(0));                          // waits; throws for bad tensors and values out of range
  launch.enqueue(stream, token(1));              // in the caller's stream; throws for bad tensors
  PendingLaunch third = launch.start(token(2));  // in its own stream; returns at once
  third.wait();                                  // throws for values out of range
  launch.check(stream);                          // waits; throws for values out of range in enqueue()
}
