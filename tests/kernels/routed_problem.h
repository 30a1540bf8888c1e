// Products of a mixture's assignments (token and expert), and their results in double.
#pragma once
#include <utility>
#include <vector>

#include "tests/kernels/gemv_problem.h"

namespace warpchat {

struct RoutedProblem {
  GemvSpec product;  // one assignment
  uint32_t n_experts, n_used;
  bool by_column;                       // x has one row per column; else one per assignment
  std::vector<GemvProblem> of_experts;  // one per expert
  std::vector<std::byte> weights, up;   // all experts, concatenated
  std::vector<uint32_t> experts;        // one per assignment
  std::vector<float> x;

  RoutedProblem(const GemvSpec& one, uint32_t n, uint32_t used, bool is_by_column, std::vector<uint32_t> chosen)
      : product(one), n_experts(n), n_used(used), by_column(is_by_column), experts(std::move(chosen)) {
    for (uint32_t e = 0; e < n_experts; ++e) {
      of_experts.emplace_back(product, 100 * e + 1);
      const auto append = [](std::vector<std::byte>& to, const PackedWeights& w) {
        to.insert(to.end(), w.bytes.begin(), w.bytes.end());
      };
      append(weights, of_experts[e].weights);
      if (of_experts[e].up) append(up, *of_experts[e].up);
    }
    for (uint32_t row = 0; row < n_assignments() / (by_column ? n_used : 1); ++row) {
      const std::vector<float> input = outlier_floats(1, product.k, 7 + row);
      x.insert(x.end(), input.begin(), input.end());
    }
    for (float& v : x) v *= 1.0003f;  // otherwise f16 would hold the outliers exactly
  }

  uint32_t n_assignments() const { return static_cast<uint32_t>(experts.size()); }
  const std::vector<float>& gamma() const { return of_experts[0].gamma; }

  // The assignment as a single product.
  GemvProblem problem_of(uint32_t use) const {
    GemvProblem problem = of_experts[experts[use]];
    const auto first = x.begin() + static_cast<ptrdiff_t>(size_t{by_column ? use / n_used : use} * product.k);
    problem.x.assign(first, first + product.k);
    problem.gamma = gamma();
    return problem;
  }

  // y: [assignments or more, rows]; rows after the assignments must be untouched.
  void expect_right(std::span<const float> y, double tolerance) const {
    for (uint32_t use = 0; use < n_assignments(); ++use) {
      SCOPED_TRACE("use " + std::to_string(use) + ", expert " + std::to_string(experts[use]));
      expect_close(y.subspan(size_t{use} * product.rows, product.rows), problem_of(use).reference(1), tolerance);
    }
    for (size_t i = size_t{n_assignments()} * product.rows; i < y.size(); ++i) EXPECT_TRUE(std::isnan(y[i])) << i;
  }
};

}  // namespace warpchat
