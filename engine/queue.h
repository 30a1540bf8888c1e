// Messages from one thread to another, in order.
#pragma once
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

namespace warpchat {

template <class T>
class Queue {
 public:
  using Place = std::list<T>;  // for one item
  static Place reserve() { return Place(1); }

  void push(T item) {
    Place place;
    place.push_back(std::move(item));
    push_reserved(std::move(place));
  }
  // Allocates no memory: for what must arrive even where there is none.
  void push_reserved(Place place) noexcept {
    {
      std::lock_guard lock(mutex_);
      items_.splice(items_.end(), place);
    }
    arrived_.notify_one();
  }
  std::optional<T> pop(std::chrono::milliseconds timeout) {  // nullopt on timeout
    std::unique_lock lock(mutex_);
    if (!arrived_.wait_for(lock, timeout, [&] { return !items_.empty(); })) return std::nullopt;
    Place place;
    place.splice(place.end(), items_, items_.begin());
    lock.unlock();
    return std::move(place.front());
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::list<T> items_;
};

}  // namespace warpchat
