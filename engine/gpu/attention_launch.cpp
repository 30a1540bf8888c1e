// Argument checks, argument order of the kernels, and ordering of launches that share scratch memory.
#include "engine/gpu/attention_launch.h"

#include <algorithm>
#include <cstring>

#include "kernels/common/error_word.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

// Number of columns: q's first dimension, which must be within the spec's.
uint32_t columns_of(const std::string& operation, const TensorView& q, uint32_t max) {
  const uint64_t columns = q.shape.empty() ? 0 : q.shape[0];
  if (columns < 1 || columns > max)
    throw Error(operation + ": q is " + describe(q.type, q.shape) + ", expected 1 to " + grouped(max) +
                " in its first dimension");
  return static_cast<uint32_t>(columns);
}

// Checks keys and values of a layer, which must have equally many pages. Returns that number.
template <class Spec, class Tensors>
uint32_t checked_pages(const std::string& operation, const Spec& s, const Tensors& t, uint64_t columns) {
  const uint64_t n_pages = t.k_pages.shape.empty() ? 1 : t.k_pages.shape[0];
  const auto check = [&](const char* name, const TensorView& pages, KvType type) {
    const uint64_t page_bytes = KvLayout{type, s.n_kv_heads, s.head_dim}.n_bytes();
    const bool is_by_value = (type == KvType::kF32 && pages.type == ElementType::kF32) ||
                             (type == KvType::kF16 && pages.type == ElementType::kF16);
    const std::vector<uint64_t> by_value = {n_pages, s.n_kv_heads, kPagePositions, s.head_dim};
    require_tensor(operation, name, pages, is_by_value ? pages.type : ElementType::kU8,
                   is_by_value ? by_value : std::vector{n_pages, page_bytes}, KvLayout::kAlignment);
  };
  check("k_pages", t.k_pages, s.k_type), check("v_pages", t.v_pages, s.v_type);
  require_tensor(operation, "page_tables", t.page_tables, ElementType::kU64, {columns}, 8);
  return static_cast<uint32_t>(std::min<uint64_t>(n_pages, UINT32_MAX));
}

const AttentionSpec& checked(const AttentionSpec& spec) {
  if (!spec.scatters.empty()) throw Error("incremental attention: a launch by itself takes queries that are rotated");
  if (spec.writes_f16) throw Error("incremental attention: a launch by itself gives f32");
  return spec;
}

void throw_if_set(const ErrorWord& word, const std::string& kernel) {
  if (word.code != KernelError::kNone) throw Error(kernel + ": " + describe(word));
}

}  // namespace

struct PendingLaunch::State {
  State(ContextPointer context_, const std::string& kernel_)
      : context(context_), done(context_), kernel(kernel_), error(context_, sizeof(ErrorWord), "errors") {}
  ~State() {
    try {
      context->make_current();
      done.wait();
    } catch (const Error&) {  // the caller did not wait for the result
    }
  }
  ContextPointer context;
  GpuEvent done;
  std::string kernel;
  HostMemory error;
};

void PendingLaunch::wait() {
  state_->context->make_current();
  state_->done.wait();
  ErrorWord word;
  std::memcpy(&word, state_->error.bytes().data(), sizeof word);
  throw_if_set(word, state_->kernel);
}

bool PendingLaunch::is_done() const {
  state_->context->make_current();
  return state_->done.has_come();
}

LaunchForms::LaunchForms(ContextPointer context, const CompiledKernels::Spec& spec, uint64_t scratch_bytes)
    : context_(context),
      kernels_(CompiledKernels::of(context)),
      kernel_(kernels_->get(spec)),
      stream_(context),
      scratch_(context, scratch_bytes, "scratch"),
      error_(context, sizeof(ErrorWord), "errors"),
      error_read_(context, sizeof(ErrorWord), "errors"),
      last_use_(context) {
  if (scratch_bytes > 0) stream_.fill(scratch_.address(), 0, scratch_bytes);
  stream_.fill(error_.address(), 0, sizeof(ErrorWord));
  stream_.record(last_use_);
}

LaunchForms::~LaunchForms() {
  try {
    context_->make_current();
    last_use_.wait();
  } catch (const Error&) {  // a lost device runs nothing
  }
}

void LaunchForms::enqueue(const Stream& stream, std::span<const Argument> arguments, ptx::Dimensions blocks) {
  stream.wait_for(last_use_);
  kernel().launch(stream, arguments, blocks);
  stream.record(last_use_);
}

PendingLaunch LaunchForms::start(std::span<const Argument> arguments, ptx::Dimensions blocks) {
  context_->make_current();
  auto state = std::make_shared<PendingLaunch::State>(context_, kernel().kernel().name);
  enqueue(stream_, arguments, blocks);
  stream_.download(state->error.bytes(), error_.address());
  stream_.fill(error_.address(), 0, sizeof(ErrorWord));
  stream_.record(last_use_);
  stream_.record(state->done);
  return PendingLaunch(std::move(state));
}

