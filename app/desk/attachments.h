// Text files that go with the next message.
#pragma once
#include <string>
#include <vector>

#include "app/desk/board.h"
#include "app/desk/model_desk.h"

namespace warpchat {

constexpr uint64_t kMostAttachedBytes = 4 << 20;  // of one file

class Attachments {
 public:
  Attachments(Board& board, const ModelDesk& models) : board_(board), models_(models) {}

  void add(const std::string& path);  // a fault becomes a notice
  void drop(size_t index);
  void count();                             // anew: the model is another one
  std::vector<AttachedFile> files() const;  // as they are sent
  void clear();                             // they have been sent

 private:
  void show();

  struct File {
    Attachment shown;
    std::string text;
  };
  Board& board_;
  const ModelDesk& models_;
  std::vector<File> files_;
};

}  // namespace warpchat
