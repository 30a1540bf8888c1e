// Compares two answers of this run: the choice of both, one sentence about the change, and a table.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "app/chat/profile/compare_answers.h"
#include "app/gui/profiler/profiler_overlay.h"

namespace warpchat::gui {

class ComparePanel {
 public:
  // Fills the content region. marks: what can be clicked is added.
  void draw(const ChatState& state, const ProfilerOverlay::Look& look, std::vector<ProfilerOverlay::Mark>& marks);

 private:
  using Answer = std::shared_ptr<const AnswerProfile>;
  Answer shown(const ChatState& state, size_t side) const;
  void draw_chosen(const ChatState& state, const ProfilerOverlay::Look& look,
                   std::vector<ProfilerOverlay::Mark>& marks);
  void draw_list(const ChatState& state, const ProfilerOverlay::Look& look, std::vector<ProfilerOverlay::Mark>& marks);
  void draw_table(const ProfilerOverlay::Look& look) const;

  std::optional<uint64_t> chosen_[2];  // answers' numbers, of A and B; none: the last but one, and the last
  std::optional<size_t> choosing_;     // which of them the list is open for
  Answer compared_[2];                 // the pair that comparison_ belongs to
  AnswerComparison comparison_;
};

}  // namespace warpchat::gui
