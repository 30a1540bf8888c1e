#include "kernels/half_columns.h"

#include "kernels/columns.h"
#include "kernels/half_range.h"
#include "kernels/warp_sums.h"
#include "ptx/builder.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr uint32_t kThreads = 256, kWarps = kThreads / kWarpSize;
constexpr uint32_t kOctet = 8;  // values that a thread has at once: two quads, 16 apart

// Of threads that every processor holds, from sm_80 on or before.
uint32_t blocks_per_sm(Target target) { return (runs(target, sm_80) ? 1536 : 1024) / kThreads; }

class HalfColumnWriter {
 public:
  HalfColumnWriter(Builder& b, const HalfColumnsSpec& spec)
      : b_(b),
        spec_(spec),
        x_(b.global<f32>("x")),
        gamma_(b.param<u64>("gamma")),
        halves_(b.global<f16>("halves")),
        factors_(b.global<f32>("factors")),
        k_(b.param<u32>("k")),
        exponents_(b.shared<u32>("exponents", kWarps)),
        sums_(b.shared<f32>("sums", kWarps)),
        normalises_(gamma_ != 0) {}

  // Twice over the column: its halves need the largest value of all. The second time the caches have it.
  void write() {
    Reg<u32> column = b_.block().named("column");
    Reg<u32> n_octets = ((k_ + (kHalfColumnStep - 1)) / kHalfColumnStep * (kHalfColumnStep / kOctet)).named("n_octets");
    const Global<f32> x = x_ + b_.mul_wide(column, k_);
    Var<f32> squares = b_.var("squares", 0.0f), most = b_.var("most", 0.0f);
    for_octets("measure", x, n_octets, [&](const Reg<u32>&, const Reg<u32>& first, Octet& values) {
      for (Quad& quad : values)
        for (int i = 0; i < 4; ++i) squares = b_.fma(quad[i], quad[i], squares);
      multiply_by_gamma(first, values);
      for (Quad& quad : values)
        for (int i = 0; i < 4; ++i) most = b_.max(most, b_.abs(quad[i]));  // NaN needs no scale
    });
    Reg<u32> of_warp = warp_max(b_, b_.max(Reg<f32>(most).as<u32>() >> 23, kLeastExponent));
    b_.if_(b_.lane() == 0, [&] { exponents_.store(b_.warp(), of_warp); });
    Reg<f32> sum = block_sum(b_, squares, sums_, kWarps);  // whose barrier is the exponents', too
    Reg<u32> highest = warp_max(b_, exponents_.load(b_.lane() % kWarps));
    b_.if_(b_.thread() == 0, [&] {
      Var<f32> factor = b_.var("factor", power_of_two(highest - kTopExponent));
      b_.if_(normalises_, [&] { factor *= b_.rsqrt(b_.fma(sum, b_.rcp_approx(b_.convert<f32>(k_)), spec_.eps)); });
      factors_.store(column, factor);
    });
    Reg<f32> scale = power_of_two(127 + 127 + kTopExponent - highest);
    const Global<b32> to = halves_.as<b32>() + b_.mul_wide(column, n_octets) * (kOctet / 2);
    for_octets("convert", x, n_octets, [&](const Reg<u32>& octet, const Reg<u32>& first, Octet& values) {
      multiply_by_gamma(first, values);
      const auto pair = [&](size_t quad, int i) {
        return b_.convert_pair<f16x2>(values[quad][i] * scale, values[quad][i + 1] * scale).as<b32>();
      };
      to.store(octet * (kOctet / 2), Vec<b32, 4>(pair(0, 0), pair(0, 2), pair(1, 0), pair(1, 2)));
    });
  }

 private:
  using Quad = VarVec<f32, 4>;
  using Octet = std::vector<Quad>;

  // body(octet, the place of its first value, its values of x, zero beyond k), of the thread's octets.
  template <class Body>
  void for_octets(const char* name, const Global<f32>& x, const Reg<u32>& n_octets, const Body& body) {
    b_.region(name, [&] {
      b_.for_("octet", b_.thread(), n_octets, kThreads, [&](Reg<u32> octet) {
        Reg<u32> first = (octet >> 2) * 32 + (octet & 3) * 4;
        Octet values = load(x, first);
        body(octet, first, values);
      });
    });
  }

  Octet load(const Global<f32>& from, const Reg<u32>& first) {
    Octet values;
    for (uint32_t quad = 0; quad < 2; ++quad) {
      values.push_back(b_.vars<f32, 4>("value", 0.0f));
      load_quad(from + first + quad * 16, first + quad * 16, values.back());
    }
    return values;
  }
  void load_quad(const Global<f32>& from, const Reg<u32>& first, Quad& values) {
    if (spec_.has_quads) return b_.if_(first < k_, [&] { values = from.aligned(16).load<4>(0, kReadOnly); });
    for (uint32_t i = 0; i < 4; ++i)
      b_.if_(first + i < k_, [&] { values[static_cast<int>(i)] = from.load(i, kReadOnly); });
  }

  void multiply_by_gamma(const Reg<u32>& first, Octet& values) {
    b_.if_(normalises_, [&] {
      Octet gamma = load(b_.pointer<f32>(gamma_, 4), first);
      for (size_t quad = 0; quad < 2; ++quad)
        for (int i = 0; i < 4; ++i) values[quad][i] *= gamma[quad][i];
    });
  }

  Builder& b_;
  const HalfColumnsSpec& spec_;
  Global<f32> x_;
  Reg<u64> gamma_;
  Global<f16> halves_;
  Global<f32> factors_;
  Reg<u32> k_;
  Shared<u32> exponents_;  // [kWarps]: of their largest values
  Shared<f32> sums_;       // [kWarps]: of their squares
  Pred normalises_;
};

}  // namespace

std::string name_of(const HalfColumnsSpec& spec) { return spec.has_quads ? "half_columns" : "half_columns_k1"; }

uint64_t half_columns_bytes(uint32_t k, bool normalises, uint64_t n_columns) {
  return n_columns * (4 * uint64_t{k} + 2 * half_column_values(k) + 4) + (normalises ? 4 * uint64_t{k} : 0);
}

// Each turn waits for values, then for gamma; between them are the sums of warps and of the block.
Flow half_columns_flow(uint32_t k, bool normalises, uint32_t n_columns, Target target) {
  const double turns = ceil_div(static_cast<uint32_t>(half_column_values(k)) / kOctet, kThreads);
  const Waits turn = normalises ? Waits{.common = 1, .l2 = 1} : Waits{.l2 = 1};
  return {.pieces = n_columns,
          .warps = kWarps,
          .blocks_per_sm = blocks_per_sm(target),
          .piece = 2 * turns * turn + Waits{.local = 6 + 2 + 6 + 3}};
}

Kernel half_columns(const HalfColumnsSpec& spec, Target target) {
  Builder b(name_of(spec), target);
  b.min_blocks_per_sm(blocks_per_sm(target));
  HalfColumnWriter(b, spec).write();
  return b.finish(Launch{1, kThreads});
}

}  // namespace warpchat
