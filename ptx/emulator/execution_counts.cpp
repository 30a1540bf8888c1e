#include "ptx/emulator/execution_counts.h"

#include <algorithm>
#include <bit>

#include "ptx/emulator/syntax_tree.h"

namespace ptx::emulator {
namespace {

constexpr uint64_t kSectorBytes = 32, kBankBytes = 4;
constexpr uint32_t kBanks = 32;

// Distinct sectors that the lanes touch; only a bulk copy's lane touches more than two.
uint64_t sectors_of(uint32_t lanes, uint32_t bytes, const uint64_t* addresses) {
  uint64_t seen[2 * kLanes], count = 0, n_seen = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    const uint64_t first = addresses[l] / kSectorBytes, last = (addresses[l] + std::max(1u, bytes) - 1) / kSectorBytes;
    if (last - first > 1) {
      count += last - first + 1;
      continue;
    }
    for (uint64_t sector = first; sector <= last; ++sector) {
      if (std::find(seen, seen + n_seen, sector) == seen + n_seen) seen[n_seen++] = sector;
    }
  }
  return count + n_seen;
}

// Extra passes for a group of lanes: the largest number of different words in one bank, minus one.
uint64_t replays_of_group(uint32_t lanes, uint32_t bytes, const uint64_t* addresses) {
  uint64_t words[kLanes * 4];
  uint32_t n = 0, load[kBanks] = {}, max = 1;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    for (uint64_t word = addresses[l] / kBankBytes; word <= (addresses[l] + bytes - 1) / kBankBytes; ++word) {
      if (std::find(words, words + n, word) != words + n) continue;
      words[n++] = word;
      max = std::max(max, ++load[word % kBanks]);
    }
  }
  return max - 1;
}

uint64_t replays_of(uint32_t lanes, uint32_t bytes, const uint64_t* addresses) {
  if (bytes > 16) return 0;  // bulk copies access rows
  const uint32_t group = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
  uint64_t replays = 0;
  for (uint32_t first = 0; first < kLanes; first += group) {
    const uint32_t members = lanes & (group == 32 ? kAllLanes : ((1u << group) - 1) << first);
    if (members) replays += replays_of_group(members, bytes, addresses);
  }
  return replays;
}

}  // namespace

std::vector<ExecutionCounts::PerInstruction>& ExecutionCounts::of(const Code& code) {
  if (recent_ < codes_.size() && codes_[recent_].code == &code) return codes_[recent_].counts;
  const auto found = std::ranges::find(codes_, &code, &PerCode::code);
  recent_ = static_cast<size_t>(found - codes_.begin());
  if (found == codes_.end()) codes_.push_back({&code, std::vector<PerInstruction>(code.instructions.size())});
  return codes_[recent_].counts;
}

void ExecutionCounts::ran(const Code& code, uint32_t first, uint32_t count, uint32_t n_lanes) {
  PerInstruction* p = of(code).data() + first;
  for (uint32_t k = 0; k < count; ++k) {
    ++p[k].runs;
    p[k].lanes += n_lanes;
  }
}

void ExecutionCounts::access(const Code& code, const Instruction& i, AccessKind kind, uint32_t space, uint32_t lanes,
                             uint32_t bytes, const uint64_t* addresses) {
  if (lanes == 0) return;
  const bool is_shared_space = static_cast<Space>(space) == Space::shared;
  const bool is_generic = static_cast<Space>(space) == Space::generic;
  if (!is_shared_space && !is_generic && static_cast<Space>(space) != Space::global) return;
  uint32_t global = 0, shared = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    if (is_shared_space || (is_generic && addresses[l] - kSharedWindow < kWindowBytes))
      shared |= 1u << l;
    else if (addresses[l] < kSharedWindow)
      global |= 1u << l;
  }
  PerInstruction& p = of(code)[i.index];
  if (global) {
    p.kind = kind;
    ++p.requests;
    p.sectors += sectors_of(global, bytes, addresses);
    p.bytes += uint64_t{bytes} * static_cast<uint32_t>(std::popcount(global));
  }
  if (shared) {
    ++p.shared_requests;
    p.replays += replays_of(shared, bytes, addresses);
  }
}

// A statement lowered to several instructions counts once, at its first.
Counts ExecutionCounts::counts_of(const Code& code, uint32_t k, const PerInstruction& p) {
  Counts c;
  const bool is_first = k == 0 || code.positions[k].line != code.positions[k - 1].line ||
                        code.positions[k].column != code.positions[k - 1].column;
  if (is_first) {
    c.instructions = p.runs;
    c.lane_instructions = p.lanes;
    c.by_class[static_cast<size_t>(class_of_instruction(code.spellings[k]))] = p.runs;
  }
  if (code.instructions[k].control == Control::kBarrier) c.barriers = p.runs;
  c.divergent_branches = p.divergent;
  (p.kind == AccessKind::kLoad    ? c.loads
   : p.kind == AccessKind::kStore ? c.stores
                                  : c.atomics) = {p.requests, p.sectors, p.bytes};
  c.shared_requests = p.shared_requests;
  c.bank_replays = p.replays;
  return c;
}

void ExecutionCounts::add_to(Counters& counters) const {
  for (const PerCode& per_code : codes_) {
    const Code& code = *per_code.code;
    const bool tagged = std::ranges::any_of(code.tags, [](const std::string& tag) { return !tag.empty(); });
    for (uint32_t k = 0; k < per_code.counts.size(); ++k) {
      const PerInstruction& p = per_code.counts[k];
      if (p.runs == 0) continue;
      Counters one;
      static_cast<Counts&>(one) = counts_of(code, k, p);
      if (tagged) one.tags.push_back({code.tags[k], one});
      counters.add(one);
    }
  }
}

}  // namespace ptx::emulator
