// Double buffering: one staging buffer is packed while the other is copied.
#include "engine/gpu/weight_upload.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "engine/remedy.h"
#include "kernels/matmul/weight_layout.h"
#include "models/kernel_type.h"
#include "models/text_format.h"
#include "models/threads.h"

namespace warpchat {

namespace {

constexpr uint64_t kUnit = 256;  // alignment of everything placed
constexpr uint64_t kStagingBytes = 8 << 20;

uint64_t rounded(uint64_t n_bytes) { return (n_bytes + kUnit - 1) / kUnit * kUnit; }

// Calls work(first, n) for parts of the rows, on as many threads as the machine has and the system allows.
void share_rows(uint64_t n_rows, const std::function<void(uint64_t, uint64_t)>& work) {
  const uint64_t n_parts = std::clamp<uint64_t>(std::thread::hardware_concurrency(), 1, n_rows);
  std::atomic<uint64_t> next = 0;
  run_on_threads(n_parts, [&] {
    for (uint64_t part = next++; part < n_parts; part = next++) {
      const uint64_t begin = n_rows * part / n_parts;
      work(begin, n_rows * (part + 1) / n_parts - begin);
    }
  });
}

uint64_t packed_row_bytes(const TensorInfo& tensor) {
  const auto k = static_cast<uint32_t>(tensor.k());
  if (!is_packable(kernel_type(tensor.type), k))
    throw ErrorWithRemedy("tensor " + tensor.name + " (" + std::string(traits(tensor.type).name) + ", rows of " +
                              grouped(k) + ") has a format that the GPU kernels do not read",
                          Remedy::Kind::kUseCpu);
  return packed_bytes_per_row(kernel_type(tensor.type), k);
}

// rows: n rows of the file. Formats that need expansion are expanded row by row, to limit memory.
void pack_tensor_rows(const TensorInfo& tensor, std::span<const std::byte> rows, uint64_t n,
                      std::span<std::byte> packed) {
  const TensorType type = kernel_type(tensor.type);
  const auto k = static_cast<uint32_t>(tensor.k());
  if (type == tensor.type) return pack_rows(type, k, n, rows, packed);
  std::vector<std::byte> row(bytes_per_row(type, k));
  const uint64_t file_bytes = rows.size() / n, packed_bytes = packed.size() / n;
  for (uint64_t i = 0; i < n; ++i) {
    expand_rows(tensor.type, rows.subspan(i * file_bytes, file_bytes), row);
    pack_rows(type, k, 1, row, packed.subspan(i * packed_bytes, packed_bytes));
  }
}

}  // namespace

uint64_t matrix_bytes(const TensorInfo& tensor) { return rounded(packed_row_bytes(tensor) * tensor.rows()); }

uint64_t vector_bytes(const TensorInfo& tensor) { return rounded(tensor.data.size()); }

uint64_t pairs_bytes(const TensorInfo* first, const TensorInfo* second) {
  const TensorInfo* any = first != nullptr ? first : second;
  return any == nullptr ? 0 : rounded(2 * any->data.size());
}

WeightUpload::WeightUpload(const Stream& stream, uint64_t total_bytes, std::function<void(double)> progress)
    : stream_(stream),
      progress_(std::move(progress)),
      memory_(stream.context(), total_bytes, "weights"),
      slots_{Slot{HostMemory(stream.context(), kStagingBytes, "loading"), GpuEvent(stream.context())},
             Slot{HostMemory(stream.context(), kStagingBytes, "loading"), GpuEvent(stream.context())}} {}

WeightUpload::~WeightUpload() {
  try {
    stream_.wait();
  } catch (const Error&) {  // a lost device no longer reads the staging memory
  }
}

uint64_t WeightUpload::allocate(uint64_t n_bytes) {
  require(used_ + rounded(n_bytes) <= memory_.n_bytes(), "uploading more weights than planned");
  const uint64_t address = memory_.address() + used_;
  used_ += rounded(n_bytes);
  return address;
}

std::span<std::byte> WeightUpload::free_slot(uint64_t n_bytes) {
  Slot& slot = slots_[next_];
  slot.done.wait();
  if (slot.memory.bytes().size() < n_bytes) slot.memory = HostMemory(stream_.context(), n_bytes, "loading");
  return slot.memory.bytes();
}

void WeightUpload::send(uint64_t to, std::span<const std::byte> staged) {
  stream_.upload(to, staged);
  stream_.record(slots_[next_].done);
  next_ = (next_ + 1) % slots_.size();
  sent_bytes_ += staged.size();
  if (progress_) progress_(std::min(1.0, static_cast<double>(sent_bytes_) / static_cast<double>(memory_.n_bytes())));
}

uint64_t WeightUpload::place_matrix(const TensorInfo& tensor) {
  const uint64_t row_bytes = packed_row_bytes(tensor);
  const uint64_t address = allocate(row_bytes * tensor.rows());
  const uint64_t rows_a_slot = std::max<uint64_t>(1, kStagingBytes / row_bytes);
  for (uint64_t row = 0; row < tensor.rows(); row += rows_a_slot) {
    const uint64_t n_rows = std::min(rows_a_slot, tensor.rows() - row);
    const std::span<std::byte> staged = free_slot(n_rows * row_bytes).first(n_rows * row_bytes);
    share_rows(n_rows, [&](uint64_t first, uint64_t n) {
      std::vector<std::byte> gathered;
      pack_tensor_rows(tensor, tensor.rows(row + first, n, gathered), n,
                       staged.subspan(first * row_bytes, n * row_bytes));
    });
    send(address + row * row_bytes, staged);
  }
  mappings_.release(tensor.data.data(), tensor.data.size());
  return address;
}

uint64_t WeightUpload::place_vector(const TensorInfo& tensor) {
  const uint64_t address = allocate(tensor.data.size());
  const std::span<std::byte> staged = free_slot(tensor.data.size()).first(tensor.data.size());
  std::memcpy(staged.data(), tensor.data.data(), staged.size());
  send(address, staged);
  return address;
}

uint64_t WeightUpload::place_pairs(const TensorInfo* first, const TensorInfo* second) {
  const uint64_t n_bytes = pairs_bytes(first, second);
  if (n_bytes == 0) return 0;
  const uint64_t address = allocate(n_bytes);
  const std::span<std::byte> staged = free_slot(n_bytes).first(n_bytes);
  std::ranges::fill(staged, std::byte{0});
  const auto place = [&](const TensorInfo* tensor, size_t at) {
    if (tensor == nullptr) return;
    for (size_t i = 0; i < tensor->data.size(); i += sizeof(float))
      std::memcpy(&staged[2 * i + at], &tensor->data[i], sizeof(float));
  };
  place(first, 0), place(second, sizeof(float));
  send(address, staged);
  return address;
}

DeviceMemory WeightUpload::finish() {
  stream_.wait();
  return std::move(memory_);
}

std::vector<PerWeight<uint64_t>> place_weights(WeightUpload& upload, const ModelTensors& tensors) {
  const auto vector = [&](const TensorInfo* tensor) { return tensor == nullptr ? 0 : upload.place_vector(*tensor); };
  const auto matrix = [&](const TensorInfo* tensor) { return tensor == nullptr ? 0 : upload.place_matrix(*tensor); };
  std::vector<PerWeight<uint64_t>> all;
  for (const LayerTensors& t : tensors.layers) {
    LayerVectors<const TensorInfo*> vectors = t.vectors;
    vectors.gate_bias = vectors.up_bias = nullptr;
    vectors.shared_expert_gate = nullptr;  // a matrix of one row for the kernels
    all.push_back(by_weight<uint64_t>(map(t.matrices, matrix), map(t.delta_matrices, matrix), map(t.experts, matrix),
                                      map(vectors, vector), map(t.delta_vectors, vector)));
    all.back()[Weight::kGateBias] = upload.place_pairs(t.vectors.gate_bias, t.vectors.up_bias);
    all.back()[Weight::kSharedExpertGate] = matrix(t.vectors.shared_expert_gate);
  }
  PerWeight<uint64_t>& outside = all.emplace_back();
  outside[Weight::kTokenEmbd] = matrix(tensors.token_embd);
  const bool is_tied = tensors.output == tensors.token_embd;
  outside[Weight::kLogits] = is_tied ? outside[Weight::kTokenEmbd] : matrix(tensors.output);
  outside[Weight::kLogitsNorm] = vector(tensors.output_norm);
  outside[Weight::kLogitsBias] = vector(tensors.output_bias);
  return all;
}

}  // namespace warpchat
