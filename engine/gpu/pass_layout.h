// A pass on a GPU: which kernels its runs go through, and where their columns lie in the buffers. Single tokens are one
// part, in front, so that their kernels do not depend on the prompts beside them; every longer run is a part by itself.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "engine/steps.h"
#include "kernels/kernel_list.h"

namespace warpchat {

// A longer run begins at a column whose floats are at 16 bytes, whatever the width: kernels read from there.
inline constexpr uint32_t kAlignedColumns = 4;

struct PassLayout {
  struct Part {
    PassKind kind;
    uint32_t first, n_columns;  // in the buffers
    uint32_t first_sequence;    // the first column's, of sequences
    uint32_t longest = 0;       // keys of the last position
    uint64_t n_keys = 0;        // summed over the columns
    uint32_t n_wanted = 0;      // of a prompt, the last columns: those whose logits are wanted
    void add_position(uint32_t position);
  };
  struct Wanted {  // logits of neighbours in the buffers, which become neighbouring rows
    PassKind kind;
    uint32_t column, row, n;
  };
  std::vector<Part> parts;
  std::vector<Wanted> wanted;
  std::vector<uint32_t> words;                           // u32 tokens [n_columns], then as many positions
  std::vector<uint32_t> sequences;                       // of the columns, a prompt's once
  std::vector<uint32_t> buffer_columns;                  // of the pass's columns: where they are in the buffers
  std::vector<uint32_t> logits_columns;                  // of the pass, ascending: the rows of logits
  std::vector<uint32_t> last_sequences, last_positions;  // of the runs whose logits are wanted

  uint32_t n_columns() const { return static_cast<uint32_t>(words.size() / 2); }  // of the buffers
  // Of prompts, and columns before them up to one whose number is a multiple of `aligned`, which kAlignedColumns is of.
  void keep_wanted(uint32_t aligned);
  const Part& part_of(uint32_t buffer_column) const;  // Error if it is no longer computed
  bool has_prompts() const { return !parts.empty() && parts.back().kind == PassKind::kPrompt; }
};

PassLayout lay_out(std::span<const Run> runs);
// One column for each of these sequences, with the logits of all; the tokens are zero.
PassLayout lay_out_tokens(std::span<const uint32_t> sequences, std::span<const uint32_t> positions);

}  // namespace warpchat
