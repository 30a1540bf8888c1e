// Writes a kernel or function as PTX text: byte-for-byte deterministic, registers named by role, loops and tags as
// comments.
#pragma once
#include <string>
#include <vector>

#include "ptx/ir.h"

namespace ptx {

// "%sum", "%sum_2" for each register that is used; empty for the others.
std::vector<std::string> name_registers(const Body& body);
// "$chunk_end" for each label.
std::vector<std::string> name_labels(const Body& body);

struct Text {
  std::string header;        // .version, .target, .address_size
  std::string declarations;  // module scope: constants and dynamic shared memory
  std::string entry;         // of the kernel or function
  std::vector<int> lines;    // per instruction: line, from 1, in the text of this kernel and its functions
};
Text spell(const Body& body, const std::vector<std::string>& registers, const std::vector<std::string>& labels,
           Version version);
std::string spell_header(Target target, Version version);
// "%quants_3+2": an operand's spelling.
std::string spell_operand(const Body& body, const std::vector<std::string>& registers,
                          const std::vector<std::string>& labels, const Operand& operand);

// The oldest PTX version that supports the target and every instruction.
Version needed_version(const Body& body);

}  // namespace ptx
