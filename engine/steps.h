// What a device (CPU, GPU) does for a decoder: it carries out the operations of a pass in order (engine/decoder.cpp),
// and owns its buffers, weights and KV cache.
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
#include "kernels/operation.h"
#include "models/model_config.h"
#include "models/token.h"

namespace warpchat {

class Decoder;
class DeviceSampler;
class Profile;
class TokenSource;
struct TokenRun;

enum class Logits { kNone, kLast, kAll };  // tokens of a run whose logits are wanted

// Maximum tokens of a run that verifies a draft.
inline constexpr uint32_t kMaxVerifyTokens = 8;

// Consecutive tokens of a sequence. A pass is a list of runs: prompt chunks and single tokens, at most one run per
// sequence. The columns of a pass are the tokens of its runs in order.
struct Run {
  uint32_t sequence;
  uint32_t position;              // first token's position
  std::span<const Token> tokens;  // at least one
  Logits wanted;
  // Draft verification: each token's result equals a single-token pass to the bit, where a device computes prompts
  // differently. At most kMaxVerifyTokens tokens, and the only run of its pass.
  bool verify_draft = false;
  uint32_t n_columns() const { return static_cast<uint32_t>(tokens.size()); }
  uint32_t n_wanted() const { return wanted == Logits::kAll ? n_columns() : wanted == Logits::kLast; }  // the last
};

// Query for a pass begun: its duration in seconds, or nullopt while it is being computed. `wait`: blocks until it is.
// Error if it failed.
using PassEnd = std::function<std::optional<double>(bool wait)>;

class Steps {
 public:
  virtual ~Steps() = default;

  virtual uint32_t max_columns() const = 0;         // in one pass: a prompt beside one token of every other sequence
  virtual uint32_t max_logits_columns() const = 0;  // whose logits one pass computes
  virtual uint32_t max_sequences() const = 0;       // each has a page table
  virtual uint32_t max_positions() const = 0;       // per sequence: the context size
  virtual std::string description() const = 0;      // for the status line: "cpu: 2 threads, AVX-512"
  // Maximum positions of each KV cache if these steps were created again in the memory available now.
  virtual uint32_t context_that_fits() const { return max_positions(); }

  // The KV cache consists of pages of kPagePositions positions (kernels/attention/kv_cache.h) of all layers. Sequences
  // may share pages that none of them writes. Initially sequence s has the pages from s * pages_of(max_positions()) on,
  // as far as they exist. Page tables and copies affect passes begun later. No token source may exist meanwhile.
  virtual uint32_t n_pages() const = 0;
  // Pages for positions 0 to 63, 64 to 127, ...: enough for the positions of the following passes.
  virtual void set_pages(uint32_t sequence, std::span<const uint32_t> pages) = 0;
  virtual void copy_page(uint32_t from, uint32_t to) = 0;

  // Recurrent states of delta-net layers; 0 without such layers. States 0 to max_sequences() - 1 belong to the
  // sequences, the rest hold checkpoints. A run continues from its sequence's state, and at position 0 from zero. After
  // an interrupted pass the states of its sequences are invalid and must be replaced.
  virtual uint32_t n_states() const { return 0; }
  virtual void copy_state(uint32_t from, uint32_t to);

  // For a profiler; callable from any thread.
  virtual Profile& profile() = 0;                                 // where steps record calls, time and bytes
  virtual std::vector<MemoryUse> memory() const = 0;              // on the device, by purpose
  virtual uint64_t weight_bytes_per_token() const = 0;            // read by a pass of one token
  virtual std::vector<KernelText> kernels() const { return {}; }  // compiled so far
  virtual bool is_gpu() const { return false; }
  virtual bool is_emulated() const { return false; }

  // Kernel launches, on a GPU.
  // For a token of each sequence, one of which is constrained or not; "": no GPU.
  virtual std::string_view launch_of(uint32_t /*n_sequences*/, bool /*is_constrained*/) const { return ""; }
  virtual bool can_launch(LaunchMode /*mode*/) const { return false; }
  // Permanent, from the next answer on. Compiles what the mode needs; Error if the mode does not work here.
  virtual void set_launch_mode(LaunchMode mode);
  virtual bool is_launch_mode_final() const { return true; }  // whether the launch mode is final

  // Whether calls and emulator counters are recorded. Initially off, because it costs an event per kernel on a GPU and
  // some speed in an emulator.
  virtual void set_measuring(bool on);

  // Callable from any thread: ends a persistent launch at its next token.
  virtual void stop_persistent_launch() {}
  // Callable from any thread: why the device is lost; empty while it works.
  virtual std::string loss() const { return ""; }
  // Marks the calling thread as dispensable: it begins passes, and may never return from a wait for a lost device.
  virtual void enter_worker_thread() {}

  // Whether drafts can be verified. A device that must compile kernels for it starts when first asked.
  virtual bool can_verify_draft() { return true; }

  // Positions are below max_positions() and in pages, sequences below max_sequences(). The tokens need not outlive the
  // call.
  virtual void begin(std::span<const Run> runs) = 0;
  // Called for each operation of text_decoder() in order. False if no wanted column is left, which ends the pass.
  virtual bool run(const Operation& operation) = 0;
  virtual PassEnd end_pass() = 0;                       // for a pass started by begin()
  virtual void wait() = 0;                              // for all passes begun; Error if one failed
  virtual DeviceSampler* sampler() { return nullptr; }  // null: logits are sampled on the host
  // A device's own way to decode tokens, e.g. without the host; null if it has none. decoder: of these steps. See
  // make_token_source.
  virtual std::unique_ptr<TokenSource> token_source(Decoder& decoder, const TokenRun& run);
  // Feeds given tokens at position, position + 1, ... of sequence 0 through that loop, and passes each one's logits
  // [n_vocab] to `take`. False if the device has none.
  virtual bool teacher_force(std::span<const Token> tokens, uint32_t position,
                             const std::function<void(std::span<const float>)>& take);
  // Copies columns first, first + 1, ... of a buffer that the last operation wrote to the host: values is [columns,
  // width of the buffer]. Excludes logits. After WantedColumns only columns with wanted logits may be read. Waits for
  // the device. False if nothing has been computed yet, e.g. while a graph is recorded.
  virtual bool read_columns(Buffer buffer, uint32_t first, std::span<float> values) = 0;
  // Replaces those columns before the next operation reads them. Also false where the device keeps no floats there.
  virtual bool write_columns(Buffer buffer, uint32_t first, std::span<const float> values) = 0;
  // Waits for the pass and copies one wanted column's logits to the host: [n_vocab], valid until begin().
  virtual std::span<const float> read_logits(uint32_t column) = 0;
};

}  // namespace warpchat
