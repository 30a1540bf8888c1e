// Packing runs over groups in parallel; the format's kernel knows the layout.
#include "engine/cpu/packed_matrix.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "engine/cpu/thread_pool.h"

namespace warpchat {
namespace {

const FormatKernels& find_format(const CpuKernels& kernels, TensorType type) {
  const auto* found = std::find_if(std::begin(kernels.formats), std::end(kernels.formats), [&](const FormatKernels& f) {
    return f.tensor_type == static_cast<uint32_t>(type);
  });
  assert(found != std::end(kernels.formats));
  return *found;
}

uint64_t round_up(uint64_t n, uint64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

}  // namespace

uint64_t PackedMatrix::bytes_needed(const CpuKernels& kernels, const TensorInfo& tensor) {
  uint64_t bytes;
  const uint64_t rows = round_up(tensor.rows(), kernels.lanes);
  return __builtin_mul_overflow(rows, bytes_per_row(tensor.type, tensor.k()), &bytes) ? UINT64_MAX : bytes;
}

PackedMatrix::PackedMatrix(ThreadPool& pool, const CpuKernels& kernels, const TensorInfo& tensor, Arena& arena)
    : format_(&find_format(kernels, tensor.type)),
      rows_(static_cast<uint32_t>(tensor.rows())),
      k_(static_cast<uint32_t>(tensor.k())),
      n_groups_((rows_ + kernels.lanes - 1) / kernels.lanes),
      group_bytes_(bytes_per_row(tensor.type, k_) * kernels.lanes),
      groups_(arena.take(bytes_needed(kernels, tensor))),
      lanes_(kernels.lanes) {
  const uint64_t row_bytes = bytes_per_row(tensor.type, k_);
  constexpr uint32_t kGroupsPerTask = 4;
  pool.for_each((n_groups_ + kGroupsPerTask - 1) / kGroupsPerTask, [&](uint32_t task) {
    const uint32_t end = std::min(n_groups_, (task + 1) * kGroupsPerTask);
    for (uint32_t g = task * kGroupsPerTask; g < end; ++g) {
      const uint32_t first_row = g * kernels.lanes;
      const auto* from = reinterpret_cast<const uint8_t*>(tensor.data.data()) + first_row * row_bytes;
      format_->pack({from, row_bytes, std::min(kernels.lanes, rows_ - first_row), k_, groups_ + g * group_bytes_});
    }
  });
}

void PackedMatrix::read_row(uint32_t row, std::span<std::byte> out) const {
  assert(row < rows_ && out.size() == group_bytes_ / lanes_);
  format_->unpack_row(group(row / lanes_), row % lanes_, out.size(), reinterpret_cast<uint8_t*>(out.data()));
}

}  // namespace warpchat
