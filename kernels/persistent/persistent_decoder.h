// The persistent decoder: one cooperative launch that decodes many tokens. It runs a program of phases
// (phase_program.h) with the functions of the separate kernels (token_functions.h), separated by grid barriers. Results
// are bit-identical to the separate kernels': the same bodies add the same numbers in the same order. Work is assigned
// when the tables are built, not by a queue: a phase's work is known in advance and even, a queue would cost an atomic
// on the critical path of each of about 200 phases per token, and a fixed assignment lets a block prefetch its first
// weights at once. Each product's matrix gets a range of blocks in proportion to its bytes; a token's experts get equal
// parts of theirs. Other phases distribute their virtual blocks in turn. Every block routes the experts itself, which
// is faster than a barrier. A layer's table row holds its kind, on which all blocks branch alike, and for each product
// its variant and operand addresses. Each variant's code is emitted once. The logits are one more iteration of the
// layer loop, which exits after the first phase.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/persistent/phase_program.h"
#include "kernels/persistent/product_variants.h"
#include "kernels/sampling/sampling.h"

namespace warpchat {

struct PersistentSpec {
  LaunchList decoder;   // of PassKind::kDecode; caches in f16 or q8_0
  uint32_t ring = 64;   // for persistent_sampling
  bool stamps = false;  // records time stamps
};

// A product in the table: device addresses, 0 if absent.
struct ProductRow {
  static constexpr uint32_t kUnassigned = UINT32_MAX;
  uint64_t weights = 0, up = 0, gamma = 0, bias = 0, y = 0;
  uint32_t variant = 0;                              // index in the phase's ProductVariants
  uint32_t first_block = kUnassigned, n_blocks = 0;  // blocks that compute it; kUnassigned: the product is absent
  uint32_t rows = 0;
  uint32_t stride = 0, up_stride = 0;  // 16-byte units from one expert's matrix to the next
  uint32_t ahead = 0, up_ahead = 0;    // bytes of each matrix that each block prefetches: multiples of kAheadMultiple
};
static_assert(sizeof(ProductRow) == 72);

// One layer. After the last layer comes a row with only first[0], the logits' product.
struct LayerRow {
  ProductRow first[4];               // q, k, v and their gate; in a delta net qkv, z, alpha and beta
  ProductRow output, gate_up, down;  // in a layer of experts, the shared expert's gate_up and down
  ProductRow router, shared_expert_gate, expert_gate_up, expert_down;
  uint64_t k_pages = 0, v_pages = 0;
  uint64_t q_gamma = 0, k_gamma = 0;
  uint64_t conv = 0, dt_bias = 0, decay = 0, delta_norm = 0;
  uint32_t rope = 0;    // index in AttentionSpec::scatters
  uint32_t place = 0;   // index among the delta nets of the sequence's state
  PhaseSet phases = 0;  // that the layer has
};
static_assert(sizeof(LayerRow) == 872);

// Read and written by the kernel; the launcher sets token and position and zeroes the rest.
struct DecoderState {
  uint32_t token, position;  // of the current step
  uint32_t choice = 0;       // next token by the logits
  uint32_t end = 0;          // DecodeEnd
  uint32_t step = 0;         // in this launch
};

enum class DecodeEnd : uint32_t {
  kNone,       // still running
  kEndToken,   // an end token of the request was chosen
  kStopped,    // the host's stop flag
  kMaxSteps,   // the request's most_steps is reached
  kCacheFull,  // the cache has no position left
  kError,      // see the error word
};

// Input of one launch; constant while it runs.
struct DecodeRequest {
  static constexpr uint32_t kMaxEndTokens = 15;
  uint64_t page_table = 0;    // device address, of the sequence
  uint32_t n_pages = 0;       // per layer, for keys and for values
  uint32_t max_steps = 1;     // tokens to decode: at least 1, at most the slots of the token list and the rows
  uint32_t n_forced = 0;      // tokens in the queue, which then starts with the state's token
  uint32_t returns_rows = 0;  // 1: return the logits of every step
  uint32_t n_end_tokens = 0, end_tokens[kMaxEndTokens] = {};
  uint64_t delta_state = 0;  // device address, of the sequence; with delta nets
};
static_assert(sizeof(DecodeRequest) == 96);

// Mapped host memory. Each word has one writer; host and device write to different 128-byte lines.
struct HostWords {
  uint32_t stop = 0;  // host: 1 ends the launch within one token
  uint32_t unused[31] = {};
  uint32_t end = 0;  // device: DecodeEnd, after the last token
  uint32_t unused_too[31] = {};
  // The token list follows, u64 [most_steps]: token | number << 32; numbers count the launch's tokens from 1.
};
static_assert(sizeof(HostWords) == 256);

// Accesses one of these words, or of the list, from the host while the kernel runs.
template <class T>
T read_host_word(const T& word) {
  return std::atomic_ref(const_cast<T&>(word)).load(std::memory_order_acquire);
}
template <class T>
void write_host_word(T& word, T value) {
  std::atomic_ref(word).store(value, std::memory_order_release);
}

struct Stamp {
  uint64_t time;   // %globaltimer, nanoseconds
  uint32_t phase;  // index in decoder_program(), plus kEndOfPhase at the phase's end
  uint32_t sm;
};
inline constexpr uint32_t kEndOfPhase = 1u << 31;
static_assert(sizeof(Stamp) == 16);

// Stamps per block, for blocks below n_blocks: a count, then a ring of n_slots.
struct StampRequest {
  uint32_t n_blocks = 0, n_slots = 0;  // n_slots: at least 1 if n_blocks is not 0
};

// Name: persistent_decoder_l36_h2048_v151936_s32768; "_r64" for the ring, "_stamps", and a hash of the kernels.
// Parameters in order:
//   layers         LayerRow [n_layers + 1], 16-byte aligned
//   token_embd     packed as for gemv
//   hidden, q, k, v, mixed, inner, logits  f32: one column of these buffers (operation.h)
//   q_gate         f32, only if attention is gated
//   qkv, z, alpha, beta, delta_mixed  f32, only with delta nets
//   scores, expert_inner, expert_outputs  f32 [n], [n_used, ffn], [n_used, hidden], only with experts
//   routes        u8 [route_bytes], only with experts
//   shared_inner, shared_output, shared_expert_gate  f32, only with a shared expert
//   scratch       of incremental attention, zeroed
//   sampler       state of the sampler persistent_sampling(spec)
//   error         u32 [4]: kernels/common/error_word.h; an input out of range ends the launch
//   barrier        u64, zero, alone in 128 bytes
//   state          DecoderState
//   request        DecodeRequest
//   forced        u32 [n_forced]: tokens of the first steps, which replace choices
//   host          HostWords and the token list, at their device address
//   rows          f32 [most_steps, n_vocab]: logits of each step; written only if the request asks for them
//   blocks         u32: the grid's
//   stamps         with spec.stamps: for each stamped block u32 count (from 0), padded to 16 bytes, and Stamp [n_slots]
//   stamped_blocks, stamp_slots  u32, with spec.stamps: StampRequest
// Launch: cooperative, at most as many blocks as are resident at once; the table rows refer to blocks of that grid.
// Step i (from 0) returns the next token as number i + 1: the forced token, or the choice. The launch ends after the
// first step with a reason to end. It reports the lowest reason in DecodeEnd, except that an error comes first. It
// never waits for the host, whose calls a driver may block until the launch ends.
ptx::Kernel persistent_decoder(const PersistentSpec& spec, ptx::Target target);
// The buffer behind a parameter from `hidden` to `scratch`, or `error`.
Buffer persistent_buffer(std::string_view parameter);
SampleSpec persistent_sampling(const PersistentSpec& spec);  // one column, sampled by this kernel's blocks
std::string name_of(const PersistentSpec& spec);
inline constexpr uint32_t kPersistentThreads = 512;
inline constexpr uint32_t kPersistentBlocksPerSm = 1;  // 128 registers per thread
// Bytes that all blocks together prefetch of a phase's weights, or of keys and values, before waiting for the previous
// phase: what a large GPU reads while blocks wait and prepare their input, and at most half of its L2.
inline constexpr uint64_t kMaxBytesAhead = 8 << 20;
inline constexpr uint32_t kAheadMultiple = kPersistentThreads / 32 * 32;  // one sector per warp

// Per block: the token's experts, u32 [n_used], and their weights, f32 [n_used].
uint64_t route_bytes(const LaunchList& list, uint32_t n_blocks);

// Teams per block, for a body with this much shared memory.
uint32_t persistent_attention_teams(uint32_t shared_bytes, ptx::Target target);

// Gives each of these concurrent products a range of the grid's blocks in proportion to its bytes. With fewer blocks
// than products, each product gets all blocks, one after the other.
void share_blocks(std::span<ProductRow* const> rows, std::span<const uint64_t> bytes, uint32_t n_blocks);

}  // namespace warpchat
