// The persistent decoder: one cooperative launch that decodes many tokens, a program of phases (phase_program.h) over
// the bodies of the separate kernels (bodies.h), with a grid barrier between phases. Results are those of the separate
// kernels to the bit: the same bodies add the same numbers in the same order, whoever runs them.
// Who does what is settled when the tables are built, not taken from a queue: a phase's work is known in advance and
// even, a queue would cost an atomic on the critical path of each of some 200 phases a token, and a fixed share lets a
// block ask for its first weights without asking anybody. Products give each matrix a range of blocks in proportion to
// its bytes, and the experts that a token goes through equal parts of theirs; the other phases deal their virtual
// blocks out in turn. Which experts those are, every block finds for itself among the scores: it takes less than a
// barrier. Every layer's row of a table says of what kind the layer is, which all blocks branch by alike, and names,
// for each product, which of the phase's variants computes it and where its operands are. Each variant's code stands in
// the text once; the logits are one more round of the loop over the layers, which ends behind the first phase.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/phase_program.h"
#include "kernels/product_variants.h"
#include "kernels/sampling.h"

namespace warpchat {

struct PersistentSpec {
  DecoderSpecs decoder;  // of PassKind::kToken, as decoder_kernels takes them; caches in f16 or q8_0
  uint32_t ring = 64;    // of persistent_sampling
  bool stamps = false;   // keeps time
};

// A product of the table: device addresses, 0 for what it has not.
struct ProductRow {
  static constexpr uint32_t kNobody = UINT32_MAX;
  uint64_t weights = 0, up = 0, gamma = 0, bias = 0, y = 0;
  uint32_t variant = 0;                          // of the phase's, as product_variants has them
  uint32_t first_block = kNobody, n_blocks = 0;  // who computes it; kNobody: there is no such product
  uint32_t rows = 0;
  uint32_t stride = 0, up_stride = 0;  // 16-byte units from an expert's matrices to the next one's
  uint32_t ahead = 0, up_ahead = 0;    // bytes of each matrix that each of its blocks asks for ahead: of kAheadMultiple
};
static_assert(sizeof(ProductRow) == 72);

// Of a layer; behind the last one's stands a row of the logits' product, as the first, alone.
struct LayerRow {
  ProductRow first[4];               // q, k, v and their gate; of a delta net qkv, z, alpha and beta
  ProductRow output, gate_up, down;  // of a layer of experts the shared one's
  ProductRow router, shared_switch, expert_gate_up, expert_down;
  uint64_t k_pages = 0, v_pages = 0;
  uint64_t q_gamma = 0, k_gamma = 0;
  uint64_t conv = 0, dt_bias = 0, decay = 0, delta_norm = 0;
  uint32_t rope = 0;   // of DecoderSpecs::kv_scatters
  uint32_t place = 0;  // of a delta net among those of the sequence's state
  uint32_t parts = 0;  // 1 << LayerPart for each that it has
};
static_assert(sizeof(LayerRow) == 872);

// Read and written by the kernel; the launcher sets token and position, and zeros the rest.
struct DecoderState {
  uint32_t token, position;  // of the step under way
  uint32_t choice = 0;       // the next token by the logits
  uint32_t end = 0;          // DecodeEnd
  uint32_t step = 0;         // of the launch
};

enum class DecodeEnd : uint32_t {
  kNone,       // it goes on
  kEndToken,   // one of the request's end tokens was chosen
  kStopped,    // the host's stop flag
  kMostSteps,  // the request's
  kNoRoom,     // no position is left in the cache
  kError,      // the error word says which
};

// What one launch is asked for; constant while it runs.
struct DecodeRequest {
  static constexpr uint32_t kMostEndTokens = 15;
  uint64_t page_table = 0;    // device address of the sequence's
  uint32_t n_pages = 0;       // of each layer's keys, and of its values
  uint32_t most_steps = 1;    // tokens to decode; at least 1, and no more than the list has slots, and the rows
  uint32_t n_forced = 0;      // tokens of the queue, which then begins with the state's token
  uint32_t returns_rows = 0;  // 1: the logits of every step
  uint32_t n_end_tokens = 0, end_tokens[kMostEndTokens] = {};
  uint64_t delta_state = 0;  // device address of the sequence's, with delta nets
};
static_assert(sizeof(DecodeRequest) == 96);

// Mapped host memory. Each word has one writer; host and device write to different lines of 128 bytes.
struct HostWords {
  uint32_t stop = 0;  // host: 1 ends the launch within a token
  uint32_t unused[31] = {};
  uint32_t end = 0;  // device: DecodeEnd, after the last token
  uint32_t unused_too[31] = {};
  // behind it the list of tokens, u64 [most_steps]: token | number << 32 for the number-th one of the launch, from 1
};
static_assert(sizeof(HostWords) == 256);

// One of these words or of the list, as the host reads and writes it while the kernel runs.
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
  uint32_t phase;  // index in decoder_program(), with kEndOfPhase when its work is done
  uint32_t sm;
};
inline constexpr uint32_t kEndOfPhase = 1u << 31;
static_assert(sizeof(Stamp) == 16);

