// Source: Su et al., RoFormer (2021); interleaved pairs are (2i, 2i+1), NEOX pairs (i, i + rope_dims/2).
#include "engine/cpu/rope.h"

#include <algorithm>
#include <cmath>

#include "engine/cpu/thread_pool.h"

namespace warpchat {

RopeTable::RopeTable(const ModelConfig& config)
    : frequencies_(config.rope_frequencies), magnitude_(config.rope_magnitude), pairing_(config.rope_pairing) {}

void RopeTable::prepare(ThreadPool& pool, uint32_t position, uint32_t columns) {
  const size_t pairs = frequencies_.size();
  cosines_.resize(columns * pairs);
  sines_.resize(columns * pairs);
  constexpr uint32_t kColumnsPerTask = 16;
  pool.for_each((columns + kColumnsPerTask - 1) / kColumnsPerTask, [&](uint32_t task) {
    const uint32_t end = std::min(columns, (task + 1) * kColumnsPerTask);
    for (uint32_t column = task * kColumnsPerTask; column < end; ++column)
      for (size_t i = 0; i < pairs; ++i) {
        const double angle = frequencies_[i] * (uint64_t{position} + column);
        cosines_[column * pairs + i] = static_cast<float>(std::cos(angle) * magnitude_);
        sines_[column * pairs + i] = static_cast<float>(std::sin(angle) * magnitude_);
      }
  });
}

void RopeTable::rotate(uint32_t column, float* head) const {
  const size_t pairs = frequencies_.size();
  const float *cosine = &cosines_[column * pairs], *sine = &sines_[column * pairs];
  const size_t stride = pairing_ == RopePairing::kNeox ? 1 : 2, distance = pairing_ == RopePairing::kNeox ? pairs : 1;
  for (size_t i = 0; i < pairs; ++i) {
    float &a = head[i * stride], &b = head[i * stride + distance];
    const float rotated = a * cosine[i] - b * sine[i];
    b = a * sine[i] + b * cosine[i];
    a = rotated;
  }
}

}  // namespace warpchat
