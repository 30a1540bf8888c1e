// The fields of one assistant: its name, system message, model or server, and the settings that it holds. Values are
// checked when it is saved.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/gui/panels/shortcuts.h"
#include "app/gui/widgets/text_field.h"

namespace warpchat::gui {

class AssistantEditor {
 public:
  // from: the one that is replaced; empty: none, it is new.
  void open(Frame& f, const std::string& from, const std::string& name, const TypedSettings& settings);
  bool is_open() const { return is_open_; }
  bool close() { return std::exchange(is_open_, false); }
  void draw(Frame& f, Rect rect);  // it closes itself once it has been saved

 private:
  struct Row {
    std::string key;
    bool has_lines;  // the value that it began with has several
    TextField field;
  };
  void fill(const TypedSettings& settings);
  void draw_fields(Frame& f, Rect rect);
  void draw_model(Frame& f, Rect& rect);
  void draw_row(Frame& f, Rect rect, Row& row);
  void draw_other(Frame& f, Rect rect);
  void draw_end(Frame& f, Rect rect);
  bool waits(const ChatState& state) const { return request_ != 0 && state.assistants.request != request_; }
  std::string fault(const ChatState& state) const;
  void save(Frame& f);

  bool is_open_ = false;
  std::string from_;
  uint64_t request_ = 0;  // of the last SaveAssistant; 0: none yet
  TextField name_, prompt_, model_, endpoint_, other_;
  std::vector<Row> rows_;  // the other settings
};

}  // namespace warpchat::gui
