// A visitor of std::visit from lambdas, one for each alternative.
#pragma once

namespace warpchat {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace warpchat
