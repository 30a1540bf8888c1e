// A weight matrix as the CPU's kernels read it: the file's blocks with the rows of a group interleaved, so that vector
// lanes are rows. Grids are expanded (models/kernel_type.h). Otherwise every bit is kept; only zero rows in the last
// group and up to 2% padding between large blocks are added (cpu/kernels/formats.h).
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
  // Allocates bytes_needed from the arena, which must outlive the matrix. Releases the file's pages as they are copied.
  // Throws if a scale is not finite (models/weight_check.h), without allocating.
  PackedMatrix(ThreadPool& pool, const CpuKernels& kernels, const TensorInfo& tensor, const FileMappings& mappings,
               Arena& arena);

  static uint64_t bytes_needed(const CpuKernels& kernels, const TensorInfo& tensor);  // saturates

  // A row in kernel_type(the tensor's type), equal to the file's row unless the type was expanded: [bytes_per_row]
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
