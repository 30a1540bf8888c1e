#include "ptx/emulator/checks/clocks.h"

#include <algorithm>

namespace ptx::emulator {

uint32_t Clock::of_other(uint32_t warp) const {
  if (!others_) return 0;
  const auto found = std::ranges::lower_bound(*others_, warp, {}, &Entry::warp);
  return found != others_->end() && found->warp == warp ? found->value : 0;
}

void Clock::raise(uint32_t warp, uint32_t to) {
  if (warp - first_ < own_.size())
    own_[warp - first_] = std::max(own_[warp - first_], to);
  else
    join(Entries{{warp, to}});
}

void Clock::join(const Clock& other) {
  if (first_ == other.first_ && own_.size() == other.own_.size()) {
    for (size_t k = 0; k < own_.size(); ++k) own_[k] = std::max(own_[k], other.own_[k]);
    if (!others_)
      others_ = other.others_;
    else if (other.others_ && others_ != other.others_)
      join(*other.others_);
    return;
  }
  Entries known;
  for (uint32_t k = 0; k < other.own_.size(); ++k) {
    if (other.own_[k]) known.push_back({other.first_ + k, other.own_[k]});
  }
  join(known);
  if (other.others_) join(*other.others_);
}

void Clock::join(const Entries& entries) {
  bool news = false;
  for (const Entry& e : entries) {
    if (e.warp - first_ < own_.size())
      own_[e.warp - first_] = std::max(own_[e.warp - first_], e.value);
    else
      news = news || of_other(e.warp) < e.value;
  }
  if (!news) return;
  auto merged = std::make_shared<Entries>();
  const Entries none;
  const Entries& mine = others_ ? *others_ : none;
  auto a = mine.begin();
  for (const Entry& e : entries) {
    if (e.warp - first_ < own_.size()) continue;
    while (a != mine.end() && a->warp < e.warp) merged->push_back(*a++);
    uint32_t value = e.value;
    if (a != mine.end() && a->warp == e.warp) value = std::max(value, (a++)->value);
    merged->push_back({e.warp, value});
  }
  merged->insert(merged->end(), a, mine.end());
  others_ = std::move(merged);
}

}  // namespace ptx::emulator