void LaunchForms::check(const Stream& stream) {
  context_->make_current();
  stream.wait_for(last_use_);
  stream.download(error_read_.bytes(), error_.address());
  stream.fill(error_.address(), 0, sizeof(ErrorWord));
  stream.record(last_use_);
  stream.wait();
  ErrorWord word;
  std::memcpy(&word, error_read_.bytes().data(), sizeof word);
  throw_if_set(word, kernel().kernel().name);
}

AttentionLaunch::AttentionLaunch(ContextPointer context, const AttentionSpec& spec)
    : LaunchForms(std::move(context), spec, attention_scratch_bytes(checked(spec))), spec_(spec) {}

std::vector<Argument> AttentionLaunch::arguments_of(const AttentionTensors& t) const {
  const std::string operation = "incremental attention";
  const uint64_t columns = columns_of(operation, t.q, spec_.columns);
  const uint64_t width = uint64_t{spec_.n_heads} * spec_.head_dim;
  require_tensor(operation, "q", t.q, ElementType::kF32, {columns, width}, 16);
  checked_pages(operation, spec_, t, columns);
  require_tensor(operation, spec_.lengths_are_positions ? "positions" : "lengths", t.lengths, ElementType::kU32,
                 {columns}, 4);
  require_tensor(operation, "out", t.out, ElementType::kF32, {columns, width}, 16);
  std::vector<uint64_t> addresses = {t.q.address,           t.k_pages.address, t.v_pages.address,
                                     t.page_tables.address, t.lengths.address, t.out.address};
  if (spec_.gated) {
    require_tensor(operation, "gate", t.gate, ElementType::kF32, {columns, width}, 16);
    addresses.push_back(t.gate.address);
  }
  addresses.insert(addresses.end(), {scratch(), error()});
  std::vector<Argument> arguments;
  for (uint64_t address : addresses) arguments.push_back(Argument::address(address));
  if (spec_.columns > 1) arguments.push_back(static_cast<uint32_t>(columns));
  return arguments;
}

ptx::Dimensions AttentionLaunch::blocks_for(uint32_t longest) const {
  return attention_grid(spec_, std::min(longest, spec_.max_positions));
}

void AttentionLaunch::enqueue(const Stream& stream, const AttentionTensors& tensors, uint32_t longest) {
  LaunchForms::enqueue(stream, arguments_of(tensors), blocks_for(longest));
}

PendingLaunch AttentionLaunch::start(const AttentionTensors& tensors, uint32_t longest) {
  return LaunchForms::start(arguments_of(tensors), blocks_for(longest));
}

KvScatterLaunch::KvScatterLaunch(ContextPointer context, const KvScatterSpec& spec)
    : LaunchForms(std::move(context), spec, 0), spec_(spec) {}

std::vector<Argument> KvScatterLaunch::arguments_of(const KvScatterTensors& t) const {
  const std::string operation = "KV scatter";
  const uint64_t columns = columns_of(operation, t.q, spec_.columns);
  const uint64_t kv_width = uint64_t{spec_.n_kv_heads} * spec_.head_dim;
  require_tensor(operation, "q", t.q, ElementType::kF32, {columns, uint64_t{spec_.n_heads} * spec_.head_dim}, 16);
  require_tensor(operation, "k", t.k, ElementType::kF32, {columns, kv_width}, 16);
  require_tensor(operation, "v", t.v, ElementType::kF32, {columns, kv_width}, 16);
  std::vector<Argument> arguments{Argument::address(t.q.address), Argument::address(t.k.address),
                                  Argument::address(t.v.address)};
  if (spec_.qk_norm) {
    require_tensor(operation, "q_gamma", t.q_gamma, ElementType::kF32, {spec_.head_dim}, 16);
    require_tensor(operation, "k_gamma", t.k_gamma, ElementType::kF32, {spec_.head_dim}, 16);
    arguments.push_back(Argument::address(t.q_gamma.address));
    arguments.push_back(Argument::address(t.k_gamma.address));
  }
  require_tensor(operation, "positions", t.positions, ElementType::kU32, {columns}, 4);
  const uint32_t n_pages = checked_pages(operation, spec_, t, columns);
  for (uint64_t address : {t.positions.address, t.k_pages.address, t.v_pages.address, t.page_tables.address})
    arguments.push_back(Argument::address(address));
  arguments.push_back(n_pages);
  arguments.push_back(Argument::address(error()));
  if (spec_.columns > 1) arguments.push_back(static_cast<uint32_t>(columns));
  return arguments;
}

void KvScatterLaunch::enqueue(const Stream& stream, const KvScatterTensors& tensors) {
  LaunchForms::enqueue(stream, arguments_of(tensors), kernel().kernel().launch.blocks);
}

PendingLaunch KvScatterLaunch::start(const KvScatterTensors& tensors) {
  return LaunchForms::start(arguments_of(tensors), kernel().kernel().launch.blocks);
}

}  // namespace warpchat
