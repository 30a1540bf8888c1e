#include "ptx/emulator/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <new>

namespace ptx::emulator {
namespace {

constexpr uint64_t kAlign = 256;        // per allocation
constexpr uint64_t kLargeAlign = 4096;  // for allocations of at least this size: programs rely on devices' alignment
constexpr uint64_t kPage = 2ull << 20;  // mapping granularity of a device
constexpr uint64_t kGap = 256;          // after each allocation, so that small overruns hit no other
constexpr size_t kFreedRemembered = 4096;

uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

}  // namespace

namespace {

// Calls f(word, mask) for the words with bits [first, end); f returns whether to continue.
template <class F>
void each_word(uint64_t first, uint64_t end, F f) {
  while (first < end) {
    const uint64_t bit = first % 64, count = std::min(64 - bit, end - first);
    if (!f(first / 64, (count == 64 ? ~0ull : (1ull << count) - 1) << bit)) return;
    first += count;
  }
}

}  // namespace

void WrittenBytes::mark(uint64_t offset, uint64_t bytes) {
  if (all() || offset >= bytes_) return;
  bytes = std::min(bytes, bytes_ - offset);
  if (bytes == bytes_) return mark_all();
  if (!words_) {
    std::lock_guard lock(growing_);
    if (!storage_) storage_ = std::make_unique<std::atomic<uint64_t>[]>((bytes_ + 63) / 64);
    words_ = storage_.get();
  }
  std::atomic<uint64_t>* const words = words_;
  each_word(offset, offset + bytes, [&](uint64_t word, uint64_t mask) {
    if ((words[word].load(std::memory_order_relaxed) & mask) == mask) return true;
    const uint64_t before = words[word].fetch_or(mask, std::memory_order_relaxed);
    const uint64_t fresh = static_cast<uint64_t>(std::popcount(mask & ~before));
    uint64_t left = left_;  // another thread may have marked the rest meanwhile
    while (left != 0 && !left_.compare_exchange_weak(left, left - fresh)) {
    }
    return true;
  });
}

bool WrittenBytes::any(uint64_t offset, uint64_t bytes) const {
  if (all()) return true;
  const std::atomic<uint64_t>* words = words_;
  if (!words || offset >= bytes_) return false;
  bool found = false;
  each_word(offset, std::min(offset + bytes, bytes_), [&](uint64_t word, uint64_t mask) {
    found = (words[word].load(std::memory_order_relaxed) & mask) != 0;
    return !found;
  });
  return found;
}

Memory::Memory(uint64_t bytes) : bytes_(round_up(bytes, kPage)) {
  const auto reserve = [this] {
    reservation_ = mmap(nullptr, bytes_ + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return reservation_ != MAP_FAILED;
  };
  const auto halve = [this] {
    if ((bytes_ = round_up(bytes_ / 2, kPage)) == kPage) throw std::bad_alloc();
  };
  if (!reserve()) {
    do halve();
    while (!reserve());
    // Leaves some of the remaining address space for threads' stacks and heaps.
    munmap(reservation_, bytes_ + kPage);
    halve();
    if (!reserve()) throw std::bad_alloc();
  }
  base_ = round_up(reinterpret_cast<uint64_t>(reservation_), kPage);
  holes_[base_] = bytes_;
}

Memory::~Memory() { munmap(reservation_, bytes_ + kPage); }

bool Memory::commit(uint64_t address, uint64_t bytes) {
  const uint64_t start = address / kPage * kPage, end = round_up(address + bytes, kPage);
  return mprotect(reinterpret_cast<void*>(start), end - start, PROT_READ | PROT_WRITE) == 0;
}

uint64_t Memory::allocate(uint64_t bytes, std::string name, bool is_constant) {
  std::unique_lock lock(mutex_);
  if (bytes == 0 || bytes > bytes_) return 0;
  const uint64_t room = round_up(bytes, kAlign) + kGap, align = bytes < kLargeAlign ? kAlign : kLargeAlign;
  const auto fits = [&](const auto& h) { return round_up(h.first, align) + room <= h.first + h.second; };
  const auto hole = std::ranges::find_if(holes_, fits);
  if (hole == holes_.end()) return 0;
  const uint64_t address = round_up(hole->first, align), end = hole->first + hole->second;
  if (!commit(address, room)) return 0;
  hole->second = address - hole->first;
  if (hole->second == 0) holes_.erase(hole);
  if (address + room < end) holes_[address + room] = end - address - room;
  std::erase_if(freed_,
                [&](const Allocation& a) { return a.address < address + room && address < a.address + a.bytes; });
  if (name.empty()) name = "allocation " + std::to_string(serial_);
  ++serial_;
  live_[address] = {address, bytes, std::move(name), false, is_constant, std::make_shared<WrittenBytes>(bytes)};
  used_ += room;
  return address;
}

bool Memory::free(uint64_t address) {
  std::unique_lock lock(mutex_);
  const auto found = live_.find(address);
  if (found == live_.end() || found->second.is_host) return false;
  const uint64_t room = round_up(found->second.bytes, kAlign) + kGap;
  freed_.push_back(std::move(found->second));
  if (freed_.size() > kFreedRemembered) freed_.erase(freed_.begin(), freed_.begin() + kFreedRemembered / 2);
  live_.erase(found);
  used_ -= room;
  auto hole = holes_.emplace(address, room).first;
  if (auto next = std::next(hole); next != holes_.end() && hole->first + hole->second == next->first) {
    hole->second += next->second;
    holes_.erase(next);
  }
  if (hole != holes_.begin()) {
    if (auto before = std::prev(hole); before->first + before->second == hole->first) {
      before->second += hole->second;
      holes_.erase(hole);
    }
  }
  ++generation_;
  return true;
}

void Memory::register_host(void* start, uint64_t bytes) {
  std::unique_lock lock(mutex_);
  const uint64_t address = reinterpret_cast<uint64_t>(start);
  auto written = std::make_shared<WrittenBytes>(bytes);
  written->mark_all();
  live_[address] = {address, bytes, "host memory " + std::to_string(serial_++), true, false, std::move(written)};
}

bool Memory::unregister_host(void* start) {
  std::unique_lock lock(mutex_);
  const auto found = live_.find(reinterpret_cast<uint64_t>(start));
  if (found == live_.end() || !found->second.is_host) return false;
  live_.erase(found);
  ++generation_;
  return true;
}

std::optional<Allocation> Memory::nearest_below(uint64_t address) const {
  std::shared_lock lock(mutex_);
  auto after = live_.upper_bound(address);
  if (after == live_.begin()) return std::nullopt;
  return std::prev(after)->second;
}

std::optional<Allocation> Memory::find(uint64_t address) const {
  auto below = nearest_below(address);
  if (!below || address - below->address >= below->bytes) return std::nullopt;
  return below;
}

std::optional<Allocation> Memory::find_freed(uint64_t address) const {
  std::shared_lock lock(mutex_);
  for (auto freed = freed_.rbegin(); freed != freed_.rend(); ++freed) {
    if (address >= freed->address && address - freed->address < freed->bytes) return *freed;
  }
  return std::nullopt;
}

void Memory::mark_initialised(uint64_t address, uint64_t bytes) {
  while (bytes > 0) {
    const auto owner = find(address);
    if (!owner) return;
    const uint64_t part = std::min(bytes, owner->bytes - (address - owner->address));
    owner->written->mark(address - owner->address, part);
    address += part;
    bytes -= part;
  }
}

bool Memory::mapped_range(uint64_t address, uint32_t bytes, Range& range) const {
  std::shared_lock lock(mutex_);
  const auto after = live_.upper_bound(address);
  if (after != live_.begin()) {
    const Allocation& below = std::prev(after)->second;
    const uint64_t end = below.is_host ? below.address + below.bytes : round_up(below.address + below.bytes, kPage);
    if (address < end && end - address >= bytes) {
      range = {below.address, end - below.address};
      return true;
    }
  }
  if (after == live_.end() || after->second.is_host) return false;
  const uint64_t page = after->second.address / kPage * kPage;  // start of the page; the allocation shares it
  if (address < page) return false;
  range = {page, after->second.address - page + after->second.bytes};
  return range.bytes - (address - page) >= bytes;
}

}  // namespace ptx::emulator
