#include "kernels/matmul/int_activations.h"

#include "kernels/common/columns.h"
#include "kernels/common/warp_sums.h"
#include "kernels/matmul/integer_unit.h"
#include "ptx/builder.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr uint32_t kConvertWarps = kIntegerColumnWarps, kConvertThreads = kConvertWarps * kWarpSize;
constexpr uint32_t kConvertUnit = 32, kConvertValues = 8;
constexpr uint32_t kConvertUnits = kIntegerColumnRound / kConvertUnit;  // per warp and round: four lanes per unit
constexpr uint32_t kMaxConvertRounds = kMaxIntActivationValues / kConvertUnit / kConvertUnits;

class IntegerColumnWriter {
 public:
  IntegerColumnWriter(Builder& b, const IntActivationsSpec& spec)
      : b_(b),
        spec_(spec),
        x_(b.global<f32>("x")),
        gamma_(b.param<u64>("gamma")),
        integers_(b.global<b32>("integers")),
        factors_(b.global<f32>("factors")),
        k_(b.param<u32>("k")),
        column_(b.block().named("column")),
        is_real_(column_ < b.param<u32>("n_columns")),
        squares_(b.shared<f32>("squares", kMaxConvertRounds)),
        normalises_(gamma_ != 0) {}

  void write() {
    Reg<u32> n_units = (k_ / kConvertUnit).named("n_units");
    Reg<u32> n_rounds = ((n_units + (kConvertUnits - 1)) / kConvertUnits).named("n_rounds");
    const Global<f32> x = x_ + b_.mul_wide(column_, k_);
    const Global<b32> to = integers_ + b_.mul_wide(column_ / ColumnsLayout::kColumns, n_units * ColumnsLayout::kUnit);
    b_.region("convert", [&] {
      b_.for_("round", b_.warp(), n_rounds, kConvertWarps, [&](Reg<u32> round) {
        Reg<u32> unit = (round * kConvertUnits + b_.lane() / 4).named("unit");
        Pred is_inside = unit < n_units;
        Var<f32> squares = b_.var("squares", 0.0f);
        Values values = load(x, unit * kConvertUnit + b_.lane() % 4 * kConvertValues, is_inside && is_real_, squares);
        store(to, unit, is_inside, {values.begin(), values.end()});
        b_.if_(normalises_, [&] {
          Reg<f32> sum = warp_sum(b_, squares);
          b_.if_(b_.lane() == 0, [&] { squares_.store(round, sum); });
        });
      });
    });
    b_.barrier();
    b_.if_(b_.thread() == 0, [&] { store_factor(n_rounds); });
  }

 private:
  using Values = std::vector<Var<f32>>;

  // The lane's values from `first` on, times gamma; adds their squares without gamma. Zeros if is_there is false.
  Values load(const Global<f32>& x, const Reg<u32>& first, const Pred& is_present, Var<f32>& squares) {
    Values values;
    for (uint32_t i = 0; i < kConvertValues; ++i) values.push_back(b_.var("value", 0.0f));
    const auto for_each_loaded = [&](const Global<f32>& from, const auto& body) {
      const Global<f32> own = (from + first).aligned(16);
      const Vec<f32, 4> front = own.template load<4>(0, kReadOnly), back = own.template load<4>(4, kReadOnly);
      for (int i = 0; i < 4; ++i) body(i, front[i]);
      for (int i = 0; i < 4; ++i) body(i + 4, back[i]);
    };
    b_.if_(is_present, [&] {
      for_each_loaded(x, [&](int i, const Reg<f32>& value) { values[i] = value; });
      b_.if_(normalises_, [&] {
        for_each_loaded(b_.pointer<f32>(gamma_, 4), [&](int i, const Reg<f32>& gamma) {
          squares = b_.fma(values[i], values[i], squares);
          values[i] *= gamma;
        });
      });
    });
    return values;
  }

  // Four lanes share a unit: words 2 q and 2 q + 1 of each plane are lane q's.
  void store(const Global<b32>& to, const Reg<u32>& unit, const Pred& is_inside, const std::vector<Reg<f32>>& values) {
    const IntegerPart part = integers_of(b_, values, true);
    Reg<u32> quarter = b_.lane() % 4, half = quarter / 2, of_group = column_ % ColumnsLayout::kColumns;
    Reg<u32> sum = *part.sum, all = sum + b_.shuffle_xor(sum, 2);
    b_.if_(is_inside, [&] {
      const Global<b32> of_unit = to + wide(unit * ColumnsLayout::kUnit);
      const Global<b32> words = of_unit + (of_group * 16 + quarter % 2 * 8 + half);
      for (uint32_t i = 0; i < 2; ++i) {
        words.store(i * 4, part.high[static_cast<int>(i)]);
        words.store(i * 4 + 2, part.low[static_cast<int>(i)]);
      }
      const Global<b32> numbers = of_unit + of_group;
      b_.if_(quarter % 2 == 0, [&] {
        (numbers + half * (ColumnsLayout::kLastSums - ColumnsLayout::kFirstSums))
            .store(ColumnsLayout::kFirstSums, sum.as<b32>());
      });
      b_.if_(quarter == 0, [&] {
        numbers.store(ColumnsLayout::kSums, all.as<b32>());
        numbers.store(ColumnsLayout::kScales, part.scale(b_).as<b32>());
      });
    });
  }

  void store_factor(const Reg<u32>& n_rounds) {
    Var<f32> factor = b_.var("factor", 1.0f);
    b_.if_(normalises_, [&] {
      Var<f32> sum = b_.var("sum", squares_.load());
      b_.for_("round", 1, n_rounds, 1, [&](Reg<u32> round) { sum += squares_.load(round); });
      factor = b_.rsqrt(b_.fma(sum, b_.rcp(b_.convert<f32>(k_)), spec_.eps));
    });
    factors_.store(column_, factor);
  }

  Builder& b_;
  const IntActivationsSpec& spec_;
  Global<f32> x_;
  Reg<u64> gamma_;
  Global<b32> integers_;
  Global<f32> factors_;
  Reg<u32> k_, column_;
  Pred is_real_;
  Shared<f32> squares_;  // [kMaxConvertRounds]: sums per round
  Pred normalises_;
};

}  // namespace

std::string name_of(const IntActivationsSpec&) { return "int_activations"; }

uint64_t int_activations_bytes(uint32_t k, bool normalises, uint64_t n_columns) {
  return 4 * (n_columns * k + int_activations_words(k, n_columns) + n_columns) + (normalises ? 4 * uint64_t{k} : 0);
}

Kernel int_activations(const IntActivationsSpec& spec, Target target) {
  Builder b(name_of(spec), target);
  b.min_blocks_per_sm(kIntegerColumnBlocksPerSm);
  IntegerColumnWriter(b, spec).write();
  return b.finish(Launch{1, kConvertThreads});
}

}  // namespace warpchat
