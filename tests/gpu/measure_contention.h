// Which calls of the driver wait for a running kernel. One that waits until the device is idle, and holds the context
// meanwhile, stops the thread that reads tokens from the persistent decoder, which then never ends.
#pragma once
#include <cstdint>
#include <string>

namespace warpchat {

// Every call alone and beside a kernel that runs for a fixed time: how long it takes, and how long other calls of the
// context wait meanwhile. The kernel ends by itself, so that nothing here can hang.
void measure_contention(const std::string& device);

// The persistent decoder, n_tokens in one launch, and one call ("none", "load", "allocate" or "query") on another
// thread once a quarter has come: a row with the longest gap between two tokens. May hang where the driver makes it;
// the caller ends the process then.
void measure_decoder_contention(const std::string& device, const std::string& shape, const std::string& call,
                                uint32_t n_tokens);

// For a profiler to watch: a prompt, and n_tokens in one launch of the persistent decoder, of which the host takes none
// before its end, as a profiler makes launches wait. n_tokens: at most PersistentLaunch::kSlots.
void decode_once(const std::string& device, const std::string& shape, uint32_t n_prompt, uint32_t n_tokens);

}  // namespace warpchat
