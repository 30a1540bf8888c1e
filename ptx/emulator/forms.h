// The instructions of PTX: modifiers, operands, minimum target and version. A form is one row of the ISA's tables; the
// loader matches a statement against its opcode's forms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/emulator/syntax_tree.h"

namespace ptx::emulator {

// How a matched statement becomes decoded instructions.
enum class Lowering : uint8_t {
  kSimple,
  kCarry,
  kMove,
  kSetp,
  kSet,
  kSelect,
  kLop3,
  kPredicateLogic,
  kConvert,
  kConvertPack,
  kLoad,
  kStore,
  kAtomic,
  kReduction,
  kStoreAsync,
  kAddress,
  kCluster,
  kIsSpace,
  kBarrier,
  kBranch,
  kBranchIndexed,
  kCall,
  kReturn,
  kExit,
  kTrap,
  kNothing,
  kShuffle,
  kVote,
  kMatch,
  kRedux,
  kActiveMask,
  kElect,
  kWarpBarrier,
  kMatrix,
  kMatrixLoad,
  kWmmaMemory,
  kVideo,
  kFence,
  kSleep,
  kMbarrier,
  kAsyncCopy,
  kBulkCopy,
  kPolicy,
  kPrefetch,
  kSetpPair,
  kRealPair,
  kMixedReal,
  kStack
};

// Targets with a suffix that a row needs: sm_90a code does not run as sm_90.
enum class Suffix : uint8_t { kNone, kAny, kOwn, kOwnOrFamily };  // own: sm_100a of a row for 100; family: sm_100f

struct FormRow {
  const char* opcode;
  const char* modifiers;  // groups: "rnd=rn|rz!rn ?ftz t=f32"; see forms.cpp
  const char* operands;   // "d s s:u32 ?P"
  Lowering lowering = Lowering::kSimple;
  uint32_t target = 0, version = 0;  // minimum: 80 for sm_80, 78 for PTX 7.8
  const char* handler = nullptr;     // opcode of the handler, if different
  Suffix suffix = Suffix::kNone;
};

struct Group {
  std::string name;  // "t", "rnd"; for a single word, the word
  std::vector<std::string> words;
  std::string fallback;  // word if absent
  bool is_optional = false, is_silent = false, as_bits = false;
};

struct OperandPattern {
  char kind;         // d s r p P i a D S V W X Y v x
  std::string type;  // a type or group name; "wide"
  bool is_optional = false;
};

struct Form {
  const FormRow* row;
  std::vector<Group> groups;
  std::vector<OperandPattern> operands;
};

// Target and version that a text declares.
struct Dialect {
  uint32_t target = 0, version = 0;  // 90 for sm_90, 78 for PTX 7.8
  char suffix = 0;                   // a for sm_90a, f for sm_100f; 0 for none
};

struct Match {
  const Form* form = nullptr;
  std::vector<std::string> chosen;                      // one word per group, empty if absent
  std::string_view word(std::string_view group) const;  // empty if absent, or if there is no such group
  bool has(std::string_view group) const { return !word(group).empty(); }
  Type type(std::string_view group = "t") const { return type_named(word(group)); }
  std::string handler_name() const;  // opcode and words, as in the registry
};

// Matches a statement's modifiers; throws ParseProblem if no form fits, or if target or version is too old. Forms may
// share modifiers and differ in operands: `skip` resumes after the first ones.
std::optional<Match> match_form(const Statement& statement, const Dialect& dialect, size_t skip);

}  // namespace ptx::emulator
