// Whether a model fits into the memory of its device, and why.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "app/model_choice/model_choice.h"

namespace warpchat {

struct MemoryRoom {
  uint64_t bytes = 0;     // that a model may take
  bool like_gpu = false;  // it takes as much as on a GPU
  bool of_gpu = false;    // the bytes are all that a GPU has; else what this machine has left
};

// device: value of --device. spare_bytes: main memory that unloading the current model would free.
MemoryRoom memory_room(const std::string& device, uint64_t spare_bytes = 0);

// Sets `fits` and `why`. needed: bytes of memory; 0: not known.
void judge(ModelChoice& model, uint64_t needed, const MemoryRoom& room);

std::string_view word_of(FitsMemory fits);  // "fits", "too large", "cannot run"; empty: not known

// The text below its name: its purpose, and why it fits or does not.
std::string about_and_why(const ModelChoice& model);

// Estimated memory of a loaded file: weights in the decoder's format, a context and buffers. name: the file's, or the
// model's on the hub; it tells whether weights are expanded at loading.
uint64_t memory_for_file(std::string_view name, uint64_t file_bytes);

}  // namespace warpchat
