// Text files that go before the next message.
#pragma once
#include <string>
#include <vector>

#include "app/gui/worker/board.h"
#include "app/gui/worker/model_desk.h"

namespace warpchat::gui {

constexpr uint64_t kMostAttachedBytes = 4 << 20;  // of one file

class Attachments {
 public:
  Attachments(Board& board, const ModelDesk& models) : board_(board), models_(models) {}

  void add(const std::string& path);  // a fault becomes a notice
  void drop(size_t index);
  void count();                                        // anew: the model is another one
  std::string put_before(const std::string& message);  // what is sent; nothing is attached any more

 private:
  void show();

  struct File {
    Attachment shown;
    std::string text;  // as it is sent
  };
  Board& board_;
  const ModelDesk& models_;
  std::vector<File> files_;
};

// The text under its name, in a code block that it cannot end.
std::string as_code_block(const std::string& name, const std::string& text);

}  // namespace warpchat::gui
