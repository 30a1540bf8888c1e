// The decoded form: fixed-size instructions over columns of registers, and the warp state their handlers work on.
// A column is one register of a warp, 32 lanes side by side; a predicate column is one 32-bit word, a bit per lane.
// Kept free of library headers: the handlers are compiled once per instruction set.
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

// What ends a basic block. Everything else runs straight through.
enum class Control : uint8_t { kNone, kBranch, kBranchIndexed, kCall, kReturn, kExit, kBarrier, kTrap };

struct alignas(64) Instruction {
  Handler full;            // every lane is active
  Handler masked;          // only Warp::active
  uint32_t d, a, b, c, e;  // byte offsets of columns in Warp::registers
  uint32_t list;           // further operands start here in Code::operands
  int64_t immediate;       // address offset, branch target, barrier number, ...
  uint32_t flags;          // meaning belongs to the handler
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

// A range of device addresses known to be good: the last one an instruction touched.
struct Range {
  uint64_t start = 1, bytes = 0;  // empty: matches nothing
};

// The reads of an instruction that wait for a writer, as the check of races has them: the next one is known already if
// the same warp makes it at the same clock and all lanes are where they are expected.
struct alignas(64) ReadTrail {
  uint64_t offsets[kLanes];     // of the lanes from the first one's address
  uint64_t reader = 0;          // the warp and its clock
  uint64_t next = 0, step = 0;  // where the first lane reads next, and how much further on each time
  uint64_t left = 0;            // so often: beyond, nobody has looked for writes
  uint32_t lanes = 0;
};

// Loads of one base register whose bytes lie close together: the first fetches for all, in units of 8 bytes of which
// the last ends where the group does.
struct GroupedLoad {
  uint32_t column;              // that it fills
  uint8_t unit, shift;          // where its bytes lie; in bits
  uint8_t bytes, column_bytes;  // 1, 2 or 4; 2, 4 or 8
  bool extends_sign;
};
struct LoadGroup {
  int64_t begin;  // from the base register to the first byte
  uint32_t bytes, align;
  uint32_t slot;                 // its bit of Warp::fetched
  uint32_t first_load, n_loads;  // in Code::grouped_loads
};
constexpr uint32_t kUnitBytes = 8, kMostUnits = 8;  // a group has 8 to 64 bytes

struct Warp {
  uint8_t* registers;  // the columns of the running function
  uint32_t active;     // lanes that execute now
  uint32_t live;       // lanes that have not exited
  bool stop;           // set by a masked handler that has to wait for other lanes
  uint32_t ready;      // with stop: the active lanes that do not have to wait
  bool polled;         // a load other threads may answer ran since the last backward branch
  bool faulted;
  const Instruction* instructions;
  const HandlerPair* inner;          // Code::inner, by instruction
  const uint32_t* operands;          // Code::operands
  const LoadGroup* groups;           // Code::load_groups, by Instruction::list of a group's first load
  const GroupedLoad* grouped_loads;  // Code::grouped_loads
  uint64_t fetched;                  // groups of this basic block whose loads are done: bits by Instruction::list
  Range* ranges;                     // one per instruction
  Range* granted;                    // one per instruction, with checks: no access inside can be a fault, unless a race
  bool grants_suffice;               // nobody but such checks watches: accesses inside are not told of
  bool trails_suffice;               // nobody but those and the check of races watches reads
  bool local_unseen;                 // nobody counts accesses to local memory
  bool shared_unseen;                // nobody watches weak accesses to shared memory, whose bounds the machine knows
  bool is_granted;                   // the access that is told of now lies inside
  ReadTrail** trails;                // two per instruction, of reads by all lanes and by some, with a check of races
  const uint64_t* reader;            // the warp at its clock, as ReadTrail has it
  const void* stored;                // while a store is told of: its units of up to 8 bytes, 32 lanes side by side each
  uint8_t* shared;
  uint32_t shared_bytes;
  uint32_t local_bytes;  // of each lane
  uint8_t* local;        // 16 bytes of lane 0, 16 of lane 1, ...: see local_at
  const uint8_t* parameters;
  uint32_t parameter_bytes;
  uint32_t warp_index;  // in its block
  uint64_t jitter;      // seed of the approximations' errors; 0: none
  BlockState* block;
  Executor* executor;
};

// Generic addresses of the windows; everything below is global memory.
constexpr uint64_t kSharedWindow = 1ull << 48;
constexpr uint64_t kLocalWindow = 2ull << 48;
constexpr uint64_t kParamWindow = 4ull << 48;
constexpr uint64_t kWindowBytes = 1ull << 32;

// Where byte `offset` of a lane's local memory lies: naturally aligned accesses stay within a 16-byte piece.
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

// Whether an operation between lanes, with its mask in column e, may run for all active ones; otherwise the warp stops
// with those that may.
bool lanes_are_here(Warp& w, const Instruction& i);

// One memory operation of an instruction, told to the launch's checks before it happens. Returns the lanes that
// may go on: a check that performs the access itself, or forbids it, takes its lanes away. `space` is a Space.
enum class AccessKind : uint8_t { kLoad, kStore, kAtomic, kReduction };
uint32_t observe(Warp& w, const Instruction& i, AccessKind kind, uint32_t space, uint32_t lanes, uint32_t bytes,
                 const uint64_t* addresses);

// With weak memory, after the pointers are known: where lanes read or write instead of global memory. True if any does.
bool redirect(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes, const uint64_t* addresses,
              uint8_t** pointers);

// A read in the shape of its instruction's trail that does not go on there: whether the check of races knows it now.
bool resume_trail(Warp& w, ReadTrail& trail, uint64_t first_address);

// Further events; nothing happens without checks.
void observe_fence(Warp& w, const Instruction& i);
void observe_warp_barrier(Warp& w, uint32_t lanes);
void observe_barrier_object(Warp& w, uint64_t offset, bool arrives, bool passed);

}  // namespace ptx::emulator
