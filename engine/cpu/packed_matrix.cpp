// Packing runs over groups in parallel; the format's kernel knows the layout.
#include "engine/cpu/packed_matrix.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "engine/cpu/rounding.h"
#include "engine/cpu/thread_pool.h"
#include "engine/file_mappings.h"
#include "models/kernel_type.h"
#include "models/weight_check.h"

namespace warpchat {
namespace {

constexpr uint64_t kBytesAtOnce = 4 << 20;  // file bytes resident beside their copy; enough for all threads

uint64_t bytes_of_group(const FormatKernels& format, uint64_t k) {
  return k / traits(format.type).block_weights * format.block_bytes;
}

}  // namespace

uint64_t PackedMatrix::bytes_needed(const CpuKernels& kernels, const TensorInfo& tensor) {
  uint64_t bytes;
  const uint64_t n_groups = round_up(tensor.rows(), uint64_t{kernels.lanes}) / kernels.lanes;
  const FormatKernels& format = row_of(kernels.formats, kernel_type(tensor.type));
  return __builtin_mul_overflow(n_groups, bytes_of_group(format, tensor.k()), &bytes) ? UINT64_MAX : bytes;
}

PackedMatrix::PackedMatrix(ThreadPool& pool, const CpuKernels& kernels, const TensorInfo& tensor,
                           const FileMappings& mappings, Arena& arena)
    : format_(&row_of(kernels.formats, kernel_type(tensor.type))),
      rows_(static_cast<uint32_t>(tensor.rows())),
      k_(static_cast<uint32_t>(tensor.k())),
      n_groups_((rows_ + kernels.lanes - 1) / kernels.lanes),
      group_bytes_(bytes_of_group(*format_, k_)),
      groups_(arena.allocate(bytes_needed(kernels, tensor))),
      lanes_(kernels.lanes) {
  try {
    pack_all(pool, tensor, mappings);
  } catch (const Error&) {
    arena.give_back(groups_);
    throw;
  }
}

void PackedMatrix::pack_all(ThreadPool& pool, const TensorInfo& tensor, const FileMappings& mappings) {
  const uint64_t file_bytes = bytes_per_row(tensor.type, k_) * lanes_;  // per group
  const uint64_t groups_at_once = std::max<uint64_t>(1, kBytesAtOnce / file_bytes);
  for (uint64_t first = 0; first < n_groups_; first += groups_at_once) {
    const uint64_t end = std::min<uint64_t>(n_groups_, first + groups_at_once);
    pack(pool, tensor, static_cast<uint32_t>(first), static_cast<uint32_t>(end));
    if (!tensor.order.empty()) continue;  // its pages contain rows of other groups
    const uint64_t offset = first * file_bytes;
    mappings.release(tensor.data.data() + offset, std::min(end * file_bytes, tensor.data.size()) - offset);
  }
}

void PackedMatrix::pack(ThreadPool& pool, const TensorInfo& tensor, uint32_t first_group, uint32_t end_group) {
  const uint64_t row_bytes = bytes_per_row(type(), k_);
  constexpr uint32_t kGroupsPerTask = 4;
  pool.for_each((end_group - first_group + kGroupsPerTask - 1) / kGroupsPerTask, [&](uint32_t task) {
    const uint32_t first = first_group + task * kGroupsPerTask;
    std::vector<std::byte> gathered, expanded(tensor.type == type() ? 0 : row_bytes * lanes_);
    for (uint32_t g = first; g < std::min(end_group, first + kGroupsPerTask); ++g) {
      const uint32_t first_row = g * lanes_, n_rows = std::min(lanes_, rows_ - first_row);
      std::span<const std::byte> rows = tensor.rows(first_row, n_rows, gathered);
      check_scales(tensor, rows);
      if (tensor.type != type()) {
        expand_rows(tensor.type, rows, std::span(expanded).first(n_rows * row_bytes));
        rows = expanded;
      }
      format_->pack({reinterpret_cast<const uint8_t*>(rows.data()), row_bytes, n_rows, k_, groups_ + g * group_bytes_});
    }
  });
}

void PackedMatrix::read_row(uint32_t row, std::span<std::byte> out) const {
  assert(row < rows_ && out.size() == bytes_per_row(type(), k_));
  format_->unpack_row(group(row / lanes_), row % lanes_, out.size(), reinterpret_cast<uint8_t*>(out.data()));
}

}  // namespace warpchat
