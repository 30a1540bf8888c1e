#include "kernels/persistent/persistent_decoder.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <numeric>
#include <optional>

#include "kernels/attention/kv_rows.h"
#include "kernels/common/columns.h"
#include "kernels/common/error_word.h"
#include "kernels/common/name_hash.h"
#include "kernels/persistent/grid_barrier.h"
#include "kernels/persistent/layer_table.h"
#include "kernels/persistent/stamps.h"
#include "kernels/persistent/token_functions.h"
#include "kernels/persistent/weights_ahead.h"
#include "kernels/sampling/sample_function.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr uint32_t kBlockWarps = kPersistentThreads / kWarpSize;
constexpr uint32_t kBarrierBytes = 16;  // of shared memory, aligned

// A field of a struct in memory that is constant during the launch, or of a table row.
Reg<u32> number_at(const Global<u8>& base, size_t offset) { return (base + offset).as<u32>().load({}, kReadOnly); }
// All threads of a block read the same.
Reg<u32> number_at(Builder& b, const Shared<u8>& row, size_t offset) {
  return b.uniform((row + offset).as<u32>().load());
}
Reg<u64> word_at(Builder& b, const Shared<u8>& row, size_t offset) {
  return b.uniform((row + offset).as<u64>().load());
}

// A table row in registers.
struct Product {
  Reg<u64> weights, up, gamma, bias, y;
  Reg<u32> variant, first_block, n_blocks, rows;
};

Product load_product(Builder& b, const Shared<u8>& row) {
  const auto word = [&](size_t offset) { return word_at(b, row, offset); };
  const auto number = [&](size_t offset) { return number_at(b, row, offset); };
  return {word(offsetof(ProductRow, weights)),
          word(offsetof(ProductRow, up)),
          word(offsetof(ProductRow, gamma)),
          word(offsetof(ProductRow, bias)),
          word(offsetof(ProductRow, y)),
          number(offsetof(ProductRow, variant)),
          number(offsetof(ProductRow, first_block)),
          number(offsetof(ProductRow, n_blocks)),
          number(offsetof(ProductRow, rows))};
}

// Parameters that exist only with delta-net layers.
struct DeltaParameters {
  Global<f32> qkv, z, alpha, beta, mixed;
  explicit DeltaParameters(Builder& b)
      : qkv(b.global<f32>("qkv")),
        z(b.global<f32>("z")),
        alpha(b.global<f32>("alpha")),
        beta(b.global<f32>("beta")),
        mixed(b.global<f32>("delta_mixed")) {}
};
struct ExpertParameters {
  Global<f32> scores, inner, outputs;
  Global<u8> routes;
  std::optional<Global<f32>> shared_inner, shared_output, shared_expert_gate;
  ExpertParameters(Builder& b, bool has_shared)
      : scores(b.global<f32>("scores")),
        inner(b.global<f32>("expert_inner")),
        outputs(b.global<f32>("expert_outputs")),
        routes(b.global<u8>("routes")) {
    if (!has_shared) return;
    shared_inner.emplace(b.global<f32>("shared_inner"));
    shared_output.emplace(b.global<f32>("shared_output"));
    shared_expert_gate.emplace(b.global<f32>("shared_expert_gate"));
  }
};

struct Parameters {
  Global<u8> layers, token_embd;
  Global<f32> hidden, q, k, v, mixed, inner, logits;
  std::optional<Global<f32>> q_gate;
  std::optional<DeltaParameters> delta;
  std::optional<ExpertParameters> experts;
  Global<u8> scratch, sampler;
  Global<u32> error;
  Global<u64> barrier;
  Global<u8> state, request;
  Global<u32> forced;
  Global<u8> host;
  Global<f32> rows;
  Reg<u32> blocks;  // the grid's: from its own special register, the compiler would keep and spill it

