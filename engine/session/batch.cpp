#include "engine/session/batch.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "engine/device_sampler.h"

namespace warpchat {

Batch::Batch(Decoder& decoder) : decoder_(decoder), sequences_(decoder.max_sequences()) {}

uint32_t Batch::join(const Request& request) {
  assert(!is_full() && !request.prompt.empty() && request.prompt.size() < decoder_.max_positions());
  const auto free = std::find(sequences_.begin(), sequences_.end(), std::nullopt);
  const auto number = static_cast<uint32_t>(free - sequences_.begin());
  Sequence sequence{request.prompt, request.sampling, std::nullopt, std::nullopt};
  if (decoder_.steps().sampler() == nullptr) {
    sequence.sampler.emplace(request.sampling);
    for (const Token token : request.prompt) sequence.sampler->accept(token);
  }
  on_device_.clear();
  sequence.first = sample_first(sequence, *decoder_.prefill(request.prompt, 0, number));
  sequences_[number] = std::move(sequence);
  order_.push_back(number);
  return number;
}

Token Batch::sample_first(Sequence& sequence, uint32_t column) {
  if (sequence.sampler) return sequence.sampler->sample(decoder_.logits(column));
  DeviceSampler* device = decoder_.steps().sampler();
  const DeviceSampler::Start start{sequence.params, sequence.tokens};
  device->start({&start, 1});
  device->sample();
  return device->read()[0];
}

void Batch::leave(uint32_t sequence) {
  assert(sequences_.at(sequence));
  sequences_[sequence].reset();
  std::erase(order_, sequence);
}

std::span<const Batch::Next> Batch::step() {
  given_.clear();
  std::vector<uint32_t> to_decode;
  for (const uint32_t number : order_) {
    Sequence& sequence = *sequences_[number];
    if (sequence.first)
      give(number, *std::exchange(sequence.first, std::nullopt));
    else if (sequence.tokens.size() <= decoder_.max_positions())
      to_decode.push_back(number);
  }
  if (!to_decode.empty()) {
    decode(to_decode);
    sample(to_decode);
  }
  return given_;
}

// The last token of each, which nobody has decoded yet.
void Batch::decode(std::span<const uint32_t> sequences) {
  if (std::ranges::equal(sequences, on_device_)) {
    decoder_.forward_sampled(Logits::kAll);
    return;
  }
  std::vector<Column> columns;
  for (const uint32_t number : sequences) {
    const std::vector<Token>& tokens = sequences_[number]->tokens;
    columns.push_back({tokens.back(), static_cast<uint32_t>(tokens.size()) - 1, number});
  }
  decoder_.forward(columns, Logits::kAll);
}

void Batch::sample(std::span<const uint32_t> sequences) {
  DeviceSampler* device = decoder_.steps().sampler();
  if (device == nullptr) {
    for (uint32_t column = 0; column < sequences.size(); ++column) {
      Sampler& sampler = *sequences_[sequences[column]]->sampler;
      give(sequences[column], sampler.sample(decoder_.logits(column)));
    }
    return;
  }
  if (!std::ranges::equal(sequences, on_device_)) {
    std::vector<DeviceSampler::Start> starts;
    for (const uint32_t number : sequences) starts.push_back({sequences_[number]->params, sequences_[number]->tokens});
    device->start(starts);
    on_device_.assign(sequences.begin(), sequences.end());
  }
  device->sample();
  const std::span<const Token> tokens = device->read();
  for (size_t column = 0; column < sequences.size(); ++column) give(sequences[column], tokens[column]);
}

void Batch::give(uint32_t number, Token token) {
  Sequence& sequence = *sequences_[number];
  sequence.tokens.push_back(token);
  if (sequence.sampler) sequence.sampler->accept(token);
  given_.push_back({number, token});
}

}  // namespace warpchat
