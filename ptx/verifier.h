// Checks a finished kernel for whatever the driver would refuse, or would be undefined or hang on hardware:
//   operands and types   as the instruction table has them
//   values               defined on every way to every use
//   labels, parameters   placed once, inside their declarations, distinct names
//   barriers             where the threads that they wait for have not diverged
//   calls                arguments as the function has them: types, alignment, shared by as many threads
//   addresses            as aligned as the access needs, provably
//   budgets              shared memory, parameters, constants, threads
#pragma once
#include <string>
#include <vector>

#include "ptx/emitter.h"

namespace ptx {

struct Finding {
  int instruction = -1;  // index in the body's code; -1 for the kernel as a whole
  Where at = {};
  std::string what;
};

// Findings in text order. `names`, `labels` and `text` are the emitter's for this body.
std::vector<Finding> verify(const Body& body, const std::vector<std::string>& names,
                            const std::vector<std::string>& labels, const Text& text);
std::vector<Finding> verify(const Body& body);

// Which threads must reach this body together, for all of its instructions to be valid.
Sharing needed_together(const Body& body);

// "ptx: <kernel> line <n> (<file>:<line>): <what>"; further findings indented below.
std::string spell(const Body& body, const std::vector<Finding>& findings, const Text& text);

}  // namespace ptx
