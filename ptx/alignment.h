// Known low bits of every register, propagated from declared alignments through address arithmetic, to prove that wide
// accesses are aligned.
#pragma once
#include <vector>

#include "ptx/ir.h"

namespace ptx {

// value = rest modulo 2^bits.
struct Residue {
  int bits = 0;
  uint64_t rest = 0;
  int alignment() const;  // largest power of two, up to 256, proven to divide the value
};

std::vector<Residue> find_residues(const Body& body);

// Required alignment in bytes of address operand `i` of an instruction; 1 if any address is valid.
int needed_alignment(const Instruction& instruction, size_t i);

// Bytes accessed by a load, store or atomic of this spelling.
int accessed_bytes(std::string_view spelling);

}  // namespace ptx
