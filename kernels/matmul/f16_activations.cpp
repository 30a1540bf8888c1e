#include "kernels/matmul/f16_activations.h"

#include "kernels/common/columns.h"
#include "kernels/common/half_range.h"
#include "kernels/common/warp_sums.h"
#include "kernels/matmul/half_quad.h"
#include "ptx/builder.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr uint32_t kThreads = kF16ActivationThreads, kWarps = kThreads / kWarpSize;
constexpr uint32_t kOctet = 8;  // values per thread at once: two quads, 16 apart
constexpr uint32_t kTurnOctets = kF16ActivationTurn / kOctet;
constexpr uint32_t kOctetsAtOnce = kTurnOctets / kThreads;  // per thread

class HalfColumnWriter {
 public:
  HalfColumnWriter(Builder& b, const F16ActivationsSpec& spec)
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

  // Two passes over the column, as scaling needs the largest value. The second starts from the last turn, still in
  // registers: for short columns, that is everything.
  void write() {
    Reg<u32> column = b_.block().named("column");
    Reg<u32> n_steps = ((k_ + (kF16ActivationStep - 1)) / kF16ActivationStep).named("n_steps");
    Reg<u32> n_octets = n_steps * (kF16ActivationStep / kOctet);
    Reg<u32> last_turn = ((n_octets - 1) / kTurnOctets).named("last_turn");
    const Global<f32> x = x_ + b_.mul_wide(column, k_);
    Var<f32> squares = b_.var("squares", 0.0f), max = b_.var("max", 0.0f);
    std::vector<Octet> turn;
    for (uint32_t i = 0; i < kOctetsAtOnce; ++i)
      for (turn.emplace_back(); turn.back().size() < 2;) turn.back().push_back(b_.vars<f32, 4>("value", 0.0f));
    b_.region("measure", [&] {
      b_.for_("turn", 0, last_turn + 1, 1, [&](Reg<u32> number) {
        load_turn(x, number, n_octets, turn, &squares);
        for_octets(number, n_octets, [&](uint32_t i) {
          for (Quad& quad : turn[i])
            for (int j = 0; j < 4; ++j) max = b_.max(max, b_.abs(quad[j]));  // NaN needs no scale
        });
      });
    });
    Reg<u32> of_warp = warp_max(b_, b_.max(Reg<f32>(max).as<u32>() >> 23, kMinExponent));
    b_.if_(b_.lane() == 0, [&] { exponents_.store(b_.warp(), of_warp); });
    Reg<f32> sum = block_sum(b_, squares, sums_, kWarps);  // its barrier also publishes the exponents
    Reg<u32> highest = warp_max(b_, exponents_.load(b_.lane() % kWarps));
    b_.if_(b_.thread() == 0, [&] {
      Var<f32> factor = b_.var("factor", power_of_two(highest - kTopExponent));
      b_.if_(normalises_, [&] { factor *= b_.rsqrt(b_.fma(sum, b_.rcp_approx(b_.convert<f32>(k_)), spec_.eps)); });
      factors_.store(column, factor);
    });
    Reg<f32> scale = power_of_two(127 + 127 + kTopExponent - highest);
    const Global<b32> to =
        halves_.as<b32>() + b_.mul_wide(column, n_steps) * (f16_activation_size(kF16ActivationStep) / 2);
    const Global<b32> means = to + b_.mul_wide(n_octets, kOctet / 2);
    b_.region("convert", [&] {
      b_.for_("again", 0, last_turn + 1, 1, [&](Reg<u32> again) {
        Reg<u32> number = b_.select(again == 0, last_turn, again - 1);
        b_.if_(again != 0, [&] { load_turn(x, number, n_octets, turn, nullptr); });
        store_turn(to, means, number, n_octets, turn, scale);
      });
    });
  }

 private:
  using Quad = VarVec<f32, 4>;
  using Octet = std::vector<Quad>;

  // A thread's octets are kThreads apart, a multiple of a unit of 32, so they differ by constant address offsets.
  Reg<u32> first_octet(const Reg<u32>& turn) const { return turn * kTurnOctets + b_.thread(); }

  // Calls body(i) if the turn has an i-th octet for the block; short columns have one.
  template <class Body>
  void for_octets(const Reg<u32>& turn, const Reg<u32>& n_octets, const Body& body) {
    Reg<u32> of_block = turn * kTurnOctets;
    for (uint32_t i = 0; i < kOctetsAtOnce; ++i) {
      if (i == 0)
        body(i);
      else
        b_.if_(of_block + i * kThreads < n_octets, [&] { body(i); });
    }
  }