// Stamps of a block: a ring of n_slots behind a count, for the blocks below n_blocks.
struct StampRequest {
  uint32_t n_blocks = 0, n_slots = 0;  // n_slots: at least 1 if n_blocks is not 0
};

// Name: persistent_decoder_l36_h2048_v151936_s32768, "_r64" for the ring, "_stamps", and a hash of what the kernels
// are. Parameters in order:
//   layers         LayerRow [n_layers + 1], 16-byte aligned
//   token_embd     packed as for gemv
//   hidden, q, k, v, mixed, inner, logits  f32: of one column, as PassState in engine/steps.h
//   q_gate         f32, only if attention is gated
//   qkv, z, alpha, beta, delta_mixed  f32, only with delta nets
//   scores, expert_inner, expert_outputs  f32 [n], [n_used, ffn], [n_used, hidden], only with experts
//   routes         u8 [route_bytes], likewise
//   shared_inner, shared_output, shared_switch  f32, only with a shared expert
//   scratch        of incremental attention, zeros
//   sampler        the sampler's state, of persistent_sampling(spec)
//   error          u32 [4]: kernels/error_word.h; what is out of range ends the launch
//   barrier        u64, zero, alone in 128 bytes
//   state          DecoderState
//   request        DecodeRequest
//   forced         u32 [n_forced]: tokens of the first steps, in place of choices
//   host           HostWords and the list of tokens, which the device sees at this address
//   rows           f32 [most_steps, n_vocab]: of each step; touched only if the request asks for them
//   stamps         with spec.stamps: StampRequest, padded to 16 bytes, then for each of its blocks u32 count (from 0),
//                  padded to 16 bytes, and Stamp [n_slots]
// Launch: cooperative, as many blocks as are resident together or fewer; the rows name blocks of that grid. Of step i
// (from 0) the kernel returns the next token as number i + 1: the forced one, or the choice. It ends after the first
// step that gives a reason; the reason of lowest rank in DecodeEnd is told, but an error before all others. It waits
// for nothing that the host does: a driver may hold the host's calls until the launch has ended.
ptx::Kernel persistent_decoder(const PersistentSpec& spec, ptx::Target target);
SampleSpec persistent_sampling(const PersistentSpec& spec);  // of one column, by the blocks of this kernel
std::string name_of(const PersistentSpec& spec);
inline constexpr uint32_t kPersistentThreads = 512;
inline constexpr uint32_t kPersistentBlocksPerSm = 1;  // 128 registers a thread
// Of the weights of a phase's products, or of keys and values, what its blocks together ask for before they wait for
// the phase before it: as much as a large GPU reads while they wait and make their input ready, and no more than half
// of the second-level cache.
inline constexpr uint64_t kMaxBytesAhead = 8 << 20;
inline constexpr uint32_t kAheadMultiple = kPersistentThreads / 32 * 32;  // a sector a warp

// The kinds of its layers, and the program that it runs.
std::vector<LayerKind> layer_kinds(const DecoderSpecs& specs);
PhaseProgram decoder_program(const DecoderSpecs& specs);
// Where each block keeps who the token's experts are, u32 [n_used], and their weights, f32 [n_used].
uint64_t route_bytes(const DecoderSpecs& specs, uint32_t n_blocks);

// Of a block, for a body with so much shared memory.
uint32_t persistent_attention_teams(uint32_t shared_bytes, ptx::Target target);

// Gives each of these products, which run at the same time, a range of the grid's blocks in proportion to its bytes, or
// all blocks to each in turn where there are fewer than products.
void share_blocks(std::span<ProductRow* const> rows, std::span<const uint64_t> bytes, uint32_t n_blocks);

}  // namespace warpchat
