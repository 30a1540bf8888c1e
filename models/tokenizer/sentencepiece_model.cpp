#include "models/tokenizer/sentencepiece_model.h"

#include <sentencepiece_processor.h>

#include <bit>
#include <utility>

#include "models/error.h"

namespace warpchat {
namespace {

// Protocol buffers' wire format: field number and wire type, then a varint, four bytes, or length and bytes.
void append_varint(std::string& bytes, uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  bytes += static_cast<char>(value);
}

void append_number(std::string& bytes, int field, uint64_t value) {
  append_varint(bytes, static_cast<uint64_t>(field) << 3 | 0);
  append_varint(bytes, value);
}

void append_float(std::string& bytes, int field, float value) {
  append_varint(bytes, static_cast<uint64_t>(field) << 3 | 5);
  const auto bits = std::bit_cast<uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift);
}

void append_text(std::string& bytes, int field, std::string_view text) {
  append_varint(bytes, static_cast<uint64_t>(field) << 3 | 2);
  append_varint(bytes, text.size());
  bytes += text;
}

[[noreturn]] void fail(const std::string& action, const sentencepiece::util::Status& status) {
  throw Error("sentencepiece cannot " + action + ": " + status.ToString());
}

}  // namespace

void SentencePieceModelBytes::add_piece(std::string_view text, float score, Type type) {
  std::string piece;  // ModelProto.SentencePiece
  append_text(piece, 1, text);
  append_float(piece, 2, score);
  append_number(piece, 3, type);
  append_text(bytes_, 1, piece);  // ModelProto.pieces
  ++n_pieces_;
}

std::string SentencePieceModelBytes::finish(std::string_view unknown_text) && {
  add_piece(unknown_text, 0, kUnknown);
  std::string trainer;           // TrainerSpec
  append_number(trainer, 3, 2);  // model_type: BPE
  append_number(trainer, 4, n_pieces_);
  append_text(bytes_, 2, trainer);
  std::string normalizer;  // NormalizerSpec
  append_text(normalizer, 1, "identity");
  append_number(normalizer, 3, false);  // add_dummy_prefix
  append_number(normalizer, 4, false);  // remove_extra_whitespaces
  append_number(normalizer, 5, false);  // escape_whitespaces
  append_text(bytes_, 3, normalizer);
  return std::move(bytes_);
}

SentencePieceModel::SentencePieceModel(SentencePieceModelBytes bytes, std::string_view unknown_text)
    : processor_(std::make_unique<sentencepiece::SentencePieceProcessor>()) {
  const std::string model = std::move(bytes).finish(unknown_text);
  const auto status = processor_->LoadFromSerializedProto(model);
  if (!status.ok()) fail("use the vocabulary", status);
}

SentencePieceModel::~SentencePieceModel() = default;

std::vector<FoundPiece> SentencePieceModel::encode(std::string_view text) const {
  sentencepiece::ImmutableSentencePieceText found;
  const auto status = processor_->Encode(text, found.mutable_proto());
  if (!status.ok()) fail("encode the text", status);
  std::vector<FoundPiece> pieces;
  pieces.reserve(found.pieces_size());
  for (size_t i = 0; i < found.pieces_size(); ++i) {
    const auto piece = found.pieces(static_cast<int>(i));
    pieces.push_back({static_cast<int>(piece.id()), text.substr(piece.begin(), piece.end() - piece.begin())});
  }
  return pieces;
}

}  // namespace warpchat