  Parameters(Builder& b, const LaunchList& list, const EmbeddingSpec& e, const AttentionSpec& a)
      : layers(b.global<u8>("layers", (list.layers.size() + 1) * sizeof(LayerRow))),
        token_embd(b.global<u8>("token_embd")),
        hidden(b.global<f32>("hidden", e.hidden)),
        q(b.global<f32>("q", uint64_t{a.n_heads} * a.head_dim)),
        k(b.global<f32>("k", uint64_t{a.n_kv_heads} * a.head_dim)),
        v(b.global<f32>("v", uint64_t{a.n_kv_heads} * a.head_dim)),
        mixed(b.global<f32>("mixed", uint64_t{a.n_heads} * a.head_dim)),
        inner(b.global<f32>("inner")),
        logits(b.global<f32>("logits", e.n_vocab)),
        q_gate(a.gated ? std::optional(b.global<f32>("q_gate", uint64_t{a.n_heads} * a.head_dim)) : std::nullopt),
        delta(list.first<DeltaKernelSpec>() ? std::optional<DeltaParameters>(b) : std::nullopt),
        experts(list.first<ExpertSumSpec>()
                    ? std::optional<ExpertParameters>(std::in_place, b, list.first<ExpertSumSpec>()->has_shared)
                    : std::nullopt),
        scratch(b.global<u8>("scratch")),
        sampler(b.global<u8>("sampler")),
        error(b.global<u32>("error", kErrorWords)),
        barrier(b.global<u64>("barrier", 1)),
        state(b.global<u8>("state", sizeof(DecoderState))),
        request(b.global<u8>("request", sizeof(DecodeRequest))),
        forced(b.global<u32>("forced")),
        host(b.global<u8>("host")),
        rows(b.global<f32>("rows")),
        blocks(b.param<u32>("blocks")) {}

  Global<u32> in_state(size_t offset) const { return (state + offset).as<u32>(); }
  Global<u32> token() const { return in_state(offsetof(DecoderState, token)); }
  Global<u32> position() const { return in_state(offsetof(DecoderState, position)); }
  Global<u32> choice() const { return in_state(offsetof(DecoderState, choice)); }
  Global<u32> end() const { return in_state(offsetof(DecoderState, end)); }
  Global<u32> step() const { return in_state(offsetof(DecoderState, step)); }
};

class DecoderWriter {
 public:
  DecoderWriter(const PersistentSpec& spec, Target target)
      : b_(name_of(spec), target),
        target_(target),
        list_(spec.decoder),
        embedding_(*list_.first<EmbeddingSpec>()),
        attention_(list_.token_attention()),
        functions_(list_, {.loads_ahead = true, .starts_phases = true, .has_stamps = spec.stamps}, target),
        sampler_(persistent_sampling(spec), target),
        at_(b_, list_, embedding_, attention_),
        shared_(b_.shared<u8>("decoder", kBarrierBytes + LayerTable::kSharedBytes)),
        barrier_(b_, at_.barrier, shared_.as<u64>(), at_.blocks),
        table_(b_, at_.layers, static_cast<uint32_t>(list_.layers.size()), shared_ + kBarrierBytes),
        ahead_(target),
        zero_(b_.var("zero", 0u)),
        attention_teams_(persistent_attention_teams(functions_.attend.shared_bytes(), target)) {
    b_.min_blocks_per_sm(kPersistentBlocksPerSm);
    b_.dynamic_turns();
    if (spec.stamps) stamps_.emplace(b_, target);
  }

  Kernel write() {
    const PhaseProgram program = decoder_program(list_);
    check_program(program);
    exit_if_invalid();
    const auto n_layers = static_cast<uint32_t>(list_.layers.size());
    const size_t qkv = program.layer_begin, logits = program.layer_end;
    b_.do_while([&] {
      run_phases(program, 0, qkv);
      b_.for_("layer", 0, n_layers + 1, 1, [&](Reg<u32> layer) {
        layer_.emplace(layer);
        Pred is_behind_layers = layer == n_layers;
        multiply_first(static_cast<uint32_t>(qkv), static_cast<uint32_t>(logits), is_behind_layers);
        b_.break_if(is_behind_layers);
        run_layer(program, qkv + 1, logits);
      });
      run_phases(program, logits + 1, program.phases.size());
      barrier_.wait();
      return b_.uniform(at_.end().load()) == 0;  // uniform over the grid: a barrier follows its write
    });
    return b_.finish(Launch{1, kPersistentThreads, true});
  }

 private:
  // How a phase begins: the block arrives, does work that needs no other block, and passes once all have arrived.
  using Meanwhile = std::function<void()>;
  struct Wait {
    std::function<void(const Meanwhile&)> arrive;
    std::function<void()> pass;
    PhaseStart in_function;  // for a function that passes by itself
    void operator()(const Meanwhile& meanwhile) const { arrive(meanwhile), pass(); }
  };

