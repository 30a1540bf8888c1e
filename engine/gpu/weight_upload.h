// Copies a model's tensors to device memory in the kernels' layout. Rows are packed into pinned staging memory while
// earlier rows are copied; the file's pages are released afterwards. There is no second host copy.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "engine/driver/context.h"
#include "engine/file_mappings.h"
#include "models/model_config.h"

namespace warpchat {

// Size of a tensor in device memory, rounded up to 256 bytes: matrices packed, vectors (rows() == 1 of F32) unchanged.
uint64_t matrix_bytes(const TensorInfo& tensor);
uint64_t vector_bytes(const TensorInfo& tensor);
uint64_t pairs_bytes(const TensorInfo* first, const TensorInfo* second);  // of WeightUpload::place_pairs

class WeightUpload {
 public:
  // total_bytes: of all tensors to be placed. progress: 0..1, may be empty; its exceptions end the upload.
  WeightUpload(const Stream& stream, uint64_t total_bytes, std::function<void(double)> progress);
  ~WeightUpload();  // waits for the stream, which may still read the staging memory

  // Returns the tensor's device address. Error for a matrix whose format or width no kernel supports.
  uint64_t place_matrix(const TensorInfo& tensor);
  uint64_t place_vector(const TensorInfo& tensor);
  // The elements of two vectors side by side: f32 [n, 2]. Either may be null, then its elements are 0; 0 for none.
  uint64_t place_pairs(const TensorInfo* first, const TensorInfo* second);

  // Waits for the last copy and passes the memory to the caller.
  DeviceMemory finish();

 private:
  struct Slot {
    HostMemory memory;
    GpuEvent done;
  };
  uint64_t allocate(uint64_t n_bytes);
  std::span<std::byte> free_slot(uint64_t n_bytes);  // staging memory, after its previous copy
  void send(uint64_t to, std::span<const std::byte> staged);

  const Stream& stream_;
  std::function<void(double)> progress_;
  DeviceMemory memory_;
  uint64_t used_ = 0, sent_bytes_ = 0;
  std::array<Slot, 2> slots_;
  uint32_t next_ = 0;
  FileMappings mappings_;
};

// Device addresses of all weights, 0 for those that the model lacks: [n_layers + 1], the last outside the layers.
// Biases of gate and up are pairs under kGateBias.
std::vector<PerWeight<uint64_t>> place_weights(WeightUpload& upload, const ModelTensors& tensors);

}  // namespace warpchat
