// What is known of the low bits of every register, from declared alignments through the arithmetic on addresses: enough
// to prove that a wide access is aligned.
#pragma once
#include <vector>

#include "ptx/ir.h"

namespace ptx {

// value = rest modulo 2^bits.
struct Residue {
  int bits = 0;
  uint64_t rest = 0;
  int alignment() const;  // the largest power of two that surely divides the value, up to 256
};

std::vector<Residue> find_residues(const Body& body);

// Bytes to which the address operand `i` of an instruction must be aligned; 1 where any address will do.
int needed_alignment(const Instruction& instruction, size_t i);

// Bytes that a load, store or atomic of this spelling touches.
int accessed_bytes(std::string_view spelling);

}  // namespace ptx
