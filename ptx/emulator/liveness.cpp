#include "ptx/emulator/liveness.h"

#include <algorithm>

namespace ptx::emulator {
namespace {

using Words = std::vector<uint64_t>;
bool has(const Words& set, uint32_t r) { return set[r / 64] >> (r % 64) & 1; }
void add(Words& set, uint32_t r) { set[r / 64] |= 1ull << (r % 64); }

struct BlockSets {
  Words reads_first, writes, live_in, live_out;
};

BlockSets sets_of(const BasicBlock& block, const std::vector<Effects>& effects, size_t words) {
  BlockSets s{Words(words), Words(words), Words(words), Words(words)};
  const uint32_t end = block.has_terminator ? block.end + 1 : block.end;
  for (uint32_t at = block.begin; at < end; ++at) {
    for (uint32_t r : effects[at].reads) {
      if (!has(s.writes, r)) add(s.reads_first, r);
    }
    for (uint32_t r : effects[at].writes) add(s.writes, r);
  }
  s.live_in = s.reads_first;
  return s;
}

// Live-out is the union of the successors' live-in, iterated to a fixed point; blocks are visited in reverse.
void solve(std::vector<BlockSets>& sets, const std::vector<std::vector<uint32_t>>& successors) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t b = sets.size(); b-- > 0;) {
      BlockSets& s = sets[b];
      for (uint32_t next : successors[b]) {
        for (size_t w = 0; w < s.live_out.size(); ++w) s.live_out[w] |= sets[next].live_in[w];
      }
      for (size_t w = 0; w < s.live_out.size(); ++w) {
        const uint64_t in = s.reads_first[w] | (s.live_out[w] & ~s.writes[w]);
        changed = changed || in != s.live_in[w];
        s.live_in[w] = in;
      }
    }
  }
}

void extend(Lives::Span& span, uint32_t at) {
  span.first = std::min(span.first, at);
  span.last = std::max(span.last, at);
}

void extend_all(Lives& lives, const Words& set, uint32_t at) {
  for (size_t w = 0; w < set.size(); ++w) {
    for (uint64_t bits = set[w]; bits; bits &= bits - 1)
      extend(lives.spans[w * 64 + static_cast<size_t>(__builtin_ctzll(bits))], at);
  }
}

}  // namespace

Lives find_lives(const std::vector<Effects>& effects, const std::vector<BasicBlock>& blocks,
                 const std::vector<std::vector<uint32_t>>& successors, uint32_t n_registers) {
  const size_t words = (n_registers + 63) / 64;
  std::vector<BlockSets> sets;
  for (const BasicBlock& block : blocks) sets.push_back(sets_of(block, effects, words));
  solve(sets, successors);
  Lives lives;
  lives.spans.resize(words * 64);
  for (size_t b = 0; b < blocks.size(); ++b) {
    extend_all(lives, sets[b].live_in, blocks[b].begin);
    extend_all(lives, sets[b].live_out, blocks[b].end);
  }
  for (uint32_t at = 0; at < effects.size(); ++at) {
    for (uint32_t r : effects[at].reads) extend(lives.spans[r], at);
    for (uint32_t r : effects[at].writes) extend(lives.spans[r], at);
  }
  lives.spans.resize(n_registers);
  lives.maybe_undefined.resize(n_registers);
  for (uint32_t r = 0; r < n_registers && !sets.empty(); ++r) lives.maybe_undefined[r] = has(sets[0].live_in, r);
  return lives;
}

}  // namespace ptx::emulator
