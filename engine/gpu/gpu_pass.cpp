// Passes: each operation is the launches that kernels/launch_list.h gives it for the kind of pass. Decode, small
// batches, batches and prefill have separate kernels. A pass has one segment for all single tokens and one per longer
// run, so that a token's computation does not depend on prompts in the same pass. Prefill kernels are compiled during
// the upload of weights, decode kernels during the first prefill, batch kernels when first needed.
#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/gpu/gpu_decoder_steps.h"
#include "engine/pass_length.h"
#include "kernels/delta_net/delta_chunk.h"
#include "models/half.h"

namespace warpchat {

Argument GpuSteps::argument_of(const Operand& operand, uint32_t layer, uint32_t first, uint32_t n_columns) const {
  const uint64_t base = at_.of(operand, layer);
  switch (operand.kind) {
    case Operand::Kind::kNumber:
    case Operand::Kind::kPages:
      return static_cast<uint32_t>(base);
    case Operand::Kind::kColumns:
      return n_columns;
    case Operand::Kind::kAbsent:
    case Operand::Kind::kWeight:
      return Argument::address(base);
    case Operand::Kind::kHalves:
      return Argument::address(halves_of(operand.buffer, segment_, first));
    case Operand::Kind::kFactors:
      return Argument::address(halves_of(operand.buffer, segment_, segment_.n_columns) + first * sizeof(float));
    case Operand::Kind::kBuffer:
      break;
  }
  const uint64_t step = column_bytes_[static_cast<size_t>(operand.buffer)];
  switch (operand.buffer) {
    case Buffer::kAttentionScratch:
      return Argument::address(activations_.address() + plan_.scratch[static_cast<size_t>(segment_.kind)]);
    case Buffer::kLogits:
      return Argument::address(base + static_cast<uint64_t>((logits_row_ + first) * static_cast<int64_t>(step)));
    case Buffer::kPageTables:
    case Buffer::kStates:  // a prompt has one of them
      return Argument::address(base + (segment_.first_sequence + (segment_.kind == PassKind::kPrefill ? 0 : first)) *
                                          sizeof(uint64_t));
    default:
      return Argument::address(base + (uint64_t{segment_.first} + first) * step);
  }
}

void GpuSteps::launch(const BoundLaunch& bound, uint32_t layer) {
  const KernelLaunch& launch = *bound.launch;
  const uint32_t n = segment_.n_columns * launch.per_column;
  const uint32_t at_once = std::min(n, launch.in_turn ? 1 : max_columns_of(launch.spec));
  for (uint32_t first = 0; first < n; first += at_once) {
    // A graph must serve every position.
    const uint32_t n_columns = std::min(at_once, n - first);
    const LaunchColumns columns{n_columns, graphs_.is_open() ? sizes_.context : segment_.longest,
                                segment_.n_keys * n_columns / n};
    const ptx::Kernel& kernel = bound.kernel->kernel();
    std::vector<Argument> arguments;
    for (const Operand& operand : bound.operands) arguments.push_back(argument_of(operand, layer, first, columns.n));
    const auto enqueue = [&] { bound.kernel->launch(stream_, arguments, blocks_of(launch.spec, kernel, columns)); };
    const uint64_t bytes = bytes_of(launch.spec, kernel, columns);
    if (graphs_.is_open()) {
      graphs_.add({bound.profile_row, bytes}, enqueue);
    } else {
      enqueue();
      timer_.launched(bound.profile_row, bytes);
    }
  }
}

void GpuSteps::launch(CompiledPass& pass, const Operation& operation) {
  for (const BoundLaunch& bound : pass.launches(operation.index)) launch(bound, operation.layer);
}

bool GpuSteps::run(const Operation& operation) {
  if (const auto* wanted = std::get_if<WantedColumns>(&operation.what)) return keep_wanted(*wanted);
  if (operation.index + 1 == network_.size()) {
    run_logits(operation);
    return true;
  }
  for (const PassLayout::Segment& segment : pass_.segments) {
    segment_ = segment;
    launch(pass_of(segment.kind), operation);
  }
  segment_ = pass_.segments.front();
  const bool ends_layers = operation.index + 2 == network_.size();
  if (ends_layers && graphs_.is_open()) graphs_.end();
  return true;
}

// Columns stay in place. Every product's output begins at a multiple of 16 bytes.
bool GpuSteps::keep_wanted(const WantedColumns& o) {
  uint32_t widths = config_.ffn | config_.experts.ffn | config_.experts.shared_ffn;
  for (const Buffer buffer : o.buffers) widths |= width_of(buffer);
  pass_.keep_wanted(widths % kAlignedColumns == 0 ? 1 : kAlignedColumns);
  return !pass_.segments.empty();
}

// Kernels read from 16-byte boundaries, and only every fourth column is aligned for sure. So up to three columns before
// the wanted ones are computed as well. Their rows belong to earlier groups, which are computed later and overwrite
// them.
void GpuSteps::run_logits(const Operation& operation) {
  const PassLayout::Segment front = segment_;
  for (auto wanted = pass_.wanted.rbegin(); wanted != pass_.wanted.rend(); ++wanted) {
    const uint32_t before = config_.hidden % 4 == 0 ? 0 : wanted->column % 4, columns = before + wanted->n;
    segment_ = {.kind = columns == 1 ? PassKind::kDecode : wanted->kind,
                .first = wanted->column - before,
                .n_columns = columns};
    logits_row_ = int64_t{wanted->row} - before;
    launch(pass_of(segment_.kind), operation);
    if (wanted->kind == PassKind::kPrefill && wanted->n == 1)
      pass_of(PassKind::kDecode).prepare();  // overlaps with a prefill
  }
  segment_ = front;
}

void GpuSteps::begin(std::span<const Run> runs) {
  uint64_t n_columns = 0;
  for (const Run& run : runs) {
    require(run.position + run.tokens.size() <= sizes_.context && run.sequence < sizes_.sequences,
            "pass with a position or sequence out of range");
    require(!run.verify_draft || (runs.size() == 1 && run.tokens.size() <= kMaxVerifyTokens),
            "draft verification of too many tokens, or beside another run");
    n_columns += run.tokens.size();
  }
  require(n_columns > 0 && n_columns <= max_columns(), "pass with no columns or too many");
  context_->make_current();
  graphs_.forget();  // drops an interrupted pass
  upload_pass(lay_out(runs));
  require(pass_.logits_columns.size() <= max_logits_columns(), "pass that wants too many logits");
  begin_pass();
  pass_began_.reset();
  if (!pass_.has_prompts()) return;
  pass_began_ = std::make_shared<GpuEvent>(context_, GpuEvent::Timing::kOn);
  stream_.record(*pass_began_);
}

PassEnd GpuSteps::end_pass() {
  const auto ended = std::make_shared<GpuEvent>(context_, GpuEvent::Timing::kOn);
  stream_.record(*ended);
  return [began = pass_began_, ended](bool wait) -> std::optional<double> {
    if (wait) ended->wait();
    if (!wait && !ended->has_come()) return std::nullopt;
    return began ? ended->seconds_since(*began) : 0;
  };
}

void GpuSteps::upload_pass(PassLayout layout) {
  pass_ = std::move(layout);
  segment_ = pass_.segments.front();
  std::vector<uint32_t> words;
  const auto add = [&](uint64_t address) {
    words.insert(words.end(), {static_cast<uint32_t>(address), static_cast<uint32_t>(address >> 32)});
  };
  for (const uint32_t sequence : pass_.sequences) add(page_table(sequence));
  for (const uint32_t sequence : pass_.sequences) add(state_address(sequence));
  words.insert(words.end(), pass_.words.begin(), pass_.words.end());
  upload(pass_address(), words);
  const uint64_t n_sequences = pass_.sequences.size();
  at_[Buffer::kPageTables] = pass_address();
  at_[Buffer::kStates] = at_[Buffer::kPageTables] + n_sequences * sizeof(uint64_t);
  at_[Buffer::kTokens] = at_[Buffer::kStates] + n_sequences * sizeof(uint64_t);
  at_[Buffer::kPositions] = at_[Buffer::kTokens] + pass_.n_columns() * sizeof(uint32_t);
}

void GpuSteps::upload(uint64_t to, std::span<const uint32_t> words) {
  Slot& slot = slots_[next_slot_++ % slots_.size()];
  slot.copied.wait();
  const std::span<uint32_t> pinned = slot.bytes.as<uint32_t>().first(words.size());
  std::copy(words.begin(), words.end(), pinned.begin());
  stream_.upload(to, std::as_bytes(pinned));
  stream_.record(slot.copied);
}

void GpuSteps::begin_pass() {
  for (const PassLayout::Segment& segment : pass_.segments) pass_of(segment.kind).await_layers();
  has_arrived_ = false;
  timer_.begin();
  if (is_of_graphs()) graphs_.begin(pass_.n_columns(), segment_.kind == PassKind::kVerify);
}

// PassLength splits prompts at ends of chunks.
static_assert(PassLength::kChunk % kDeltaChunk == 0);

void GpuSteps::wait() {
  stream_.download(error_.bytes(), at_[Buffer::kError]);
  stream_.wait();
  collect_profile();
  ErrorWord word;
  std::memcpy(&word, error_.bytes().data(), sizeof word);
  check(word);
}

std::vector<GpuSteps::ColumnRange> GpuSteps::stretches(uint32_t first, uint64_t n_columns) const {
  std::vector<ColumnRange> all;
  for (const uint32_t column : std::span(pass_.buffer_columns).subspan(first, n_columns)) {
    const PassLayout::Segment& segment = pass_.segment_of(column);
    const bool goes_on =
        !all.empty() && &all.back().segment == &segment && column == all.back().first + all.back().n_columns;
    if (!goes_on) all.push_back({segment, column, 0});
    ++all.back().n_columns;
  }
  return all;
}

bool GpuSteps::read_columns(Buffer buffer, uint32_t first, std::span<float> values) {
  if (graphs_.is_open()) return false;
  context_->make_current();
  for (const ColumnRange& stretch : stretches(first, values.size() / width_of(buffer))) {
    const std::span<float> to = values.first(uint64_t{stretch.n_columns} * width_of(buffer));
    values = values.subspan(to.size());
    if (has_f16(buffer, stretch.segment))
      for (uint32_t i = 0; i < stretch.n_columns; ++i)
        read_f16(stretch.segment, buffer, stretch.first + i,
                 to.subspan(uint64_t{i} * width_of(buffer), width_of(buffer)));
    else
      stream_.download(std::as_writable_bytes(to), column_of(buffer, stretch.first));
  }
  wait();
  return true;
}

bool GpuSteps::write_columns(Buffer buffer, uint32_t first, std::span<const float> values) {
  if (graphs_.is_open()) return false;
  context_->make_current();
  const std::vector<ColumnRange> all = stretches(first, values.size() / width_of(buffer));
  if (std::ranges::any_of(all, [&](const ColumnRange& s) { return has_f16(buffer, s.segment); })) return false;
  for (const ColumnRange& stretch : all) {
    const std::span<const float> from = values.first(uint64_t{stretch.n_columns} * width_of(buffer));
    values = values.subspan(from.size());
    stream_.upload(column_of(buffer, stretch.first), std::as_bytes(from));
  }
  stream_.wait();  // `values` belongs to the caller
  return true;
}

// Reverses the order of kernels/matmul/f16_activations.h.
void GpuSteps::read_f16(const PassLayout::Segment& segment, Buffer buffer, uint32_t column, std::span<float> values) {
  const uint32_t index = column - segment.first;
  std::vector<f16> halves(f16_activation_values(width_of(buffer)));
  float factor = 0;
  stream_.download(std::as_writable_bytes(std::span(halves)), halves_of(buffer, segment, index));
  stream_.download(std::as_writable_bytes(std::span(&factor, 1)),
                   halves_of(buffer, segment, segment.n_columns) + index * sizeof(float));
  wait();
  for (uint32_t i = 0; i < values.size(); ++i) {
    const uint32_t in_unit = i % 32, octet = in_unit / 4 % 4, place = octet * 8 + in_unit / 16 * 4 + in_unit % 4;
    values[i] = factor * to_float(halves[i - in_unit + place]);
  }
}

std::span<const float> GpuSteps::read_logits(uint32_t column) {
  const auto found = std::ranges::lower_bound(pass_.logits_columns, column);
  require(found != pass_.logits_columns.end() && *found == column, "reading logits that the pass did not compute");
  if (!has_arrived_) {
    const uint64_t n_bytes = pass_.logits_columns.size() * config_.n_vocab * sizeof(float);
    stream_.download(logits_.bytes().first(n_bytes), at_[Buffer::kLogits]);
    wait();
    has_arrived_ = true;
  }
  const auto row = static_cast<uint64_t>(found - pass_.logits_columns.begin());
  return logits_.as<float>().subspan(row * config_.n_vocab, config_.n_vocab);
}

}  // namespace warpchat
