// Looks for words in the conversation: a row above it, with how many places there are and the ways to the next.
#pragma once
#include <string>

#include "app/gui/panels/shortcuts.h"
#include "app/gui/transcript/transcript_view.h"
#include "app/gui/widgets/text_field.h"

namespace warpchat::gui {

class FindBar {
 public:
  void open(Ui& ui, TranscriptView& transcript);
  void show(const std::string& words, TranscriptView& transcript);  // the focus stays
  bool close(TranscriptView& transcript);                           // whether it was open
  bool is_open() const { return is_open_; }
  void draw(Frame& f, Rect& rect, TranscriptView& transcript);  // takes its row from rect's top
  void step(TranscriptView& transcript, int steps) const;

 private:
  bool is_open_ = false;
  TextField field_;
};

}  // namespace warpchat::gui
