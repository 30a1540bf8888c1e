// The table of kernels, or of the CPU's operations, and the details of the selected one.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "app/gui/profiler/kernel_table.h"
#include "app/gui/profiler/kernel_text_panel.h"
#include "app/gui/profiler/profiler_overlay.h"

struct ImVec2;

namespace warpchat::gui {

class KernelsPanel {
 public:
  // Two buttons that choose what the rows cover, at the cursor.
  void choose_rows(const ProfilerOverlay::Look& look);
  // Fills the content region.
  void draw(const std::shared_ptr<const ProfilerData>& data, const ProfilerOverlay::Look& look);

 private:
  void draw_table(const ProfilerData& data, const ProfilerOverlay::Look& look, ImVec2 size);
  void draw_row(const ProfilerData& data, const KernelRow& row, const std::vector<KernelColumn>& columns,
                const ProfilerOverlay::Look& look);
  void draw_name(const ProfilerData& data, const KernelRow& row, const ProfilerOverlay::Look& look);
  void order_rows(const ProfilerData& data);

  RowsOf of_ = RowsOf::kTokens;
  std::string chosen_;                         // a row's name
  std::shared_ptr<const ProfilerData> shown_;  // what rows_ and colours_ are of
  std::vector<KernelRow> rows_;
  std::vector<Colour> colours_;
  KernelTextPanel text_;
};

}  // namespace warpchat::gui
