#include "ptx/emulator/weak_memory.h"

#include <algorithm>
#include <cstring>

#include "ptx/emulator/checks/launch_checks.h"
#include "ptx/emulator/function_loader.h"

namespace ptx::emulator {
namespace {

constexpr size_t kMaxPending = 1024, kMaxLines = 4096;
constexpr uint32_t kHopelessReads =
    20000;  // reads of one address whose value in memory differs: no device guarantees more freshness

uint32_t order_of(const Instruction& i) { return i.flags >> access::kOrderShift & 7; }
bool reaches_others(const Instruction& i) { return (i.flags >> access::kScopeShift & 3) >= access::kGpu; }
bool releases(const Instruction& i) {
  const uint32_t order = order_of(i);
  return (order == access::kRelease || order == access::kAcqRel || order == access::kSc) && reaches_others(i);
}
bool acquires(const Instruction& i) {
  const uint32_t order = order_of(i);
  return (order == access::kAcquire || order == access::kAcqRel || order == access::kSc) && reaches_others(i);
}
bool is_strong(const Instruction& i) { return order_of(i) != access::kWeak || (i.flags & access::kPolls) != 0; }

bool overlap(const BlockView::Store& s, uint64_t address, uint32_t bytes) {
  return s.address < address + bytes && address < s.address + s.bytes;
}

// Copies whole aligned elements at once, so that the host never sees torn ones.
void copy(uint8_t* to, const uint8_t* from, uint32_t bytes) {
  switch (bytes) {
    case 1:
      return static_cast<void>(std::memcpy(to, from, 1));
    case 2:
      return static_cast<void>(std::memcpy(to, from, 2));
    case 4:
      return static_cast<void>(std::memcpy(to, from, 4));
    case 8:
      return static_cast<void>(std::memcpy(to, from, 8));
    default:
      std::memcpy(to, from, bytes);
  }
}

// A line may extend beyond an allocation, but never beyond a page.
__attribute__((no_sanitize("address"))) BlockView::Line snapshot(uint64_t line) {
  BlockView::Line copied;
  const volatile uint64_t* from = reinterpret_cast<const volatile uint64_t*>(line * kLineBytes);
  for (uint64_t k = 0; k < kLineBytes / 8; ++k) {
    const uint64_t word = from[k];
    std::memcpy(copied.bytes + 8 * k, &word, 8);
  }
  return copied;
}

void invalidate(BlockView& view, uint64_t address, uint32_t bytes) {
  const auto found = view.lines.find(address / kLineBytes);
  if (found == view.lines.end()) return;
  for (uint64_t at = address % kLineBytes; at < address % kLineBytes + bytes; ++at)
    found->second.valid[at / 64] &= ~(1ull << at % 64);
}

}  // namespace

WeakMemory::WeakMemory(uint64_t seed, LaunchChecks* checks) : choices_(seed ^ 0x7765616bull), checks_(checks) {
  const auto one_of = [this](std::initializer_list<uint32_t> list) {
    return list.begin()[choices_.below(static_cast<uint32_t>(list.size()))];
  };
  arrive_one_in_ = one_of({1, 4, 16});
  drop_one_in_ = one_of({0, 0, 8, 64});
  keep_one_in_ = one_of({1, 1, 3});
  prefetch_one_in_ = one_of({1, 2, 8});
}

void WeakMemory::begin_block(BlockState& block) {
  views_.push_back(std::make_unique<BlockView>());
  block.view = views_.back().get();
  block.view->block = block.linear;
}

void WeakMemory::end_block(BlockState& block) {
  block.view->resident = false;
  block.view->lines.clear();
  block.view->read_only_lines.clear();
  block.view = nullptr;
}

void WeakMemory::turn(BlockState& block) {
  for (const auto& view : views_) {
    if (!choices_.one_in(arrive_one_in_)) continue;
    for (uint32_t n = choices_.below(8); n > 0 && !view->pending.empty(); --n)
      arrive(*view, view->pending[choices_.below(static_cast<uint32_t>(view->pending.size()))].get());
  }
  std::erase_if(views_, [](const auto& view) { return !view->resident && view->pending.empty(); });
  BlockView& own = *block.view;
  if ((drop_one_in_ && choices_.one_in(drop_one_in_)) || own.lines.size() > kMaxLines) own.lines.clear();
}

bool WeakMemory::let_all_arrive() {
  bool any = false;
  for (const auto& view : views_) {
    any = any || !view->pending.empty();
    let_all_arrive(*view);
  }
  return any;
}

void WeakMemory::let_all_arrive(BlockView& view) {
  while (!view.pending.empty())
    arrive(view, view.pending[choices_.below(static_cast<uint32_t>(view.pending.size()))].get());
}

void WeakMemory::let_overlapping_arrive(BlockView& view, uint64_t address, uint32_t bytes) {
  for (;;) {
    const auto found = view.pending_of_line.find(address / kLineBytes);
    if (found == view.pending_of_line.end()) return;
    const auto store = std::ranges::find_if(found->second, [&](const auto* s) { return overlap(*s, address, bytes); });
    if (store == found->second.end()) return;
    arrive(view, *store);
  }
}

// Other blocks may have fetched the line just before.
void WeakMemory::before_write(const BlockView& writer, uint64_t address) {
  for (const auto& view : views_) {
    if (view.get() == &writer || !view->resident || !choices_.one_in(prefetch_one_in_)) continue;
    const uint64_t line = address / kLineBytes;
    if (!view->lines.contains(line)) view->lines.emplace(line, snapshot(line));
    if (!view->read_only_lines.contains(line)) view->read_only_lines.emplace(line, snapshot(line));
  }
}

// Writes the store to memory, or first an earlier one to the same bytes.
void WeakMemory::arrive(BlockView& view, BlockView::Store* store) {
  const uint64_t line = store->address / kLineBytes;
  auto& of_line = view.pending_of_line.at(line);
  const auto first = std::ranges::find_if(
      of_line, [&](const auto* s) { return s == store || overlap(*s, store->address, store->bytes); });
  store = *first;
  before_write(view, store->address);
  copy(reinterpret_cast<uint8_t*>(store->address), store->data, store->bytes);
  invalidate(view, store->address, store->bytes);
  if (checks_) checks_->arrived(store->address, view.block);
  of_line.erase(first);
  if (of_line.empty()) view.pending_of_line.erase(line);
  const uint32_t place = store->place;
  std::swap(view.pending[place], view.pending.back());
  view.pending[place]->place = place;
  view.pending.pop_back();
}

// The block's view of some bytes; true if a cached line makes it differ from memory plus the block's own stores.
bool WeakMemory::compose(BlockView& view, uint64_t address, uint32_t bytes, Through through, uint8_t* to) {
  copy(to, reinterpret_cast<const uint8_t*>(address), bytes);
  const uint64_t line = address / kLineBytes;
  bool is_stale = false;
  if (through != Through::kMemory) {
    auto& lines = through == Through::kLines ? view.lines : view.read_only_lines;
    const auto found = lines.find(line);
    if (found == lines.end()) {
      if (choices_.one_in(keep_one_in_)) lines.emplace(line, snapshot(line));
    } else {
      for (uint32_t b = 0; b < bytes; ++b) {
        const uint64_t at = address % kLineBytes + b;
        if (!(found->second.valid[at / 64] >> at % 64 & 1)) continue;
        is_stale = is_stale || to[b] != found->second.bytes[at];
        to[b] = found->second.bytes[at];
      }
    }
  }
  if (through == Through::kReadOnlyLines) return is_stale;
  const auto own = view.pending_of_line.find(line);
  if (own == view.pending_of_line.end()) return is_stale;
  for (const BlockView::Store* s : own->second) {
    const uint64_t from = std::max(s->address, address), end = std::min(s->address + s->bytes, address + bytes);
    if (from < end) std::memcpy(to + (from - address), s->data + (from - s->address), end - from);
  }
  return is_stale;
}

void WeakMemory::load(Warp& w, const Instruction& i, uint32_t lane, uint64_t address, uint32_t bytes) {
  BlockView& view = *w.block->view;
  if (is_strong(i) && reaches_others(i)) {
    compose(view, address, bytes, Through::kMemory, view.loaded[lane]);
    return invalidate(view, address, bytes);
  }
  const Through through = i.flags & access::kReadOnly ? Through::kReadOnlyLines : Through::kLines;
  if (compose(view, address, bytes, through, view.loaded[lane])) note_poll(w, i, lane, address, bytes);
}

// For loops that read the same old value for ever: the memory model does not oblige the cache to update.
void WeakMemory::note_poll(Warp& w, const Instruction& i, uint32_t lane, uint64_t address, uint32_t bytes) {
  BlockView::Poll& poll = w.block->view->polls[{code_of(w, i).positions[i.index].line, w.warp_index * kLanes + lane}];
  if (poll.address != address) poll = {address, 0};
  if (++poll.stale_reads < kHopelessReads) return;
  fault_at_lane(w, i, FaultKind::kDeadlock, lane, address, bytes,
                "polls it in vain: the block's cache may keep the old value for ever; load it with .acquire, .relaxed "
                "or .volatile of a scope that reaches the writer");
}

uint8_t* WeakMemory::store(BlockView& view, uint64_t address, uint32_t bytes) {
  auto& of_line = view.pending_of_line[address / kLineBytes];
  const auto newest =
      std::find_if(of_line.rbegin(), of_line.rend(), [&](const auto* s) { return overlap(*s, address, bytes); });
  if (newest != of_line.rend() && (*newest)->address == address && (*newest)->bytes == bytes) return (*newest)->data;
  auto fresh = std::make_unique<BlockView::Store>();
  fresh->address = address;
  fresh->bytes = bytes;
  fresh->place = static_cast<uint32_t>(view.pending.size());
  of_line.push_back(fresh.get());
  view.pending.push_back(std::move(fresh));
  return view.pending.back()->data;
}

// Operates on a store that is visible only to its block until it arrives.
uint8_t* WeakMemory::atomic_within(BlockView& view, uint64_t address, uint32_t bytes) {
  uint8_t before[32];
  compose(view, address, bytes, Through::kLines, before);
  uint8_t* data = store(view, address, bytes);
  std::memcpy(data, before, bytes);
  return data;
}

bool WeakMemory::access(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes,
                        const uint64_t* addresses, uint8_t** pointers) {
  BlockView& view = *w.block->view;
  if (kind != AccessKind::kLoad && (releases(i) || view.pending.size() > kMaxPending)) let_all_arrive(view);
  bool changed = false;
  for (uint32_t l = 0; l < kLanes && !w.faulted; ++l) {
    if (!(lanes >> l & 1) || reinterpret_cast<uint64_t>(pointers[l]) != addresses[l]) continue;
    const uint64_t address = addresses[l];
    if (kind == AccessKind::kLoad) {
      load(w, i, l, address, bytes);
      pointers[l] = view.loaded[l];
    } else if (kind == AccessKind::kStore) {
      pointers[l] = store(view, address, bytes);
    } else if (!reaches_others(i)) {
      pointers[l] = atomic_within(view, address, bytes);
    } else {
      before_atomic(*w.block, address, bytes);
      continue;
    }
    changed = true;
  }
  if (kind != AccessKind::kStore && acquires(i)) view.lines.clear();
  return changed;
}

void WeakMemory::fence(Warp& w, const Instruction& i) {
  if (releases(i)) let_all_arrive(*w.block->view);
  if (acquires(i)) w.block->view->lines.clear();
}

void WeakMemory::before_atomic(BlockState& block, uint64_t address, uint32_t bytes) {
  BlockView& view = *block.view;
  for (uint64_t at = address; at < address + bytes;) {
    const uint32_t part = static_cast<uint32_t>(std::min(address + bytes - at, kLineBytes - at % kLineBytes));
    let_overlapping_arrive(view, at, part);
    before_write(view, at);
    invalidate(view, at, part);
    at += part;
  }
}

void WeakMemory::read(BlockState& block, uint64_t address, uint32_t bytes, uint8_t* to) {
  for (uint32_t done = 0; done < bytes;) {  // line by line
    const uint32_t part =
        std::min<uint32_t>(bytes - done, static_cast<uint32_t>(kLineBytes - (address + done) % kLineBytes));
    compose(*block.view, address + done, part, Through::kLines, to + done);
    done += part;
  }
}

void WeakMemory::write(BlockState& block, uint64_t address, uint32_t bytes, const uint8_t* from) {
  for (uint32_t done = 0; done < bytes;) {
    const uint32_t part = std::min<uint32_t>(bytes - done, 16 - (address + done) % 16);
    std::memcpy(store(*block.view, address + done, part), from + done, part);
    done += part;
  }
}

}  // namespace ptx::emulator