  void run_phases(const PhaseProgram& program, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) run_phase(program.phases[i], static_cast<uint32_t>(i));
  }

  // Phases that only some layers have are in a branch that all blocks take alike.
  void run_layer(const PhaseProgram& program, size_t begin, size_t end) {
    for (size_t next; begin < end; begin = next) {
      const PhaseKind first = program.phases[begin].kind;
      const auto has = [](PhaseSet kind, PhaseKind phase) { return (kind & set_of(phase)) != 0; };
      const auto is_alike = [&](const Phase& phase) {
        return std::ranges::all_of(program.kinds,
                                   [&](PhaseSet kind) { return has(kind, first) == has(kind, phase.kind); });
      };
      for (next = begin; next < end && is_alike(program.phases[next]);) ++next;
      if (std::ranges::all_of(program.kinds, [&](PhaseSet kind) { return has(kind, first); })) {
        run_phases(program, begin, next);
        continue;
      }
      b_.if_(b_.uniform(has_phase(first)), [&] { run_phases(program, begin, next); });
    }
  }
  Pred has_phase(PhaseKind phase) { return (number_at(b_, row(offsetof(LayerRow, phases)), 0) & set_of(phase)) != 0; }

  // While waiting, a phase reads the tables and prefetches weights: its own, or the output's if it has none.
  void run_phase(const Phase& phase, uint32_t index) {
    const bool waits = !phase.waits_for.empty() && index != 0;  // the first phase's barrier ends the token
    run_phase(name_of(phase.kind), index, waits, [&](const Wait& wait) { write_phase(phase.kind, wait); });
  }
  template <class Number, class F>
  void run_phase(std::string_view name, const Number& index, bool waits, const F& write) {
    const Wait wait{[&](const Meanwhile& meanwhile) {
                      if (waits) barrier_.arrive();
                      if (meanwhile) meanwhile();
                    },
                    [&] {
                      if (waits) GridBarrier::pass(b_, VirtualBlock(b_), barrier_.words());
                      if (stamps_) stamps_->begin(index);
                    },
                    {waits, barrier_.words(), index, stamps()}};
    b_.region(std::string(name), [&] { b_.in_turn([&] { write(wait); }); });
    if (stamps_) stamps_->end(index);
  }

  void write_phase(PhaseKind kind, const Wait& wait) {
    switch (kind) {
      case PhaseKind::kEmbed:
        return embed(wait);
      case PhaseKind::kAttention:
        return attend(wait);
      case PhaseKind::kConv:
        return convolve(wait);
      case PhaseKind::kDelta:
        return step_delta(wait);
      case PhaseKind::kOutput:
        return multiply(offsetof(LayerRow, output), of(ProductGroup::kOutput), mixed(), wait);
      case PhaseKind::kGateUp:
        return multiply(offsetof(LayerRow, gate_up), of(ProductGroup::kGateUp), at_.hidden, wait);
      case PhaseKind::kDown:
        return multiply(offsetof(LayerRow, down), of(ProductGroup::kDown), at_.inner, wait);
      case PhaseKind::kRouter:
        return score_experts(wait);
      case PhaseKind::kExpertsGateUp:
        return route_and_multiply_gate_up(wait);
      case PhaseKind::kExpertsDown:
        return multiply_expert_down(wait);
      case PhaseKind::kExpertsSum:
        return sum_experts(wait);
      case PhaseKind::kSample:
        return sample(wait);
      case PhaseKind::kEmit:
        return emit(wait);
      case PhaseKind::kQkv:
      case PhaseKind::kLogits:
        break;  // see multiply_first
    }
    throw Error("the persistent decoder has no phase " + std::string(name_of(kind)) + " of its own");
  }

  Shared<u8> row(size_t offset) const { return table_.row(*layer_, offset); }

  // Virtual block `number` of a one-dimensional grid.
  VirtualBlock block_of(const Team& team, const Reg<u32>& number, const Reg<u32>& n) {
    return VirtualBlock(b_, team, number, zero_, zero_, n);
  }
  // Calls body(block) for all blocks of a launch.
  template <class F>
  void play(const Launch& launch, F&& body) {
    const Team team = team_of(b_, kBlockWarps, launch.threads.x / kWarpSize);
    Reg<u32> n = b_.var("n_blocks", launch.blocks.x);
    play_blocks(b_, team, at_.blocks, n, [&](const Reg<u32>& number) { body(block_of(team, number, n)); });
  }

  void embed(const Wait& wait) {
    wait([&] { table_.copy_first(); });
    const EmbeddingAddresses at{at_.token_embd, at_.token(), at_.hidden, at_.error, {}};
    play(embedding_launch(embedding_), [&](const VirtualBlock& block) { functions_.embed.call(block, at); });
  }

  void ask_ahead(size_t product) { ahead_.ask(b_, row(product), zero_); }

  // A phase with a single product, with as many rows as its variants.
  void multiply(size_t offset, const ProductFunction& function, const Global<f32>& x, const Wait& wait) {
    std::optional<Product> product;
    wait.arrive([&] {
      product.emplace(load_product(b_, row(offset)));
      ask_ahead(offset);
    });
    multiply_by_share(*product, function, x, &wait);
  }

  // A layer's first products or, after the layers, the logits, which are a separate phase of the program.
  void multiply_first(uint32_t qkv, uint32_t logits, const Pred& is_behind_layers) {
    Reg<u32> phase = b_.select(is_behind_layers, In<u32>(logits), In<u32>(qkv));
    constexpr uint32_t kMax = std::extent_v<decltype(LayerRow::first)>;
    run_phase("qkv or logits", phase, true, [&](const Wait& wait) {
      Wait wait_and_copy = wait;
      wait_and_copy.arrive = [&](const Meanwhile& meanwhile) {
        wait.arrive(meanwhile);
        table_.copy_next(*layer_);
      };
      multiply_normed([&] { return row(offsetof(LayerRow, first)); }, kMax, wait_and_copy);
    });
  }

  // At most n products with consecutive table rows, each computed by the blocks in its row. Normally a block has one of
  // them. With fewer blocks than products, each block goes through all.
  void multiply_normed(const std::function<Shared<u8>()>& rows, uint32_t n, const Wait& wait) {
    const auto row_of = [&](const Reg<u32>& index) {
      return (rows() + index * sizeof(ProductRow)).aligned(alignof(ProductRow));
    };
    const auto first_block = [&](const Shared<u8>& product) {
      return number_at(b_, product, offsetof(ProductRow, first_block));
    };
    std::optional<Product> product;
    wait.arrive([&] {
      Var<u32> index = b_.var("own_product", 0u);
      for (uint32_t i = 1; i < n; ++i)
        index = b_.select(b_.block() >= first_block(rows() + i * sizeof(ProductRow)), i, index);
      product.emplace(load_product(b_, row_of(index)));
      ahead_.ask(b_, row_of(index), zero_);
    });
    multiply_by_share(*product, of(ProductGroup::kNormed), at_.hidden, &wait);
    if (n == 1) return;
    b_.if_(at_.blocks < n, [&] {
      b_.for_("product", 1, n, 1, [&](Reg<u32> index) {
        b_.if_(first_block(row_of(index)) == 0, [&] {
          b_.barrier();  // the next product reuses shared memory
          multiply_by_share(load_product(b_, row_of(index - 1)), of(ProductGroup::kNormed), at_.hidden);
        });
      });
    });
  }

  // wait: unless the phase has begun; the function passes by itself if it can.
  void multiply_by_share(const Product& product, const ProductFunction& function, const Global<f32>& x,
                         const Wait* wait = nullptr) {
    Reg<u32> rank = b_.block() - product.first_block;  // for earlier blocks this wraps to a large value
    const PhaseStart start =
        wait != nullptr ? wait->in_function : PhaseStart{false, barrier_.words(), CallOperand(0u), stamps()};
    const auto multiply = [&] {
      const Team team = team_of(b_, kBlockWarps, function.warps());
      function.call(VirtualBlock(b_, team, rank, zero_, zero_, product.n_blocks), product.variant,
                    addresses_of(product, product.weights, product.up, x, b_.pointer<f32>(product.y, 16)), &start);
    };
    if (wait != nullptr && function.starts_phases()) return b_.if_else(rank < product.n_blocks, multiply, wait->pass);
    if (wait != nullptr) wait->pass();
    b_.if_(rank < product.n_blocks, multiply);
  }
  GemvAddresses addresses_of(const Product& product, const Reg<u64>& weights, const Reg<u64>& up, const Global<f32>& x,
                             const Global<f32>& y) {
    const auto at = [&](const Reg<u64>& address) { return b_.pointer<f32>(address, 16); };
    return {{b_.pointer<u8>(weights, 16), b_.pointer<u8>(up, 16)},
            x,
            at(product.gamma),
            at(product.bias),
            y,
            {},
            product.rows,
            {}};
  }

  const StampAddresses* stamps() const { return stamps_ ? &stamps_->addresses() : nullptr; }
  const ProductFunction& of(ProductGroup group) const { return functions_.products[static_cast<size_t>(group)]; }

  // A layer's; all layers of experts have the same sizes.
  const ExpertProductSpec& assignments(PhaseKind phase) const {
    const ExpertProductSpec* found = nullptr;
    for_each_launch(list_, [&](const KernelLaunch& launch, uint32_t) {
      const auto* spec = std::get_if<ExpertProductSpec>(&launch.spec);
      if (found == nullptr && spec != nullptr && launch.phase == phase) found = spec;
    });
    return *found;
  }
  uint32_t n_used() const { return list_.first<RouteSpec>()->n_used; }
  // Private to this block, which writes and reads them.
  Global<u32> own_experts() { return own_route().as<u32>(); }
  Global<f32> own_weights() { return own_route().as<f32>() + n_used(); }
  Global<u8> own_route() { return at_.experts->routes + wide(b_.block()) * route_bytes(list_, 1); }

  void score_experts(const Wait& wait) {
    multiply_normed([&] { return row(offsetof(LayerRow, router)); }, at_.experts->shared_expert_gate ? 2 : 1, wait);
  }

  void route_and_multiply_gate_up(const Wait& wait) {
    wait([&] {
      if (at_.experts->shared_inner) ask_ahead(offsetof(LayerRow, gate_up));
    });
    const Team team = team_of(b_, kBlockWarps, 1, 1);
    b_.if_(team.index == 0, [&] {
      const RouteAddresses at{at_.experts->scores, own_experts(), own_weights(), {}};
      functions_.route->call(block_of(team, zero_, b_.var("n_blocks", 1u)), at);
    });
    b_.barrier();
    multiply_routed(offsetof(LayerRow, expert_gate_up), assignments(PhaseKind::kExpertsGateUp),
                    of(ProductGroup::kGateUp), at_.hidden, at_.experts->inner);
    multiply_shared(offsetof(LayerRow, gate_up), of(ProductGroup::kGateUp), at_.hidden);
  }

  void multiply_expert_down(const Wait& wait) {
    wait([&] {
      b_.for_("use", 0, n_used(), 1, [&](Reg<u32> use) {
        ahead_.ask(b_, row(offsetof(LayerRow, expert_down)), b_.uniform(own_experts().load(use)));
      });
      if (at_.experts->shared_inner) ask_ahead(offsetof(LayerRow, down));
    });
    multiply_routed(offsetof(LayerRow, expert_down), assignments(PhaseKind::kExpertsDown), of(ProductGroup::kDown),
                    at_.experts->inner, at_.experts->outputs);
    if (at_.experts->shared_inner)
      multiply_shared(offsetof(LayerRow, down), of(ProductGroup::kDown), *at_.experts->shared_inner);
  }

  void multiply_shared(size_t offset, const ProductFunction& function, const Global<f32>& x) {
    if (!at_.experts->shared_inner) return;
    b_.barrier();  // the next product reuses shared memory
    multiply_by_share(load_product(b_, row(offset)), function, x);
  }

  // Distributes the product's blocks (or one virtual block per assignment, if that is more) evenly over the
  // assignments.
  void multiply_routed(size_t offset, const ExpertProductSpec& spec, const ProductFunction& function,
                       const Global<f32>& x, const Global<f32>& y) {
    Reg<u32> n_blocks = number_at(b_, row(offset), offsetof(ProductRow, n_blocks)), n = b_.max(n_blocks, n_used());
    Reg<u32> rank = b_.block() - number_at(b_, row(offset), offsetof(ProductRow, first_block));
    const Team team = team_of(b_, kBlockWarps, function.warps());
    const auto first_of = [&](const Reg<u32>& use) { return (use * n + (n_used() - 1)) / n_used(); };
    const auto play = [&](const Reg<u32>& number) {
      Reg<u32> use = number * n_used() / n, first = first_of(use);
      const Product product = load_product(b_, row(offset));
      Reg<u32> stride = number_at(b_, row(offset), offsetof(ProductRow, stride));
      Reg<u32> up_stride = number_at(b_, row(offset), offsetof(ProductRow, up_stride));
      Reg<u64> expert = wide(b_.uniform(own_experts().load(use)));
      const auto matrix = [&](const Reg<u64>& of_first, const Reg<u32>& step) {
        return of_first + expert * (wide(step) * 16);
      };
      const Global<f32> input = spec.by_column ? x : x + wide(use) * spec.product.k;
      function.call(VirtualBlock(b_, team, number - first, zero_, zero_, first_of(use + 1) - first), product.variant,
                    addresses_of(product, matrix(product.weights, stride), matrix(product.up, up_stride), input,
                                 y + wide(use) * spec.product.rows));
      b_.barrier();  // the next block reuses shared memory
    };
    b_.if_(rank < n_blocks, [&] { b_.for_("of_assignments", rank, n, n_blocks, play); });
  }

  void sum_experts(const Wait& wait) {
    wait({});
    const ExpertParameters& e = *at_.experts;
    const ExpertSumAddresses at{e.outputs, own_weights(), e.shared_output, e.shared_expert_gate, at_.hidden, {}};
    play(expert_sum_launch(*list_.first<ExpertSumSpec>()),
         [&](const VirtualBlock& block) { functions_.sum->call(block, at); });
  }

  Global<f32> vector_at(size_t offset) { return b_.pointer<f32>(word_at(b_, row(offset), 0), 16); }
  StateAddresses state_of_layer() {
    return {(at_.request + offsetof(DecodeRequest, delta_state)).as<u64>(), at_.position(),
            number_at(b_, row(offsetof(LayerRow, place)), 0)};
  }

  void convolve(const Wait& wait) {
    wait([&] { ask_ahead(offsetof(LayerRow, output)); });
    play(conv_launch(list_.first<DeltaKernelSpec>()->net), [&](const VirtualBlock& block) {
      functions_.conv->call(block, {at_.delta->qkv, vector_at(offsetof(LayerRow, conv)), state_of_layer(), {}});
    });
  }

  void step_delta(const Wait& wait) {
    const DeltaParameters& x = *at_.delta;
    wait({});
    play(delta_launch(list_.first<DeltaKernelSpec>()->net), [&](const VirtualBlock& block) {
      functions_.delta->call(block, {x.qkv,
                                     x.z,
                                     x.alpha,
                                     x.beta,
                                     vector_at(offsetof(LayerRow, dt_bias)),
                                     vector_at(offsetof(LayerRow, decay)),
                                     vector_at(offsetof(LayerRow, delta_norm)),
                                     state_of_layer(),
                                     x.mixed,
                                     {}});
    });
  }

  // The output of the layer's mixer.
  Global<f32> mixed() {
    if (!at_.delta) return at_.mixed;
    return b_.pointer<f32>(b_.select(has_phase(PhaseKind::kConv), b_.address(at_.delta->mixed), b_.address(at_.mixed)),
                           16);
  }

  Global<u8> pages(size_t offset) { return b_.pointer<u8>(word_at(b_, row(offset), 0), KvLayout::kAlignment); }
  Global<u64> page_tables() const { return (at_.request + offsetof(DecodeRequest, page_table)).as<u64>(); }

  // Prefetches keys and values of the block's first splits; a page is contiguous per KV head.
  void ask_for_keys(const Reg<u32>& position, const Global<u32>& table) {
    const Dimensions grid = attention_grid(attention_, attention_.max_positions);
    Reg<u32> number = b_.warp() * at_.blocks + b_.block();
    Reg<u32> splits = b_.min(position / kPagePositions + 1, grid.x);
    b_.if_(b_.warp() < attention_teams_ && number < splits * grid.y, [&] {
      Reg<u32> split = number / grid.y, kv_head = number - split * grid.y;
      Reg<u32> page = table.load(split, kReadOnly);
      const auto ask = [&](KvType type, size_t offset) {
        const KvLayout layout{type, attention_.n_kv_heads, attention_.head_dim};
        const KvRows rows = KvRows(b_, layout, pages(offset), kv_head).in_page(page);
        warpchat::ask_ahead(b_, target_, rows.codes(), b_.var("bytes", kPagePositions * layout.cells_bytes()));
      };
      ask(attention_.k_type, offsetof(LayerRow, k_pages));
      ask(attention_.v_type, offsetof(LayerRow, v_pages));
    });
  }

  // Processes the splits up to the position; a position out of range is reported by one block of a full-context grid.
  // Addresses of pages and norms are reloaded per split to save registers. If the number of teams is a multiple of the
  // KV heads, as on most GPUs, each team keeps one head and rotates its queries once.
  void attend(const Wait& wait) {
    std::optional<Reg<u32>> rope, position;
    std::optional<Global<u32>> table;
    wait([&] {
      if (attention_.scatters.size() > 1) rope.emplace(b_.uniform(number_at(b_, row(offsetof(LayerRow, rope)), 0)));
      position.emplace(b_.uniform(at_.position().load()));
      table.emplace(page_table(b_, page_tables(), 0));
      ask_for_keys(*position, *table);
      ask_ahead(offsetof(LayerRow, output));
    });
    const Dimensions grid = attention_grid(attention_, attention_.max_positions);
    const Team team = team_of(b_, kBlockWarps, attention_warps(), attention_teams_);
    Reg<u32> n_x = b_.var("n_splits", grid.x);
    Reg<u32> splits = b_.min(*position / kPagePositions + 1, grid.x);
    Var<u32> rotated = b_.var("turned", kNoneRotated);
    play_blocks(b_, team, at_.blocks, splits * grid.y, [&](const Reg<u32>& number) {
      Reg<u32> split = number / grid.y, kv_head = number - split * grid.y;
      std::vector<Global<f32>> gamma;
      if (attention_.scatters[0].qk_norm)
        for (size_t offset : {offsetof(LayerRow, q_gamma), offsetof(LayerRow, k_gamma)})
          gamma.push_back(vector_at(offset));
      const Global<u8> k_pages = pages(offsetof(LayerRow, k_pages)), v_pages = pages(offsetof(LayerRow, v_pages));
      const ProjectionAddresses projections{at_.k, at_.v,  gamma, in_request(offsetof(DecodeRequest, n_pages)),
                                            rope,  rotated};
      functions_.attend.call(
          VirtualBlock(b_, team, split, kv_head, zero_, n_x),
          {at_.q, k_pages, v_pages, *table, *position, at_.mixed, at_.scratch, at_.error, at_.q_gate, projections});
      rotated = kv_head;
    });
  }

  void sample(const Wait& wait) {
    wait({});
    sample();
    b_.if_(in_request(offsetof(DecodeRequest, returns_rows)) != 0, [&] { return_row(); });
  }

  // Skipped if a forced token follows, in which case nothing was sampled.
  void sample() {
    Reg<u32> number = b_.uniform(at_.step().load()) + 1;
    b_.if_(number >= in_request(offsetof(DecodeRequest, n_forced)), [&] {
      const SampleBuffers buffers{at_.logits, at_.sampler, at_.choice(), at_.position(), at_.error, zero_};
      sampler_.call(block_of(team_of(b_, kBlockWarps, kBlockWarps), b_.block(), at_.blocks), buffers);
    });
  }

  void return_row() {
    Global<f32> row = at_.rows + wide(at_.step().load()) * n_vocab();
    Reg<u32> first = b_.block() * kPersistentThreads + b_.thread();
    b_.for_("logit", first, n_vocab(), at_.blocks * kPersistentThreads,
            [&](Reg<u32> i) { row.store(i, at_.logits.load(i)); });
  }

  Reg<u32> in_request(size_t offset) const { return number_at(at_.request, offset); }

  // Reports a token or position out of range by one thread; all blocks exit before the first barrier.
  void exit_if_invalid() {
    Reg<u32> token = at_.token().load(), position = at_.position().load();
    Pred refused = token >= n_vocab() || position >= max_positions();
    b_.if_(b_.uniform(refused), [&] {
      b_.if_((b_.block() | b_.thread()) == 0, [&] {
        refuse_token(token);
        b_.if_(position >= max_positions(), [&] {
          report_error(b_, at_.error, KernelError::kPositionOutOfRange, position, max_positions(), zero_);
        });
        tell_end(static_cast<uint32_t>(DecodeEnd::kError));
      });
      b_.return_();
    });
  }
  void refuse_token(const Reg<u32>& token) {
    b_.if_(token >= n_vocab(),
           [&] { report_error(b_, at_.error, KernelError::kTokenOutOfRange, token, n_vocab(), zero_); });
  }
  void tell_end(In<u32> end) { (at_.host + offsetof(HostWords, end)).as<u32>().store_release(end, Scope::kSystem); }
  uint32_t n_vocab() const { return embedding_.n_vocab; }
  uint32_t max_positions() const { return attention_.max_positions; }

  void emit(const Wait& wait) {
    wait({});
    b_.if_((b_.block() | b_.thread()) == 0, [&] {
      Reg<u32> step = at_.step().load(), number = step + 1;
      Var<u32> token = b_.var("next_token", at_.choice().load());
      Pred is_forced = number < in_request(offsetof(DecodeRequest, n_forced));
      b_.if_(is_forced, [&] { token = at_.forced.load(number, kReadOnly); });
      refuse_token(token);
      Var<u32> end = b_.var("end", static_cast<uint32_t>(DecodeEnd::kError));
      b_.if_(at_.error.load() == 0, [&] { go_on(step, token, is_forced, end); });
      at_.end().store(0, end);
      b_.if_(end != 0, [&] { tell_end(end); });
    });
  }

  // Sends the next token to the host and stores it in the state, or sets a reason to end.
  void go_on(const Reg<u32>& step, const Reg<u32>& token, const Pred& is_forced, Var<u32>& end) {
    Reg<u32> number = step + 1;
    Reg<u32> position = at_.position().load() + 1;
    end = static_cast<uint32_t>(DecodeEnd::kNone);
    const auto end_if = [&](const Pred& condition, DecodeEnd reason) {
      b_.if_(condition, [&] { end = static_cast<uint32_t>(reason); });
    };
    end_if(position >= max_positions(), DecodeEnd::kCacheFull);
    end_if(number >= in_request(offsetof(DecodeRequest, max_steps)), DecodeEnd::kMaxSteps);
    end_if(stop_flag() != 0, DecodeEnd::kStopped);
    b_.for_("end_token", 0, in_request(offsetof(DecodeRequest, n_end_tokens)), 1, [&](Reg<u32> i) {
      Reg<u32> end_token = (at_.request + offsetof(DecodeRequest, end_tokens)).as<u32>().load(i, kReadOnly);
      end_if(!is_forced && end_token == token, DecodeEnd::kEndToken);
    });
    // The release makes all blocks' writes of this step visible to a reader of the slot.
    Global<u64> tokens = (at_.host + sizeof(HostWords)).as<u64>();
    (tokens + step).store_release(b_.join<u64>(token, number), Scope::kSystem);
    at_.token().store(0, token);
    at_.position().store(0, position);
    at_.step().store(0, number);
  }

  Reg<u32> stop_flag() { return (at_.host + offsetof(HostWords, stop)).as<u32>().load_relaxed(Scope::kSystem); }

  Builder b_;
  Target target_;
  const LaunchList& list_;
  const EmbeddingSpec& embedding_;
  const AttentionSpec& attention_;
  TokenFunctions functions_;
  SampleFunction sampler_;
  Parameters at_;
  Shared<u8> shared_;  // of the barrier and the table: one register has the address of both
  GridBarrier barrier_;
  LayerTable table_;
  WeightsAhead ahead_;
  Reg<u32> zero_;
  uint32_t attention_teams_;
  std::optional<StampWriter> stamps_;
  std::optional<Reg<u32>> layer_;
};

