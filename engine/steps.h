// The steps of a token, as one device carries them out. engine/decoder.cpp calls them in the order of the page; a
// device (CPU, GPU) implements them and owns its buffers, weights and KV cache.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/device_report.h"
#include "engine/launch_mode.h"
#include "models/model_config.h"
#include "models/token.h"

namespace warpchat {

class Decoder;
class DeviceSampler;
class Profile;
class TokenSource;
struct TokenRun;

// A float buffer [columns, width] on the device. Only the device that handed it out can look inside.
struct Buffer {
  void* data = nullptr;
  uint32_t width = 0;
};

enum class Logits { kNone, kLast, kAll };  // of which tokens of a run

// Most tokens of a run that is computed one by one.
inline constexpr uint32_t kMostOneByOne = 8;

// Consecutive tokens of a sequence. A pass is a list of runs, chunks of prompts beside single tokens; each sequence has
// at most one in it. The columns of a pass are the tokens of its runs, one run after the other.
struct Run {
  uint32_t sequence;
  uint32_t position;              // of the first token
  std::span<const Token> tokens;  // at least one
  Logits wanted;
  // Each token gives to the bit what it gives in a pass of its own, where a device computes prompts otherwise. At most
  // kMostOneByOne tokens, and the only run of its pass.
  bool one_by_one = false;
  uint32_t n_columns() const { return static_cast<uint32_t>(tokens.size()); }
  uint32_t n_wanted() const { return wanted == Logits::kAll ? n_columns() : wanted == Logits::kLast; }  // the last ones
};

struct DeltaBuffers {
  Buffer qkv;          // [columns, channels]
  Buffer z;            // [columns, n_v_heads * head_dim]
  Buffer alpha, beta;  // [columns, n_v_heads]
  Buffer mixed;        // [columns, n_v_heads * head_dim]: their output
};

// The buffers of one pass, of at most Steps::max_columns() columns.
struct PassState {
  Buffer hidden;       // [columns, hidden]
  Buffer q;            // [columns, n_heads * head_dim]
  Buffer k, v;         // [columns, n_kv_heads * head_dim]
  Buffer mixed;        // [columns, n_heads * head_dim]: attention's output
  Buffer inner;        // [columns, ffn], of dense layers
  Buffer scores;       // [columns, n_experts]
  DeltaBuffers delta;  // of the layers that are delta nets
  Buffer logits;       // [columns whose logits are wanted, n_vocab]
};

// What the host may ask of a pass that was begun: the seconds that it took, or nothing while it is still computed. With
// `wait` it waits for it. Error if it failed.
using PassEnd = std::function<std::optional<double>(bool wait)>;

class Steps {
 public:
  virtual ~Steps() = default;

  virtual uint32_t max_columns() const = 0;         // most in one pass: a prompt beside a token of each other sequence
  virtual uint32_t max_logits_columns() const = 0;  // most whose logits one pass gives
  virtual uint32_t max_sequences() const = 0;       // each with a page table
  virtual uint32_t max_positions() const = 0;       // of a sequence: the context size
  virtual const PassState& buffers() const = 0;
  virtual std::string description() const = 0;  // for the status line: "cpu: 2 threads, AVX-512"
  // The most positions that each KV cache could have if these steps were made anew, in what memory there is now.
  virtual uint32_t context_that_fits() const { return max_positions(); }

  // The KV cache lies in pages of kPagePositions positions (kernels/kv_cache.h) of all layers, which sequences may
  // share as long as none writes into them. At first sequence s has the pages from s * pages_of(max_positions()) on, as
  // far as there are so many. What is set or copied here is so for the passes begun later. No token source may live
  // meanwhile.
  virtual uint32_t n_pages() const = 0;
  // Of positions 0 to 63, 64 to 127, ...: as many as the passes to come have positions for.
  virtual void set_pages(uint32_t sequence, std::span<const uint32_t> pages) = 0;
  virtual void copy_page(uint32_t from, uint32_t to) = 0;

  // What layers that are delta nets remember of a sequence, none where the model has no such layers. States 0 to
  // max_sequences() - 1 are the sequences' own, those behind them keep copies. A run continues from where its
  // sequence's state stands, and at position 0 from nothing. A pass that was broken off leaves the states of its
  // sequences behind as good for nothing but to be replaced.
  virtual uint32_t n_states() const { return 0; }
  virtual void copy_state(uint32_t from, uint32_t to);

  // For a profiler, from any thread.
  virtual Profile& profile() = 0;                                 // where the steps record calls, time and bytes
  virtual std::vector<MemoryUse> memory() const = 0;              // of the device, by purpose
  virtual uint64_t weight_bytes_per_token() const = 0;            // that a pass of one token has to read
  virtual std::vector<KernelText> kernels() const { return {}; }  // that have been compiled
  virtual bool is_gpu() const { return false; }
  virtual bool is_emulated() const { return false; }

