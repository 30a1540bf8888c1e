// Layout of a pass on a GPU: which kernels its runs use, and where their columns are in the buffers. All single tokens
// form one segment at the front, so that their kernels do not depend on prompts in the same pass. Each longer run is
// its own segment.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "engine/steps.h"
#include "kernels/launch_list.h"

namespace warpchat {

// Longer runs begin at a multiple of this, which is 16-byte aligned for any width, as kernels require.
inline constexpr uint32_t kAlignedColumns = 4;

struct PassLayout {
  struct Segment {
    PassKind kind;
    uint32_t first, n_columns;  // in the buffers
    uint32_t first_sequence;    // index of the first column in `sequences`
    uint32_t longest = 0;       // number of keys of the last position
    uint64_t n_keys = 0;        // summed over columns
    uint32_t n_wanted = 0;      // last columns of a prompt, whose logits are wanted
    void add_position(uint32_t position);
  };
  struct Wanted {  // adjacent buffer columns whose logits are adjacent rows
    PassKind kind;
    uint32_t column, row, n;
  };
  std::vector<Segment> segments;
  std::vector<Wanted> wanted;
  std::vector<uint32_t> words;                           // u32 tokens [n_columns], then as many positions
  std::vector<uint32_t> sequences;                       // per column, once per prompt
  std::vector<uint32_t> buffer_columns;                  // buffer column of each column of the pass
  std::vector<uint32_t> logits_columns;                  // columns of the pass, ascending: rows of logits
  std::vector<uint32_t> last_sequences, last_positions;  // last token of each run with wanted logits

  uint32_t n_columns() const { return static_cast<uint32_t>(words.size() / 2); }  // in the buffers
  // Reduces prompts to wanted columns, and earlier ones back to a multiple of `aligned`, which divides kAlignedColumns.
  void keep_wanted(uint32_t aligned);
  const Segment& segment_of(uint32_t buffer_column) const;  // Error if the column was dropped
  bool has_prompts() const { return !segments.empty() && segments.back().kind == PassKind::kPrefill; }
};

PassLayout lay_out(std::span<const Run> runs);
// One column per sequence, with wanted logits; tokens are zero.
PassLayout lay_out_tokens(std::span<const uint32_t> sequences, std::span<const uint32_t> positions);

}  // namespace warpchat
