// The program's operator new and delete: malloc, and where the system gives no memory, small blocks from a reserve.
// Code that must not fail allocates, too: destructors of JSON values, catch blocks, the sentence that tells of the
// fault. models/out_of_memory.h has the checkpoints at which work is given up, so that the reserve lasts. The program
// alone has this, not its libraries: sanitizers bring allocation functions of their own.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>

#include "models/out_of_memory.h"

namespace warpchat {

namespace {

constexpr size_t kCellBytes = 256;
constexpr size_t kCells = 16384;        // 4 MiB, of which the system gives what is touched
constexpr size_t kCellsForAll = 12288;  // the rest is for destructors while an exception unwinds the stack
constexpr size_t kMaxBytes = 1 << 20;   // what the library copies of a JSON array of 65,536 values to destroy it

class Reserve {
 public:
  // Null if the block is too large, or the reserve is used up.
  void* allocate(size_t bytes, size_t alignment) noexcept {
    const bool unwinds = std::uncaught_exceptions() > 0;
    if (bytes > kMaxBytes || alignment > kCellBytes) return nullptr;
    const size_t n = std::max<size_t>((bytes + kCellBytes - 1) / kCellBytes, 1);
    const std::lock_guard lock(mutex_);
    const size_t at = find(n, unwinds ? kCells : kCellsForAll);
    if (at == kCells) return nullptr;
    lengths_[at] = static_cast<uint16_t>(n);
    ++n_blocks_;
    reserve_was_used = true;
    return cells_ + at * kCellBytes;
  }

  // False: the block is from elsewhere.
  bool release(const void* block) noexcept {
    const auto offset = reinterpret_cast<uintptr_t>(block) - reinterpret_cast<uintptr_t>(cells_);
    if (offset >= sizeof cells_) return false;
    const std::lock_guard lock(mutex_);
    lengths_[offset / kCellBytes] = 0;
    if (--n_blocks_ == 0) reserve_was_used = false;
    return true;
  }

 private:
  // The first of n adjacent free cells below the limit; kCells: there are none.
  size_t find(size_t n, size_t limit) const noexcept {
    size_t begin = 0;
    for (size_t at = 0; at < limit && at - begin < n;) {
      const size_t length = lengths_[at];
      at += std::max<size_t>(length, 1);
      if (length > 0) begin = at;
    }
    return begin + n <= limit ? begin : kCells;
  }

  std::mutex mutex_;
  size_t n_blocks_ = 0;
  uint16_t lengths_[kCells] = {};  // in cells, of the block that begins there; 0: none begins there
  alignas(kCellBytes) unsigned char cells_[kCells * kCellBytes] = {};
};

constinit Reserve reserve;  // without a destructor: some blocks are released after main has returned

void* allocate(size_t bytes, size_t alignment) {
  bytes = std::max<size_t>(bytes, 1);
  void* block = nullptr;
  if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__)
    block = std::malloc(bytes);
  else if (posix_memalign(&block, alignment, bytes) != 0)
    block = nullptr;
  if (block == nullptr) block = reserve.allocate(bytes, alignment);
  if (block == nullptr) throw OutOfMemory();
  return block;
}

void release(void* block) noexcept {
  if (!reserve.release(block)) std::free(block);
}

}  // namespace

}  // namespace warpchat

// The other forms of these, for arrays and without exceptions, call them.
void* operator new(std::size_t bytes) { return warpchat::allocate(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return warpchat::allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { warpchat::release(block); }
void operator delete(void* block, std::size_t) noexcept { warpchat::release(block); }
void operator delete(void* block, std::align_val_t) noexcept { warpchat::release(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { warpchat::release(block); }