// Hash of all launches' names in order.
uint32_t hash_of(const LaunchList& list) {
  uint32_t hash = name_hash("");
  for_each_launch(list,
                  [&](const KernelLaunch& launch, uint32_t) { hash = name_hash(name_of(launch.spec) + ";", hash); });
  return hash;
}

}  // namespace

std::string name_of(const PersistentSpec& spec) {
  const EmbeddingSpec& embedding = *spec.decoder.first<EmbeddingSpec>();
  char hash[16];
  std::snprintf(hash, sizeof hash, "%08x", hash_of(spec.decoder));
  return "persistent_decoder_l" + std::to_string(spec.decoder.layers.size()) + "_h" + std::to_string(embedding.hidden) +
         "_v" + std::to_string(embedding.n_vocab) + "_s" + std::to_string(spec.decoder.shape.context) + "_r" +
         std::to_string(spec.ring) + (spec.stamps ? "_stamps_" : "_") + hash;
}

uint64_t route_bytes(const LaunchList& list, uint32_t n_blocks) {
  const auto* routing = list.first<RouteSpec>();
  return routing == nullptr ? 0 : uint64_t{n_blocks} * routing->n_used * 8;
}

Buffer persistent_buffer(std::string_view parameter) {
  if (parameter == "delta_mixed") return Buffer::kDeltaMixed;
  if (parameter == "scratch") return Buffer::kAttentionScratch;
  for (size_t i = 0; i < kBuffers; ++i)
    if (name_of(static_cast<Buffer>(i)) == parameter) return static_cast<Buffer>(i);
  throw Error("the persistent decoder has no buffer " + std::string(parameter));
}

