// Lowering of matrix operations: how many registers each fragment has.
#include "ptx/emulator/function_loader.h"

namespace ptx::emulator {

std::string spelling_of(const Statement& s);

void FunctionLoader::lower_matrix(const Statement& s, const Match&) {
  refuse(s.at, "the emulator does not run " + spelling_of(s));
}
void FunctionLoader::lower_matrix_load(const Statement& s, const Match&) {
  refuse(s.at, "the emulator does not run " + spelling_of(s));
}
void FunctionLoader::lower_wmma_memory(const Statement& s, const Match&) {
  refuse(s.at, "the emulator does not run " + spelling_of(s));
}

}  // namespace ptx::emulator
