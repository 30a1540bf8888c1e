// A sentencepiece BPE model built in memory from pieces and scores: repeatedly joins the adjacent pair whose joined
// text is the piece with the best score, the leftmost of equals. No normalisation.
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

// Writer of the model's file format (sentencepiece's protobuf message ModelProto).
class SentencePieceModelBytes {
 public:
  // Texts must be distinct and not empty. Pieces are numbered from 0 in order.
  void add(std::string_view text, float score) { add_piece(text, score, kNormal); }
  int n_pieces() const { return n_pieces_; }
  // The finished model. Its last piece matches no text and represents unknown characters.
  std::string finish(std::string_view unknown_text) &&;

 private:
  enum Type { kNormal = 1, kUnknown = 2 };
  void add_piece(std::string_view text, float score, Type type);

  std::string bytes_;
  int n_pieces_ = 0;
};

struct FoundPiece {
  int piece;              // n_pieces() for one or more characters that are no piece
  std::string_view text;  // a part of the input
};

class SentencePieceModel {
 public:
  // unknown_text: any text that is not a piece.
  SentencePieceModel(SentencePieceModelBytes bytes, std::string_view unknown_text);
  ~SentencePieceModel();

  // Valid UTF-8 only. Thread-safe.
  std::vector<FoundPiece> encode(std::string_view text) const;

 private:
  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
};

}  // namespace warpchat
