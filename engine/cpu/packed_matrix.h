// A weight matrix as the CPU's kernels read it: a copy of the file's blocks, the rows of a group interleaved, so that
// the lanes of a vector are rows. Grids are expanded (models/kernel_type.h); else not a bit is changed or added, but
// for the zero rows that fill the last group and up to 2% between large blocks (cpu/kernels/formats.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/pages.h"
#include "models/gguf_reader.h"

namespace warpchat {

class FileMappings;
class ThreadPool;

class PackedMatrix {
 public:
  PackedMatrix() = default;
  // Takes bytes_needed from the arena, which must outlive the matrix. The tensor's pages go back to the file as they
  // are copied. Error if a scale is not finite (models/weight_check.h); then nothing was taken.
  PackedMatrix(ThreadPool& pool, const CpuKernels& kernels, const TensorInfo& tensor, const FileMappings& mappings,
               Arena& arena);

  static uint64_t bytes_needed(const CpuKernels& kernels, const TensorInfo& tensor);  // saturates at 2^64 - 1

  // A row of kernel_type(the tensor's type), as the file had it where that is no other: [bytes_per_row]
  void read_row(uint32_t row, std::span<std::byte> out) const;

  const FormatKernels& format() const { return *format_; }
  TensorType type() const { return format_->type; }
  uint64_t n_bytes() const { return n_groups_ * group_bytes_; }
  uint32_t rows() const { return rows_; }
  uint32_t k() const { return k_; }
  uint32_t n_groups() const { return n_groups_; }
  uint64_t group_bytes() const { return group_bytes_; }
  const uint8_t* group(uint32_t index) const { return groups_ + index * group_bytes_; }

 private:
  void pack_all(ThreadPool& pool, const TensorInfo& tensor, const FileMappings& mappings);
  void pack(ThreadPool& pool, const TensorInfo& tensor, uint32_t first_group, uint32_t end_group);

  const FormatKernels* format_ = nullptr;
  uint32_t rows_ = 0, k_ = 0, n_groups_ = 0;
  uint64_t group_bytes_ = 0;
  uint8_t* groups_ = nullptr;
  uint32_t lanes_ = 0;
};

}  // namespace warpchat