SampleSpec persistent_sampling(const PersistentSpec& spec) {
  return {.n_vocab = spec.decoder.first<EmbeddingSpec>()->n_vocab, .ring = spec.ring};
}

uint32_t persistent_attention_teams(uint32_t shared_bytes, Target target) {
  constexpr uint32_t kOthers = 2048;  // the table's rows and the barrier's word
  return std::clamp((limits(target).shared_bytes - kOthers) / (shared_bytes + 64), 1u, kBlockWarps / attention_warps());
}

void share_blocks(std::span<ProductRow* const> rows, std::span<const uint64_t> bytes, uint32_t n_blocks) {
  const uint64_t total = std::accumulate(bytes.begin(), bytes.end(), uint64_t{0});
  uint32_t first = 0, spare = n_blocks - std::min(n_blocks, static_cast<uint32_t>(rows.size()));
  uint64_t before = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (n_blocks < rows.size()) {
      rows[i]->first_block = 0, rows[i]->n_blocks = n_blocks;
      continue;
    }
    // At least one block each; the rest in proportion to bytes.
    const auto part = [&](uint64_t up_to) { return static_cast<uint32_t>((up_to * spare + total / 2) / total); };
    rows[i]->first_block = first;
    rows[i]->n_blocks = 1 + part(before + bytes[i]) - part(before);
    first += rows[i]->n_blocks;
    before += bytes[i];
  }
}

Kernel persistent_decoder(const PersistentSpec& spec, Target target) { return DecoderWriter(spec, target).write(); }

}  // namespace warpchat
