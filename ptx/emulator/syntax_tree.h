// A parsed module: names are resolved to indices, instructions are still words. The loader lowers it to code.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptx/emulator/load_error.h"
#include "ptx/emulator/types.h"

namespace ptx::emulator {

enum class Space : uint8_t { generic, global, constant, shared, local, param };

struct SyntaxFunction;

// Value stored by an initialiser: a number, or a symbol's address plus offset, patched in at load.
struct Initialiser {
  uint64_t offset = 0;      // bytes from the variable's start
  uint32_t size = 0;        // bytes
  uint64_t bits = 0;        // the number, or the offset added to the symbol's address
  std::string symbol;       // empty for a number
  bool is_generic = false;  // generic(symbol): its generic address
  uint64_t mask = ~0ull;    // 0xFF(symbol): only these bits, shifted down
  Position at;
};

struct Variable {
  std::string name;
  Space space = Space::global;
  Type type = Type::none;  // of one element
  uint64_t size = 0;       // bytes; 0 for an extern array without a size
  uint32_t align = 1;
  bool is_extern = false, is_unsized = false, is_array = false;
  bool is_visible = false, is_weak = false;  // visible to linked modules; weak: any one definition is used
  std::vector<Initialiser> initialisers;
  Position at;
};

struct Register {
  std::string name;
  Type type = Type::none;
  uint32_t vector = 1;  // elements of a .v2 or .v4 register, each with its own index
};

enum class OperandKind : uint8_t {
  kRegister,    // index; `elements` for a vector register
  kInteger,     // bits
  kFloat,       // bits of a double; `single` if written as 0f
  kSpecial,     // name (%tid.x)
  kVariable,    // variable + offset; variable[subscript + offset] if is_element
  kFunction,    // function
  kLabel,       // name, resolved to a statement at the end of its scope
  kLabelTable,  // of .branchtargets, by index
  kPrototype,   // of .callprototype, by index
  kAddress,     // [base + offset]: base in elements[0] (register, variable or number); bulk copies have more elements
  kVector,      // { elements }
  kList,        // ( elements )
  kSink         // _
};

struct Operand {
  OperandKind kind = OperandKind::kSink;
  Position at;
  std::string name;
  uint32_t index = 0;  // register, label table or prototype
  uint64_t bits = 0;
  int64_t offset = 0;
  bool is_negated = false;  // !%p, and -%r in vmad
  std::string selector;     // part of a video operand: %r1.b0, %r2.h10
  bool is_single = false;
  uint32_t single = 0;
  const Variable* variable = nullptr;
  const SyntaxFunction* function = nullptr;
  std::vector<Operand> elements;
  std::shared_ptr<Operand> second;     // the q of p|q
  bool is_element = false;             // a[2], a[%r1], a[%r1+2]
  std::shared_ptr<Operand> subscript;  // the %r1 of a[%r1+2], counted in elements; the offset is in bytes
  uint32_t target = 0;                 // label: statement index
};

struct Statement {
  std::string opcode;                  // "ld"
  std::vector<std::string> modifiers;  // "global" "v4" "u32"
  std::vector<Operand> operands;
  Position at;
  bool has_guard = false, guard_negated = false;
  uint32_t guard = 0;         // register
  std::string tag;            // the innermost region of a "// tag:" comment
  uint32_t used_bytes = ~0u;  // of a load: bit mask of the bytes used (.pragma "used_bytes_mask")
};

struct Signature {
  std::vector<const Variable*> returns, parameters;
};

// A parameter or result declared in .reg space: passed like others, kept in a register.
struct RegisterParameter {
  const Variable* variable = nullptr;
  uint32_t reg = 0;
  bool is_result = false;
};

struct SyntaxFunction {
  std::string name;
  bool is_entry = false, is_defined = false, is_extern = false;
  bool is_visible = false, is_weak = false;  // as in Variable
  Position at;
  Signature signature;
  std::vector<Register> registers;
  std::vector<RegisterParameter> register_parameters;
  std::vector<std::unique_ptr<Variable>> variables;  // parameters, then .local, .shared, .param of the body
  std::vector<Statement> body;
  std::vector<std::vector<Operand>> label_tables;
  std::vector<Signature> prototypes;
  uint32_t max_threads = 0, required_threads[3] = {0, 0, 0}, min_blocks = 0, max_registers = 0;
};

struct SyntaxModule {
  uint32_t version = 0;  // 10 * major + minor
  uint32_t target = 0;   // 90 for sm_90
  Position target_at;
  char target_suffix = 0;  // a of sm_90a, f of sm_100f; 0: none
  bool is_debug = false;
  std::vector<std::unique_ptr<Variable>> variables;  // .global .const .shared at module scope
  std::vector<std::unique_ptr<SyntaxFunction>> functions;
};

// Throws LoadError with every problem found.
SyntaxModule parse(std::string_view text);

}  // namespace ptx::emulator