  // A thread's octets of a turn, times gamma if there is one, zero beyond k; accumulates the squares of x.
  void load_turn(const Global<f32>& x, const Reg<u32>& turn, const Reg<u32>& n_octets, std::vector<Octet>& octets,
                 Var<f32>* squares) {
    Reg<u32> octet = first_octet(turn), first = (octet >> 2) * 32 + (octet & 3) * 4;
    const Global<f32> own = own_values(x, first);
    for_octets(turn, n_octets, [&](uint32_t i) {
      for (Quad& quad : octets[i])
        for (int j = 0; j < 4; ++j) quad[j] = 0.0f;
      for_values(own, first, i, octets[i], [](Var<f32>& value, const Reg<f32>& loaded) { value = loaded; });
    });
    if (squares)
      for_octets(turn, n_octets, [&](uint32_t i) {
        for (Quad& quad : octets[i])
          for (int j = 0; j < 4; ++j) *squares = b_.fma(quad[j], quad[j], *squares);
      });
    // A branch per octet: ptxas would otherwise load more of gamma at once than fits its registers.
    b_.if_(normalises_, [&] {
      const Global<f32> gamma = own_values(b_.pointer<f32>(gamma_, 4), first);
      for (uint32_t i = 0; i < kOctetsAtOnce; ++i)
        b_.if_(first + i * kThreads * kOctet < k_, [&] {
          for_values(gamma, first, i, octets[i], [](Var<f32>& value, const Reg<f32>& loaded) { value *= loaded; });
        });
    });
  }
  Global<f32> own_values(const Global<f32>& from, const Reg<u32>& first) const {
    return spec_.has_quads ? (from + first).aligned(16) : from + first;
  }

  // Calls body(value, element of `own`) for each element of the thread's i-th octet below k.
  template <class Body>
  void for_values(const Global<f32>& own, const Reg<u32>& first, uint32_t i, Octet& values, const Body& body) {
    for (uint32_t quad = 0; quad < 2; ++quad) {
      const uint32_t at = i * kThreads * kOctet + quad * 16;
      if (spec_.has_quads) {
        b_.predicated(first + at < k_, [&] {
          const Vec<f32, 4> loaded = own.load<4>(at, kReadOnly);
          for (int j = 0; j < 4; ++j) body(values[quad][j], loaded[j]);
        });
        continue;
      }
      for (uint32_t j = 0; j < 4; ++j)
        b_.predicated(first + (at + j) < k_,
                      [&] { body(values[quad][static_cast<int>(j)], own.load(at + j, kReadOnly)); });
    }
  }

  // A step has sixteen octets. No branch diverges within a block.
  void store_turn(const Global<b32>& to, const Global<b32>& means, const Reg<u32>& turn, const Reg<u32>& n_octets,
                  std::vector<Octet>& octets, const Reg<f32>& scale) {
    Reg<u32> octet = first_octet(turn);
    const Global<b32> own = to + octet * (kOctet / 2), own_means = means + octet / 4 * 2;
    Pred has_means = octet % 4 == 0;
    for_octets(turn, n_octets, [&](uint32_t i) {
      const uint32_t before = i * kThreads;
      const Halves halves = halves_of(octets[i], scale);
      Pred is_present = octet + before < n_octets;
      b_.predicated(is_present, [&] { own.store(before * (kOctet / 2), halves.pairs); });
      b_.predicated(is_present && has_means, [&] { own_means.store(before / 4 * 2, halves.means); });
    });
  }

  // Four lanes hold 32 values and the means of the first and last 16.
  struct Halves {
    Vec<b32, 4> pairs;
    Vec<b32, 2> means;
  };
  Halves halves_of(Octet& values, const Reg<f32>& scale) {
    const auto halves = [&](Quad& quad) {
      return half_quad(b_, {quad[0] * scale, quad[1] * scale, quad[2] * scale, quad[3] * scale});
    };
    const HalfQuad front = halves(values[0]), back = halves(values[1]);
    return {Vec<b32, 4>(front.first, front.second, back.first, back.second), Vec<b32, 2>(front.mean, back.mean)};
  }

  Builder& b_;
  const F16ActivationsSpec& spec_;
  Global<f32> x_;
  Reg<u64> gamma_;
  Global<f16> halves_;
  Global<f32> factors_;
  Reg<u32> k_;
  Shared<u32> exponents_;  // [kWarps]: of each warp's largest value
  Shared<f32> sums_;       // [kWarps]: sums of squares
  Pred normalises_;
};

}  // namespace

std::string name_of(const F16ActivationsSpec& spec) {
  return spec.has_quads ? "f16_activations" : "f16_activations_k1";
}

uint64_t f16_activations_bytes(uint32_t k, bool normalises, uint64_t n_columns) {
  return n_columns * (4 * uint64_t{k} + 2 * f16_activation_size(k) + 4) + (normalises ? 4 * uint64_t{k} : 0);
}

Kernel f16_activations(const F16ActivationsSpec& spec, Target target) {
  Builder b(name_of(spec), target);
  b.min_blocks_per_sm(f16_activation_blocks_per_sm(spec.has_quads));
  HalfColumnWriter(b, spec).write();
  return b.finish(Launch{1, kThreads});
}

}  // namespace warpchat
