// A sentencepiece BPE model built in memory from pieces and scores: of all adjacent pairs that together are a piece,
// the one with the best score joins, of several the leftmost, until none are left. No normalisation of any kind.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace warpchat {

// The model's file format (sentencepiece's protobuf message ModelProto), written field by field.
class SentencePieceModelBytes {
 public:
  // Texts must be distinct and not empty. Pieces are numbered from 0 in the order of their addition.
  void add(std::string_view text, float score) { add_piece(text, score, kNormal); }
  int n_pieces() const { return n_pieces_; }
  // The finished model; its last piece, which no text matches, stands for unknown characters.
  std::string finish(std::string_view unknown_text) &&;

 private:
  enum Type { kNormal = 1, kUnknown = 2 };
  void add_piece(std::string_view text, float score, Type type);

  std::string bytes_;
  int n_pieces_ = 0;
};

struct FoundPiece {
  int piece;              // or n_pieces() for characters, one or several, that are no piece
  std::string_view text;  // the part of the input
};

class SentencePieceModel {
 public:
  // unknown_text: a text that is none of the pieces.
  SentencePieceModel(SentencePieceModelBytes bytes, std::string_view unknown_text);
  ~SentencePieceModel();

  // Valid UTF-8 only. May be called from several threads at once.
  std::vector<FoundPiece> encode(std::string_view text) const;

 private:
  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
};

}  // namespace warpchat
