// The second example of engine/README.md, word for word: a test compares and runs it.
#pragma once
// clang-format off
#include "engine/gpu/attention_launch.h"

// out [3, 128] = attention of each rotated query over positions up to its own. Uses each form for one token.
void attend(const Stream& stream, const Tokens& tokens, const Cache& cache, const DeviceMemory& out) {
  AttentionSpec spec{2, 1, /*head_dim=*/64, /*max_positions=*/128};
  spec.lengths_are_positions = true;  // else lengths are u32 numbers of keys
  spec.k_type = spec.v_type = KvType::kF32;
  const auto token = [&](uint64_t i) -> AttentionTensors {
    const TensorView position{tokens.positions.address() + i * 4, ElementType::kU32, {1}};
    return {row(tokens.q, i, 128), cache.keys(), cache.values(), cache.page_tables(), position, row(out, i, 128)};
  };
  AttentionLaunch launch(cache.context, spec);
  launch.run(token(0));
  launch.enqueue(stream, token(1));
  PendingLaunch third = launch.start(token(2));
  while (!third.is_done()) std::this_thread::yield();  // or do other work
  third.wait();
  launch.check(stream);
}
