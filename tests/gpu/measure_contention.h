// Which driver calls wait for a running kernel. A call that waits until the device is idle, and holds the context
// meanwhile, blocks the thread that reads tokens from the persistent decoder. Then the decoder never ends.
#pragma once
#include <cstdint>
#include <string>

namespace warpchat {

// Every call alone and beside a kernel that runs for a fixed time: its own duration, and how long it delays other calls
// of the context. The kernel ends by itself, so nothing can hang.
void measure_contention(const std::string& device);

// The persistent decoder generates n_tokens in one launch. After a quarter of them, another thread makes one call
// ("none", "load", "allocate" or "query"). Reports the longest gap between two tokens. May hang, depending on the
// driver; then the caller ends the process.
void measure_decoder_contention(const std::string& device, const std::string& shape, const std::string& call,
                                uint32_t n_tokens);

// For profilers: a prefill, then n_tokens in one launch of the persistent decoder. The host reads tokens only after its
// end, because a profiler makes launches synchronous. n_tokens: at most PersistentLaunch::kSlots.
void decode_once(const std::string& device, const std::string& shape, uint32_t n_prompt, uint32_t n_tokens);

}  // namespace warpchat
