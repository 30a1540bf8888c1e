#include "models/weight_check.h"

#include <algorithm>
#include <atomic>

#include "models/dequantise.h"
#include "models/text_format.h"
#include "models/threads.h"

namespace warpchat {
namespace {

constexpr size_t kChunkBytes = 1 << 20;  // large against the scheduling overhead, small against a tensor

struct Chunk {
  const TensorInfo* tensor;
  std::span<const std::byte> blocks;  // whole blocks
};

std::vector<Chunk> chunks_of(const GgufFile& file, const std::function<bool(const TensorInfo&)>& concerns) {
  std::vector<Chunk> chunks;
  for (const TensorInfo& tensor : file.tensors()) {
    if (concerns && !concerns(tensor)) continue;
    const size_t block_bytes = traits(tensor.type).block_bytes;
    const size_t step = kChunkBytes / block_bytes * block_bytes;
    for (size_t at = 0; at < tensor.data.size(); at += step)
      chunks.push_back({&tensor, tensor.data.subspan(at, std::min(step, tensor.data.size() - at))});
  }
  return chunks;
}

}  // namespace

void check_scales(const TensorInfo& tensor, std::span<const std::byte> blocks) {
  if (scales_are_finite(tensor.type, blocks)) return;
  throw Error("cannot load " + printable(tensor.file, 4096) + ": tensor " + printable(tensor.name) +
              " holds a scale or weight that is not a finite number; download the file again");
}

void check_scales(const GgufFile& file, const std::function<bool(const TensorInfo&)>& concerns) {
  const std::vector<Chunk> chunks = chunks_of(file, concerns);
  std::atomic<size_t> next = 0, first_bad = chunks.size();  // first_bad: in file order, whatever thread finds it
  const auto work = [&] {
    for (size_t i = next++; i < std::min(chunks.size(), first_bad.load()); i = next++) {
      if (scales_are_finite(chunks[i].tensor->type, chunks[i].blocks)) continue;
      size_t known = first_bad;
      while (i < known && !first_bad.compare_exchange_weak(known, i)) {
      }
    }
  };
  run_on_threads(std::min<size_t>(std::thread::hardware_concurrency(), chunks.size()), work);
  if (first_bad < chunks.size()) check_scales(*chunks[first_bad].tensor, chunks[first_bad].blocks);
}

}  // namespace warpchat
