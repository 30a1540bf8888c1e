// A kernel or function as data: registers, symbols and a flat list of instructions in text order. The builder fills it;
// the passes (uniformity, alignment, verifier, emitter) read it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ptx/error.h"
#include "ptx/function.h"
#include "ptx/target.h"
#include "ptx/types.h"

namespace ptx {

struct Form;  // instruction_table.h

enum class Space : uint8_t { kGlobal, kShared, kLocal, kConst, kParam };
std::string_view spell(Space space);  // "global"

struct Operand {
  enum class Kind : uint8_t {
    kNone,
    kRegister,   // %sum; with `negated`, !%p
    kImmediate,  // bits, of `type`
    kSpecial,    // %tid.x, spelled by `text`
    kSymbol,     // the address of a symbol
    kAddress,    // [register + offset] or [symbol + offset]
    kList,       // {%a, %b}
    kPair,       // %value|%flag
    kLabel,
    kSink,  // _
  };
  Kind kind = Kind::kNone;
  Type type = Type::kB32;
  bool negated = false;
  int index = -1;              // register, label or symbol; for an address its register, or -1
  int symbol = -1;             // for an address without register
  uint64_t bits = 0;           // for an immediate
  int64_t offset = 0;          // bytes, for an address
  std::string_view text = {};  // for a special register; a literal
  std::vector<Operand> parts = {};
};

Operand register_operand(int index, Type type);
Operand immediate_operand(uint64_t bits, Type type);
Operand list_operand(std::vector<Operand> parts);
Operand pair_operand(Operand value, Operand flag);
Operand label_operand(int label);

// A property that the author vouches for and no analysis can prove.
struct Claim {
  enum class Kind : uint8_t { kNone, kBlockUniform, kWarpUniform, kAligned };
  Kind kind = Kind::kNone;
  int alignment = 0;  // bytes
};

struct Instruction {
  enum class Kind : uint8_t { kOperation, kLabel, kComment, kRaw, kCall };
  Kind kind = Kind::kOperation;
  std::string spelling = {};  // "fma.rn.f32"; the comment; the raw line; the called function's name
  const Form* form = nullptr;
  std::vector<Operand> operands = {};  // in text order, results first; for a label, the label
  int n_results = 0;
  Operand guard = {};  // a predicate register, or nothing
  Claim claim = {};
  bool snapshot = false;  // a copy of a variable: folded into its readers while the variable keeps its value
  Where at = {};
};

struct Register {
  Type type;
  std::string role;         // "sum" is spelled %sum, %sum_2, ...
  bool assignable = false;  // a Var
  Where at = {};
};

// A register that holds an argument when the function is called.
struct ArgumentRegister {
  int index;
  Sharing sharing;
  uint32_t alignment;
};

struct Symbol {
  Space space;
  std::string name;
  Type element;
  uint64_t count;  // elements; 0 if unknown (a buffer behind a parameter)
  uint32_t alignment;
  bool pointer = false;            // a parameter that points to global memory
  bool dynamic = false;            // part of the launch's dynamic shared memory
  uint64_t offset = 0;             // bytes, for a dynamic part
  std::vector<uint8_t> data = {};  // for constants
  uint64_t bytes() const { return count * bytes_of(element); }
};

struct Body {
  std::string name;
  Target target;
  std::vector<Register> registers = {};
  std::vector<Symbol> symbols = {};
  std::vector<std::string> labels = {};
  std::vector<ArgumentRegister> arguments = {};  // for a function
  std::vector<FunctionPointer> functions = {};   // called
  std::vector<Instruction> prologue = {};        // parameters and special registers, read once at the start
  std::vector<Instruction> code = {};
  uint32_t max_threads = 0;                 // .maxntid, 0 for none
  uint32_t min_blocks = 0;                  // .minnctapersm
  bool asks_warp = false;                   // uses the warp index, which needs a one-dimensional block
  int turns_symbol = -1;                    // the shared array used in turn (Builder::in_turn); -1: none
  bool has_dynamic_turns = false;           // that array is dynamic
  Operand shared_memory = {};               // for a function: the argument with the address of its shared arrays
  uint64_t shared_bytes = 0;                // bytes that it uses there
  std::optional<uint64_t> turn_bytes = {};  // while building inside in_turn: bytes used of that array so far
  Operand guard = {};                       // while building: predicate of all following instructions
};

// Throws "ptx: <kernel> (<file>:<line>): <what>" for an invalid builder call.
[[noreturn]] void fail(const Body& body, Where at, const std::string& what);

}  // namespace ptx
