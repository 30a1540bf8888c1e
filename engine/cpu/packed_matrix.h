// A weight matrix as the CPU's kernels read it: a copy of the file's blocks, the rows of a group interleaved, so that
// the lanes of a vector are rows. Not a bit is changed or added, but for the zero rows that fill the last group.
#pragma once
#include <cstdint>

#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/pages.h"
#include "models/gguf_reader.h"

namespace warpchat {

class ThreadPool;

class PackedMatrix {
 public:
  PackedMatrix() = default;
  PackedMatrix(ThreadPool& pool, const CpuKernels& kernels, const TensorInfo& tensor);

  static uint64_t bytes_needed(const CpuKernels& kernels, const TensorInfo& tensor);  // saturates at 2^64 - 1

  const FormatKernels& format() const { return *format_; }
  uint64_t n_bytes() const { return pages_.n_bytes(); }
  uint32_t rows() const { return rows_; }
  uint32_t k() const { return k_; }
  uint32_t n_groups() const { return n_groups_; }
  uint64_t group_bytes() const { return group_bytes_; }
  const uint8_t* group(uint32_t index) const { return pages_.as<uint8_t>() + index * group_bytes_; }

 private:
  const FormatKernels* format_ = nullptr;
  uint32_t rows_ = 0, k_ = 0, n_groups_ = 0;
  uint64_t group_bytes_ = 0;
  Pages pages_;
};

}  // namespace warpchat
