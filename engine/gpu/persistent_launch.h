// The persistent decoder as the host sees it: tokens of one sequence come out of a launch that goes on by itself until
// it is stopped, meets an end token, or has done what it was asked for.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/driver/module.h"
#include "kernels/error_word.h"
#include "kernels/persistent_tables.h"
#include "models/token.h"

namespace warpchat {

class PersistentLaunch {
 public:
  // The kernel, on any thread that the context is current on. DriverError if the driver refuses it.
  static std::unique_ptr<Module> compile(const ContextPointer& context, const PersistentSpec& spec);

  // Fills the kernel's tables. module: compiled of that spec. at: must stay where it is as long as this object. stream:
  // where the launches take their turn; nothing else may use the activations meanwhile. Error if the device cannot hold
  // the launch's blocks at once.
  PersistentLaunch(const Stream& stream, const PersistentSpec& spec, const DecoderAddresses& at,
                   std::unique_ptr<Module> module);
  PersistentLaunch(const PersistentLaunch&) = delete;
  ~PersistentLaunch();  // stops a launch under way, and waits

  // The host has room for all tokens of a launch, so that a launch waits for nothing.
  static constexpr uint32_t kMaxTokens = 1024, kMaxTokensWithRows = 32;

  struct Request {
    Token token = 0;  // the first to decode, at `position`
    uint32_t position = 0;
    // That come out, but at most kMaxTokens, or kMaxTokensWithRows; where the device has a watchdog, few enough for its
    // patience.
    uint32_t most_tokens = kMaxTokens;
    std::span<const Token> forced = {};      // the first tokens, `token` among them, in place of choices
    std::span<const Token> end_tokens = {};  // at most DecodeRequest::kMostEndTokens; each comes out before the end
    bool returns_rows = false;               // the logits of every token, too
    SamplerState sampler = {};               // as it is: the best logit
    std::span<const Token> recent = {};      // that the sampler's penalties count, oldest first
    uint64_t page_table = 0;                 // device address of the sequence's, for all positions to come
    uint64_t delta_state = 0;                // likewise, with delta nets: after the positions before `position`
    StampRequest stamps = {};                // with the spec's stamps: blocks that keep time, all of them at most
  };
  // Waits for loads under way (DeviceGate), and returns then. No launch may be under way: next() has returned nothing,
  // or thrown, since the last start.
  void start(const Request& request);

  // The next token, once it is there; nothing after the last, which comes earlier than asked for where somebody else
  // wants the device. Calls no driver before the launch has ended, but once in a long silence. Error for a token or
  // position out of range, or logits that are no numbers; DriverError if the device fails, DeviceLost if a token takes
  // too long, which end the launch: a device that lives on, too, lets go of it within a token.
  std::optional<Token> next();
  // The logits from which that token was chosen, or would have been: [n_vocab], until the next start.
  std::span<const float> row() const;
  void stop();  // from any thread: at most one token more is decoded, and next() still returns what was
  void cut();   // stops, and drops what has not been taken; throws as next() does

  bool is_running() const { return is_running_; }
  DecodeEnd end() const { return end_; }                          // why the last launch ended
  uint32_t n_stamped() const { return stamp_request_.n_blocks; }  // blocks that kept time of the last launch
  std::vector<std::vector<Stamp>> stamps() const;  // of each of them, oldest first; their rings keep the last ones
  uint32_t n_blocks() const { return n_blocks_; }
  const LoadedKernel& kernel() const { return module_->kernel(0); }

 private:
  struct Offsets {  // into control_
    uint64_t barrier, state, request, layers, n_bytes;
  };
  void place_request(const Request& request);
  void place_stamp_request(StampRequest request);
  void launch();
  std::optional<Token> take();  // if it is there
  void check_alive();           // throws if the launch is over without having said so, or lasts too long
  [[noreturn]] void give_up();  // rethrows the error under way
  void finish();
  HostWords& words() const { return *reinterpret_cast<HostWords*>(host_.bytes().data()); }

  const Stream& stream_;
  PersistentSpec spec_;
  DecoderAddresses at_;
  std::unique_ptr<Module> module_;
  uint32_t n_blocks_;
  Offsets offsets_;
  DeviceMemory control_, sampler_, forced_, stamps_, routes_;
  HostMemory host_, rows_;
  GpuEvent done_;
  StampRequest stamp_request_;
  std::optional<DeviceGate::LongLaunch> turn_;  // of the launch under way
  AwakeTimer silence_;
  bool was_asked_ = false;  // the driver, in this silence
  uint64_t n_returned_ = 0;
  bool is_running_ = false, returns_rows_ = false;
  DecodeEnd end_ = DecodeEnd::kNone;
};

}  // namespace warpchat
