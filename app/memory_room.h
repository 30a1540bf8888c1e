// Whether a model fits into the memory of its device, and why.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "app/desk/desk_state.h"

namespace warpchat {

struct MemoryRoom {
  uint64_t bytes = 0;     // that a model may take
  bool like_gpu = false;  // it takes as much as on a GPU
  bool of_gpu = false;    // the bytes are all that a GPU has; else what this machine has left
};

// device: as --device says it. spare_bytes: of main memory that would be given back, by the model that is loaded.
MemoryRoom memory_room(const std::string& device, uint64_t spare_bytes = 0);

// Sets `fits` and `why`. needed: bytes of memory; 0: not known.
void judge(ModelChoice& model, uint64_t needed, const MemoryRoom& room);

// The text below its name: its purpose, and why it fits or does not.
std::string about_and_why(const ModelChoice& model);

// What a file takes once it is loaded, roughly: weights as the decoder holds them, a context and buffers. name: of the
// file, or of the model on a hub; it says whether weights are expanded as they are loaded.
uint64_t memory_for_file(std::string_view name, uint64_t file_bytes);

}  // namespace warpchat
