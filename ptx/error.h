// Errors while a kernel is built, with the place in the generator's source.
#pragma once
#if __has_include(<source_location>)
#include <source_location>
#endif
#include <stdexcept>
#include <string>

namespace ptx {

#ifdef __cpp_lib_source_location
using Where = std::source_location;
#else
// Replacement for compilers whose standard library lacks std::source_location (clang 14).
class Where {
 public:
  static constexpr Where current(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
    Where where;
    where.file_ = file, where.line_ = line;
    return where;
  }
  constexpr const char* file_name() const { return file_; }
  constexpr unsigned line() const { return line_; }

 private:
  const char* file_ = "";
  unsigned line_ = 0;
};
#endif

// what(): "ptx: <kernel> line <n> (<file>:<line>): <found, expected; next step>". The line is that of the emitted text,
// omitted if there is none yet. Further findings follow on indented lines.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// "kernels/matmul/gemv.cpp:41": path from the repository's root, or just the file name for a source outside it.
std::string spell(Where where);

}  // namespace ptx
