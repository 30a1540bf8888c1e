#include "ptx/emulator/checks/shadow.h"

namespace ptx::emulator {

ShadowPage& Shadow::find_page(uint64_t number) {
  ShadowPage& page = pages_[number];
  if (!page.cells) page.cells = std::make_unique<Cell[]>(ShadowPage::kBytes >> page.shift);
  return page;
}

void Shadow::refine(ShadowPage& page, uint32_t shift) {
  const uint32_t copies = 1u << (page.shift - shift);
  const uint32_t n = ShadowPage::kBytes >> page.shift;
  auto cells = std::make_unique<Cell[]>(size_t{n} * copies);
  for (uint32_t k = 0; k < n; ++k) {
    for (uint32_t c = 0; c < copies; ++c) {
      Cell& cell = cells[k * copies + c];
      cell = page.cells[k];
      if (cell.write != kContended || c == 0) continue;
      contended_.push_back(ContendedCell(contended_[cell.read]));
      cell.read = static_cast<Ref>(contended_.size() - 1);
    }
  }
  page.cells = std::move(cells);
  page.shift = shift;
}

ContendedCell& Shadow::contend(Cell& cell) {
  if (cell.write != kContended) {
    contended_.push_back({cell.write, cell.read, 0, 0});
    cell = {kContended, static_cast<Ref>(contended_.size() - 1)};
  }
  return contended_[cell.read];
}

template <class F>
void Shadow::for_each_ref(F f) {
  for (auto& [number, page] : pages_) {
    for (uint32_t k = 0; k < ShadowPage::kBytes >> page.shift; ++k) {
      Cell& cell = page.cells[k];
      if (cell.write == kContended) continue;
      f(cell.write);
      f(cell.read);
    }
  }
  for (ContendedCell& cell : contended_) {
    for (Ref* ref : {&cell.write, &cell.read, &cell.strong_write, &cell.strong_read}) f(*ref);
  }
}

void Shadow::collect() {
  history.begin_marking();
  for_each_ref([this](Ref ref) { history.mark(ref); });
  history.compact();
  for_each_ref([this](Ref& ref) { ref = history.renumbered(ref); });
  ++generation_;
}

}  // namespace ptx::emulator
