// Host side of the persistent decoder: one launch decodes tokens of a sequence until it is stopped, meets an end token,
// or has decoded the requested number.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/driver/module.h"
#include "kernels/common/error_word.h"
#include "kernels/persistent/persistent_tables.h"
#include "models/token.h"

namespace warpchat {

class PersistentLaunch {
 public:
  // Compiles the kernel on any thread where the context is current. DriverError if the driver refuses it.
  static std::unique_ptr<Module> compile(const ContextPointer& context, const PersistentSpec& spec);

  // Fills the kernel's tables. module: compiled from that spec. at: addresses must stay valid. stream: runs the
  // launches; nothing else may use the activations meanwhile. Error if the device cannot hold all blocks at once.
  PersistentLaunch(const Stream& stream, const PersistentSpec& spec, const PassAddresses& at,
                   std::unique_ptr<Module> module);
  PersistentLaunch(const PersistentLaunch&) = delete;
  ~PersistentLaunch();  // stops a running launch and waits

  // The host buffer holds all tokens of a launch, so that the kernel never waits for the host.
  static constexpr uint32_t kMaxTokens = 1024, kMaxTokensWithRows = 32;

  struct Request {
    Token token = 0;  // first token to decode, at `position`
    uint32_t position = 0;
    // Limited to kMaxTokens, or kMaxTokensWithRows. Must be small enough for a device's watchdog.
    uint32_t max_tokens = kMaxTokens;
    std::span<const Token> forced = {};      // first tokens, including `token`, instead of sampled ones
    std::span<const Token> end_tokens = {};  // at most DecodeRequest::kMaxEndTokens; returned before the end
    bool returns_rows = false;               // also returns every token's logits
    SamplerState sampler = {};               // default: argmax
    std::span<const Token> recent = {};      // tokens that the sampler's penalties count, oldest first
    uint64_t page_table = 0;                 // device address of the sequence's table, for all positions of the launch
    uint64_t delta_state = 0;                // device address, with delta nets: state before `position`
    StampRequest stamps = {};                // blocks that record time, at most all; needs the spec's stamps
  };
  // Returns once pending loads (DeviceGate) are done and the kernel is launched. No launch may be running: since the
  // last start, next() has returned nullopt or thrown.
  void start(const Request& request);

  // Waits for the next token; nullopt after the last. A load on another thread ends the launch early. Calls no driver
  // before the launch has ended, except once in a long silence. Error for a token or position out of range or
  // non-finite logits, DriverError if the device fails, DeviceLost if a token takes too long. Each ends the launch: a
  // working device stops within a token.
  std::optional<Token> next();
  // Logits from which that token was sampled, or would have been: [n_vocab], valid until the next start.
  std::span<const float> row() const;
  void stop();  // thread-safe; at most one more token is decoded, and next() still returns all
  void cut();   // stops and discards unread tokens; throws like next()

  bool is_running() const { return is_running_; }
  DecodeEnd end() const { return end_; }                          // why the last launch ended
  uint32_t n_stamped() const { return stamp_request_.n_blocks; }  // blocks that recorded time in the last launch
  std::vector<std::vector<Stamp>> stamps() const;                 // per block, oldest first; limited by ring size
  uint32_t n_blocks() const { return n_blocks_; }
  const LoadedKernel& kernel() const { return module_->kernel(0); }

 private:
  struct Offsets {  // in control_
    uint64_t barrier, state, request, layers, n_bytes;
  };
  void place_request(const Request& request);
  void place_stamp_request(StampRequest request);
  void launch();
  std::optional<Token> try_next();  // nullopt if not written yet
  void check_alive();               // throws if the launch ended without reporting it, or takes too long
  [[noreturn]] void give_up();      // rethrows the current exception
  void finish();
  uint32_t n_vocab() const { return spec_.decoder.first<EmbeddingSpec>()->n_vocab; }
  HostWords& words() const { return *reinterpret_cast<HostWords*>(host_.bytes().data()); }

  const Stream& stream_;
  PersistentSpec spec_;
  PassAddresses at_;
  std::unique_ptr<Module> module_;
  uint32_t n_blocks_;
  Offsets offsets_;
  DeviceMemory control_, sampler_, forced_, stamps_, routes_;
  HostMemory host_, rows_;
  GpuEvent done_;
  StampRequest stamp_request_;
  std::optional<DeviceGate::LongLaunch> turn_;  // held while a launch runs
  AwakeTimer silence_;
  bool was_asked_ = false;  // the driver was queried during this silence
  uint64_t n_returned_ = 0;
  bool is_running_ = false, returns_rows_ = false;
  DecodeEnd end_ = DecodeEnd::kNone;
};

}  // namespace warpchat
