// The decoded form: fixed-size instructions over columns, and the warp state of their handlers. A column is one
// register of a warp, 32 adjacent lanes; a predicate column is one 32-bit word, one bit per lane. No library headers:
// the handlers are compiled once per instruction set.
#pragma once

#include <cstdint>

namespace ptx::emulator {

constexpr uint32_t kLanes = 32;
constexpr uint32_t kAllLanes = 0xffffffffu;

struct Instruction;
struct Warp;
struct Executor;
struct BlockState;
struct Code;
using Handler = void (*)(Warp&, const Instruction&);

struct HandlerPair {
  Handler full = nullptr, masked = nullptr;
  uint32_t flags = 0;
};

// Kinds of block terminators. Everything else is straight-line code.
enum class Control : uint8_t { kNone, kBranch, kBranchIndexed, kCall, kReturn, kExit, kBarrier, kTrap };

struct alignas(64) Instruction {
  Handler full;            // every lane is active
  Handler masked;          // only Warp::active
  uint32_t d, a, b, c, e;  // byte offsets of columns in Warp::registers
  uint32_t list;           // further operands start here in Code::operands
  int64_t immediate;       // address offset, branch target, barrier number, ...
  uint32_t flags;          // meaning depends on the handler
  uint32_t index;          // in Code::instructions
  uint32_t guard;          // predicate column; kNoGuard
  uint8_t guard_negated;
  Control control;
  uint8_t count;  // vector elements, or operands in the list
  uint8_t unused;
};
static_assert(sizeof(Instruction) == 64);
constexpr uint32_t kNoGuard = 0xffffffffu;
constexpr uint32_t kNoColumn = 0xfffffffeu;

// A known-valid range of device addresses: the last one that an instruction touched.
struct Range {
  uint64_t start = 1, bytes = 0;  // empty: matches nothing
};

// Kept reads of an instruction (see DeferredReads): the next read needs no check if the same warp makes it at the same
// clock and all lanes are at the predicted addresses.
struct alignas(64) ReadTrail {
  uint64_t offsets[kLanes];     // of each lane from the first one's address
  uint64_t reader = 0;          // warp and clock
  uint64_t next = 0, step = 0;  // predicted address of the first lane, and its step
  uint64_t left = 0;            // number of reads before writes must be looked for again
  uint32_t lanes = 0;
};

// Loads from one base register whose bytes are close together. The first fetches for all, in units of 8 bytes; the last
// unit ends with the group.
struct GroupedLoad {
  uint32_t column;              // to fill
  uint8_t unit, shift;          // position of its bytes: unit, and shift in bits
  uint8_t bytes, column_bytes;  // 1, 2 or 4; 2, 4 or 8
  bool extends_sign;
};
struct LoadGroup {
  int64_t begin;  // first byte, relative to the base register
  uint32_t bytes, align;
  uint32_t slot;                 // its bit of Warp::fetched
  uint32_t first_load, n_loads;  // in Code::grouped_loads
};
constexpr uint32_t kUnitBytes = 8, kMaxUnits = 8;  // a group has 8 to 64 bytes

struct Warp {
  uint8_t* registers;  // the columns of the running function
  uint32_t active;     // lanes that execute now
  uint32_t live;       // lanes that have not exited
  bool stop;           // set by a masked handler that must wait for other lanes
  uint32_t ready;      // with stop: the active lanes that need not wait
  bool polled;         // since the last backward branch: ran a load that other threads may answer
  bool faulted;
  const Instruction* instructions;
  const HandlerPair* inner;          // Code::inner, by instruction
  const uint32_t* operands;          // Code::operands
  const LoadGroup* groups;           // Code::load_groups, by Instruction::list of the group's first load
  const GroupedLoad* grouped_loads;  // Code::grouped_loads
  uint64_t fetched;                  // groups already fetched in this basic block: bit mask by Instruction::list
  Range* ranges;                     // one per instruction
  Range* granted;                    // one per instruction, with checks: accesses inside can only fault by racing
  bool needs_only_granted_checks;    // only such checks observe: accesses inside need no report
  bool needs_only_pattern_checks;    // only those and the race check observe reads
  bool local_unseen;                 // accesses to local memory are not counted
  bool shared_unseen;                // weak accesses to shared memory with bounds known to the machine are unobserved
  bool is_granted;                   // the access being reported is inside such a range
  ReadTrail** trails;                // with the race check: two per instruction, for reads by all lanes and by some
  const uint64_t* reader;            // warp and clock, as in ReadTrail
  const void* stored;                // while a store is reported: its units of up to 8 bytes, 32 adjacent lanes each
  uint8_t* shared;
  uint32_t shared_bytes;
  uint32_t local_bytes;  // per lane
  uint8_t* local;        // 16 bytes of lane 0, 16 of lane 1, ...: see local_at
  const uint8_t* parameters;
  uint32_t parameter_bytes;
  uint32_t warp_index;  // in its block
  uint64_t jitter;      // seed of the approximations' errors; 0: none
  BlockState* block;
  Executor* executor;
};

// Generic addresses of the windows; lower addresses are global memory.
constexpr uint64_t kSharedWindow = 1ull << 48;
constexpr uint64_t kLocalWindow = 2ull << 48;
constexpr uint64_t kParamWindow = 4ull << 48;
constexpr uint64_t kWindowBytes = 1ull << 32;

// Host address of byte `offset` of a lane's local memory: naturally aligned accesses stay within a 16-byte piece.
inline uint8_t* local_at(const Warp& w, uint32_t lane, uint64_t offset) {
  return w.local + ((offset >> 4) << 9) + (lane << 4) + (offset & 15);
}

enum class FaultKind : uint8_t {
  kNone,
  kIllegalAddress,
  kMisaligned,
  kSharedBounds,
  kLocalBounds,
  kTrap,
  kAssert,
  kBreakpoint,
  kInvalidCall,
  kStackOverflow,
  kDivergentBarrier,
  kDeadlock,
  kUninitialised,
  kFreedMemory,
  kOutOfBounds,
  kSharedRace,
  kGlobalRace,
  kReadOnlyWritten,
  kUnsupported
};

// Slow paths, defined once in the machine.
bool find_range(Warp& w, const Instruction& i, uint64_t address, uint32_t bytes, Range& range);
void fault_at(Warp& w, const Instruction& i, FaultKind kind, uint32_t lane, uint64_t address, uint32_t bytes);

// Whether a lane operation, with its mask in column e, can run for all active lanes; otherwise the warp stops with
// those that can.
bool lanes_are_here(Warp& w, const Instruction& i);

// Reports one memory operation to the launch's checks before it happens. Returns the lanes to execute: a check that
// performs or forbids an access removes its lanes. `space` is a Space.
enum class AccessKind : uint8_t { kLoad, kStore, kAtomic, kReduction };
uint32_t observe(Warp& w, const Instruction& i, AccessKind kind, uint32_t space, uint32_t lanes, uint32_t bytes,
                 const uint64_t* addresses);

// With weak memory, after pointers are resolved: redirects lanes away from global memory. True if any is redirected.
bool redirect(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes, const uint64_t* addresses,
              uint8_t** pointers);

// A read with its trail's shape that does not continue it: whether the race check has now recorded it.
bool resume_trail(Warp& w, ReadTrail& trail, uint64_t first_address);

// Other events; without checks they do nothing.
void observe_fence(Warp& w, const Instruction& i);
void observe_warp_barrier(Warp& w, uint32_t lanes);
void observe_barrier_object(Warp& w, uint64_t offset, bool arrives, bool passed);

}  // namespace ptx::emulator
