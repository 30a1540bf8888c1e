#include "engine/gpu/persistent_launch.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <thread>

#include "engine/remedy.h"

namespace warpchat {
namespace {

constexpr uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

std::vector<uint32_t> ids(std::span<const Token> tokens) { return {tokens.begin(), tokens.end()}; }

template <class T>
void append(std::vector<std::byte>& bytes, std::span<const T> values, uint64_t at) {
  bytes.resize(std::max(bytes.size(), static_cast<size_t>(at + values.size_bytes())));
  if (!values.empty()) std::memcpy(bytes.data() + at, values.data(), values.size_bytes());
}

uint64_t block_bytes(const StampRequest& request) { return 16 + uint64_t{request.n_slots} * sizeof(Stamp); }

// A block's ring buffer of stamps, oldest first.
std::vector<Stamp> unrolled(std::span<const std::byte> ring, uint32_t n_slots) {
  uint32_t count = 0;
  std::memcpy(&count, ring.data(), sizeof count);
  std::vector<Stamp> stamps(std::min(count, n_slots));
  for (uint32_t i = 0; i < stamps.size(); ++i) {
    const uint32_t slot = (count - static_cast<uint32_t>(stamps.size()) + i) % n_slots;
    std::memcpy(&stamps[i], ring.data() + 16 + slot * sizeof(Stamp), sizeof(Stamp));
  }
  return stamps;
}

}  // namespace

std::unique_ptr<Module> PersistentLaunch::compile(const ContextPointer& context, const PersistentSpec& spec) {
  std::vector<ptx::Kernel> kernels;
  kernels.push_back(persistent_decoder(spec, context->device().target()));
  return std::make_unique<Module>(context, std::move(kernels));
}

PersistentLaunch::PersistentLaunch(const Stream& stream, const PersistentSpec& spec, const PassAddresses& at,
                                   std::unique_ptr<Module> module)
    : stream_(stream),
      spec_(spec),
      at_(at),
      module_(std::move(module)),
      n_blocks_(module_->kernel(0).resident_blocks(*stream.context())),
      done_(stream.context()) {
  const ContextPointer& context = stream.context();
  if (n_blocks_ == 0 || !context->device().can_cooperate)
    throw ErrorWithRemedy("the GPU cannot run the persistent decoder, whose blocks must all be resident",
                          Remedy::Kind::kLaunchGraph);
  const uint64_t n_layers = spec.decoder.layers.size();
  offsets_ = {0, 128, 256, 384, 384 + (n_layers + 1) * sizeof(LayerRow)};
  control_ = DeviceMemory(context, offsets_.n_bytes, "the persistent decoder");
  sampler_ = DeviceMemory(context, sampler_state_stride(persistent_sampling(spec)), "the sampler");
  forced_ = DeviceMemory(context, sizeof(uint32_t), "forced tokens");
  if (const uint64_t n_bytes = route_bytes(spec.decoder, n_blocks_); n_bytes > 0)
    routes_ = DeviceMemory(context, n_bytes, "routing results");
  host_ = HostMemory(context, sizeof(HostWords) + kMaxTokens * sizeof(uint64_t), "tokens");
  if (spec.stamps) stamps_ = DeviceMemory(context, 16, "time stamps");
  const uint64_t bytes_ahead = std::min(kMaxBytesAhead, context->device().l2_bytes / 2);
  const std::vector<LayerRow> rows = layer_rows(spec_.decoder, at_, n_blocks_, bytes_ahead);
  stream_.upload(control_.address() + offsets_.layers, std::as_bytes(std::span(rows)));
  stream_.wait();
}

PersistentLaunch::~PersistentLaunch() {
  stop();
  try {
    stream_.context()->make_current();
    stream_.wait();         // for an abandoned launch, too
  } catch (const Error&) {  // the result is not needed
  }
}

// Uploads everything that the kernel reads and a previous launch may have changed.
void PersistentLaunch::place_request(const Request& r) {
  require(r.end_tokens.size() <= DecodeRequest::kMaxEndTokens, "persistent launch with too many end tokens");
  DecodeRequest request{.page_table = r.page_table,
                        .n_pages = at_.n_pages,
                        .max_steps = std::min(r.max_tokens, r.returns_rows ? kMaxTokensWithRows : kMaxTokens),
                        .n_forced = static_cast<uint32_t>(r.forced.size()),
                        .returns_rows = r.returns_rows,
                        .n_end_tokens = static_cast<uint32_t>(r.end_tokens.size()),
                        .delta_state = r.delta_state};
  std::copy(r.end_tokens.begin(), r.end_tokens.end(), request.end_tokens);
  const DecoderState state{static_cast<uint32_t>(r.token), r.position};
  std::vector<std::byte> control;
  append(control, std::span(&state, 1), offsets_.state);
  append(control, std::span<const DecodeRequest>(&request, 1), offsets_.request);
  stream_.upload(control_.address(), control);  // also zeroes the barrier
  const std::vector<uint32_t> forced = ids(r.forced), recent = ids(r.recent);
  if (forced_.n_bytes() < forced.size() * sizeof(uint32_t)) {
    forced_ = DeviceMemory();
    forced_ = DeviceMemory(stream_.context(), forced.size() * sizeof(uint32_t), "forced tokens");
  }
  if (!forced.empty()) stream_.upload(forced_.address(), std::as_bytes(std::span(forced)));
  const std::vector<uint8_t> sampler = packed_sampler_state(persistent_sampling(spec_), r.sampler, recent);
  stream_.upload(sampler_.address(), std::as_bytes(std::span(sampler)));
  if (spec_.stamps) place_stamp_request(r.stamps);
  stream_.fill(at_[Buffer::kError], 0, sizeof(ErrorWord));
  stream_.wait();  // until the host copies may be freed
}

void PersistentLaunch::place_stamp_request(StampRequest request) {
  request.n_blocks = std::min(request.n_blocks, n_blocks_);
  stamp_request_ = {};
  const uint64_t n_bytes = request.n_blocks * block_bytes(request);
  if (stamps_.n_bytes() < n_bytes) {
    stamps_ = DeviceMemory();
    stamps_ = DeviceMemory(stream_.context(), n_bytes, "time stamps");
  }
  stamp_request_ = request;
  stream_.fill(stamps_.address(), 0, n_bytes);  // zeroes the counts
}

void PersistentLaunch::start(const Request& request) {
  require(!is_running_ && request.max_tokens > 0, "persistent launch while another runs, or for no token");
  stream_.context()->make_current();
  const uint64_t row_bytes = uint64_t{n_vocab()} * sizeof(float);
  returns_rows_ = request.returns_rows;
  if (returns_rows_ && rows_.bytes().empty())
    rows_ = HostMemory(stream_.context(), kMaxTokensWithRows * row_bytes, "logits");
  place_request(request);
  std::ranges::fill(host_.bytes().subspan(sizeof(HostWords)), std::byte{0});
  write_host_word(words().end, 0u);
  write_host_word(words().stop, 0u);
  n_returned_ = 0;
  end_ = DecodeEnd::kNone;
  is_running_ = true;
  try {
    turn_.emplace(
        stream_.context()->gate(), [this] { stop(); }, [this] { return read_host_word(words().end) != 0; });
    launch();
  } catch (const Error&) {
    give_up();
  }
  silence_.restart();
  was_asked_ = false;
}

void PersistentLaunch::launch() {
  const std::map<std::string_view, uint64_t> own = {
      {"layers", control_.address() + offsets_.layers},
      {"token_embd", at_.weights.back()[Weight::kTokenEmbd]},
      {"routes", routes_.address()},
      {"sampler", sampler_.address()},
      {"barrier", control_.address() + offsets_.barrier},
      {"state", control_.address() + offsets_.state},
      {"request", control_.address() + offsets_.request},
      {"forced", forced_.address()},
      {"host", host_.device_address()},
      {"rows", returns_rows_ ? rows_.device_address() : host_.device_address()},
      {"stamps", stamps_.address()}};
  const LoadedKernel& kernel = module_->kernel(0);
  std::vector<Argument> arguments;
  for (const ptx::Parameter& parameter : kernel.kernel().parameters) {
    if (parameter.name == "blocks")
      arguments.push_back({n_blocks_});
    else if (parameter.name == "stamped_blocks")
      arguments.push_back({stamp_request_.n_blocks});
    else if (parameter.name == "stamp_slots")
      arguments.push_back({stamp_request_.n_slots});
    else if (const auto found = own.find(parameter.name); found != own.end())
      arguments.push_back(Argument::address(found->second));
    else
      arguments.push_back(Argument::address(at_[persistent_buffer(parameter.name)]));
  }
  kernel.launch(stream_, arguments, n_blocks_);
  stream_.record(done_);
}

std::optional<Token> PersistentLaunch::try_next() {
  if (n_returned_ == kMaxTokens) return {};
  const uint64_t* tokens = reinterpret_cast<const uint64_t*>(host_.bytes().data() + sizeof(HostWords));
  const uint64_t slot = read_host_word(tokens[n_returned_]);
  if (slot >> 32 != n_returned_ + 1) return {};
  ++n_returned_;
  silence_.restart();
  was_asked_ = false;
  return static_cast<Token>(slot & 0xffffffff);
}

std::optional<Token> PersistentLaunch::next() {
  if (!is_running_) return {};
  constexpr uint32_t kPollsBetweenChecks = 256;
  for (uint32_t poll = 1;; ++poll) {
    if (const std::optional<Token> token = try_next()) return token;
    if (read_host_word(words().end) != 0) {
      if (const std::optional<Token> token = try_next()) return token;  // written before `end`
      finish();
      return {};
    }
    if (poll % kPollsBetweenChecks == 0) check_alive();
    std::this_thread::yield();
  }
}

// A driver call may block the host, so it is made only after a long silence.
void PersistentLaunch::check_alive() {
  constexpr double kSilence = 0.5;
  const Context& context = *stream_.context();
  const double seconds = silence_.seconds();
  const bool is_overdue = seconds > context.watch()->bounds().pass;
  try {
    context.watch()->require_alive();
    if (seconds < kSilence || (was_asked_ && !is_overdue)) return;
    was_asked_ = true;
    context.make_current();
    if (done_.has_come()) {
      if (read_host_word(words().end) != 0) return;
      throw Error("the persistent decoder ended without a result");
    }
    if (!is_overdue) return;
    context.watch()->lose(DeviceBound::kPass);
    context.watch()->require_alive();
  } catch (const Error&) {
    give_up();
  }
}

// Stops the kernel, which may still run, so that a later wait for the stream ends.
void PersistentLaunch::give_up() {
  stop();
  is_running_ = false;
  turn_.reset();
  throw;
}

void PersistentLaunch::finish() {
  is_running_ = false;
  turn_.reset();
  end_ = static_cast<DecodeEnd>(read_host_word(words().end));
  stream_.context()->make_current();
  done_.wait();
  if (end_ != DecodeEnd::kError) return;
  ErrorWord word;
  stream_.download(std::as_writable_bytes(std::span(&word, 1)), at_[Buffer::kError]);
  stream_.fill(at_[Buffer::kError], 0, sizeof word);
  stream_.wait();
  throw Error("the GPU refuses a token: " + describe(word));
}

std::span<const float> PersistentLaunch::row() const {
  require(returns_rows_ && n_returned_ > 0, "reading logits that the launch did not return");
  const size_t width = n_vocab();
  return rows_.as<float>().subspan((n_returned_ - 1) * width, width);
}

void PersistentLaunch::stop() { write_host_word(words().stop, 1u); }

void PersistentLaunch::cut() {
  stop();
  while (next()) continue;
}

std::vector<std::vector<Stamp>> PersistentLaunch::stamps() const {
  require(!is_running_, "reading time stamps during a launch");
  if (n_stamped() == 0) return {};
  stream_.context()->make_current();
  const uint64_t of_a_block = block_bytes(stamp_request_);
  std::vector<std::byte> bytes(n_stamped() * of_a_block);
  stream_.download(bytes, stamps_.address());
  stream_.wait();
  std::vector<std::vector<Stamp>> stamps;
  for (uint32_t block = 0; block < n_stamped(); ++block)
    stamps.push_back(unrolled(std::span(bytes).subspan(block * of_a_block, of_a_block), stamp_request_.n_slots));
  return stamps;
}

}  // namespace warpchat
