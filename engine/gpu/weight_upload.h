// Moves a model's tensors into device memory, in the layout that the kernels read: rows are packed into pinned staging
// while the rows before them are copied, and the file's pages are given back behind it. There is no second host copy.
#pragma once
#include <array>
#include <cstdint>
#include <functional>

#include "engine/driver/context.h"
#include "engine/file_mappings.h"
#include "models/gguf_reader.h"

namespace warpchat {

// Bytes of a tensor in device memory, whole 256-byte units: matrices packed, vectors (rows() == 1 of F32) as they are.
uint64_t matrix_bytes(const TensorInfo& tensor);
uint64_t vector_bytes(const TensorInfo& tensor);

class WeightUpload {
 public:
  // total_bytes: of all that will be placed. progress: 0..1, may be empty; what it throws ends the upload.
  WeightUpload(const Stream& stream, uint64_t total_bytes, std::function<void(double)> progress);
  ~WeightUpload();  // waits for the stream, which may still read the staging memory

  // Each returns the tensor's device address. Error for a matrix whose format or width no kernel reads.
  uint64_t place_matrix(const TensorInfo& tensor);
  uint64_t place_vector(const TensorInfo& tensor);

  // Waits for the last copy; the memory is the caller's from then on.
  DeviceMemory finish();

 private:
  struct Slot {
    HostMemory memory;
    GpuEvent done;
  };
  uint64_t take(uint64_t n_bytes);
  std::span<std::byte> free_slot(uint64_t n_bytes);  // of the staging memory, its last copy done
  void send(uint64_t to, std::span<const std::byte> staged);

  const Stream& stream_;
  std::function<void(double)> progress_;
  DeviceMemory memory_;
  uint64_t used_ = 0, sent_bytes_ = 0;
  std::array<Slot, 2> slots_;
  uint32_t next_ = 0;
  FileMappings mappings_;
};

}  // namespace warpchat
