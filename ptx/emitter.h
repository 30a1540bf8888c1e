// Spells a kernel or function as PTX text: deterministic to the byte, registers named by role, loops and tags as
// comments.
#pragma once
#include <string>
#include <vector>

#include "ptx/ir.h"

namespace ptx {

// "%sum", "%sum_2" of each register that the code uses; empty for the others.
std::vector<std::string> name_registers(const Body& body);
// "$chunk_end" of each label.
std::vector<std::string> name_labels(const Body& body);

struct Text {
  std::string header;        // .version, .target, .address_size
  std::string declarations;  // constants and dynamic shared memory, of module scope
  std::string entry;         // the kernel's or function's
  std::vector<int> lines;    // of each instruction, from 1, in the text of the kernel alone and what it calls
};
Text spell(const Body& body, const std::vector<std::string>& registers, const std::vector<std::string>& labels,
           Version version);
std::string spell_header(Target target, Version version);
// "%quants_3+2": an operand as the text has it.
std::string spell_operand(const Body& body, const std::vector<std::string>& registers,
                          const std::vector<std::string>& labels, const Operand& operand);

// The oldest PTX version that knows the target and every instruction.
Version needed_version(const Body& body);

}  // namespace ptx