  // How kernels are launched, where there is a GPU.
  virtual std::string_view launch_of(uint32_t /*n_sequences*/) const { return ""; }  // a token of each; "": no GPU
  virtual bool can_launch(LaunchMode /*mode*/) const { return false; }
  // From the next answer on, and for good. Error if the mode does not work here: what it needs is compiled now.
  virtual void set_launch_mode(LaunchMode mode);
  virtual bool has_settled() const { return true; }  // whether the launch mode will stay as it is

  // Whether calls go to the profile, and an emulator's counters: off at first, for it takes time. A GPU spends an event
  // a kernel on it, an emulator some of its speed.
  virtual void set_measuring(bool on);

  // From any thread: a launch that decodes token after token by itself ends at the next one.
  virtual void end_long_launch() {}
  // From any thread: why the device answers nothing any more, a sentence; empty: it does.
  virtual std::string loss() const { return ""; }
  // Called by a thread that passes are begun on, which others can do without: it never comes back from a device that is
  // lost while it waits for it.
  virtual void enter_worker_thread() {}

  // Whether a run may be computed one by one; a device that has to compile for it begins when it is first asked.
  virtual bool takes_one_by_one() { return true; }

  // Positions below max_positions() and in pages, sequences below max_sequences(). The tokens are not needed
  // afterwards.
  virtual void begin(std::span<const Run> runs) = 0;
  virtual void embed(Buffer hidden) = 0;
  // q, k, v = W . rmsnorm(hidden) + bias
  virtual void norm_qkv(uint32_t layer, Buffer hidden, Buffer q, Buffer k, Buffer v) = 0;
  // QK norm where the model has it, RoPE on q and k, then k and v into the layer's cache at the positions, in its
  // types; then attention: causal, grouped-query, over the cache up to each column's own position. Uses up q, k and v.
  // Where it is gated, the gates were computed beside q, and the device keeps them.
  virtual void attention(uint32_t layer, Buffer q, Buffer k, Buffer v, Buffer mixed) = 0;
  // Behind the last layer's mixer only the columns whose logits are wanted matter: the steps to come leave out others.
  // False if no column is left, which ends the pass.
  virtual bool keep_wanted(Buffer mixed, Buffer hidden) = 0;
  virtual void output_residual(uint32_t layer, Buffer mixed, Buffer hidden) = 0;  // hidden += W . mixed
  // x.qkv, z, alpha, beta = W . rmsnorm(hidden). A device without delta nets refuses their models when it is made.
  virtual void norm_delta(uint32_t layer, Buffer hidden, const DeltaBuffers& x);
  // x.qkv = its convolution over the sequence's positions, queries and keys of unit length; alpha, beta = the factors
  // that they stand for
  virtual void conv_step(uint32_t layer, const DeltaBuffers& x);
  virtual void delta_step(uint32_t layer, const DeltaBuffers& x);  // x.mixed = rmsnorm(state . query) * silu(z)
  // inner = silu(Wgate . rmsnorm(hidden)) * (Wup . rmsnorm(hidden))
  virtual void norm_gate_up(uint32_t layer, Buffer hidden, Buffer inner) = 0;
  virtual void down_residual(uint32_t layer, Buffer inner, Buffer hidden) = 0;  // hidden += W . inner
  // scores = Wrouter . rmsnorm(hidden); the device keeps which experts they choose. A device without experts refuses
  // their models when it is made.
  virtual void norm_route(uint32_t layer, Buffer hidden, Buffer scores);
  virtual void experts_residual(uint32_t layer, Buffer hidden);  // hidden += the chosen and the shared experts' outputs
  virtual void norm_logits(Buffer hidden, Buffer logits) = 0;    // of the wanted columns, if any
  virtual PassEnd end_pass() = 0;                                // of a pass that began with begin()
  virtual void wait() = 0;                                       // for the passes begun; Error if one failed
  virtual DeviceSampler* sampler() { return nullptr; }           // null: logits are sampled on the host
  // A device with ways of its own to decode tokens, such as without the host: null where it has none. decoder: these
  // steps'. See make_token_source.
  virtual std::unique_ptr<TokenSource> token_source(Decoder& decoder, const TokenRun& run);
  // Likewise given tokens at position, position + 1, ... of sequence 0, one by one, with each one's logits [n_vocab].
  // False where it does not.
  virtual bool decode_given(std::span<const Token> tokens, uint32_t position,
                            const std::function<void(std::span<const float>)>& take);
  // Copies columns first, first + 1, ... of the pass to the host, from a buffer that its last step wrote, but not from
  // the logits: values is [columns, buffer.width]. Behind keep_wanted only columns whose logits are wanted may be read.
  // Waits for what was begun. False if nothing has been computed yet, as while a graph is being recorded.
  virtual bool read_columns(Buffer buffer, uint32_t first, std::span<float> values) = 0;
  // Puts others in their place, for the next step to read. False likewise, and where the device keeps no floats there.
  virtual bool write_columns(Buffer buffer, uint32_t first, std::span<const float> values) = 0;
  // Waits for the pass and returns the logits of one of the wanted columns on the host: [n_vocab], valid until begin().
  virtual std::span<const float> read_logits(uint32_t column) = 0;
};

}  // namespace warpchat
