#include "engine/gpu/pass_layout.h"

#include <algorithm>

#include "models/error.h"

namespace warpchat {

void PassLayout::Segment::add_position(uint32_t position) {
  longest = std::max(longest, position + 1);
  n_keys += position + 1;
}

namespace {

PassLayout lay_out_verify(const Run& run) {
  PassLayout layout;
  PassLayout::Segment segment{.kind = PassKind::kVerify, .n_columns = run.n_columns()};
  for (const Token token : run.tokens) layout.words.push_back(static_cast<uint32_t>(token));
  for (uint32_t c = 0; c < segment.n_columns; ++c) {
    layout.words.push_back(run.position + c);
    segment.add_position(run.position + c);
  }
  layout.segments = {segment};
  for (uint32_t c = 0; c < segment.n_columns; ++c) layout.buffer_columns.push_back(c);
  layout.sequences.assign(segment.n_columns, run.sequence);
  const uint32_t first = segment.n_columns - run.n_wanted();
  if (first < segment.n_columns) layout.wanted = {{segment.kind, first, 0, run.n_wanted()}};
  for (uint32_t c = first; c < segment.n_columns; ++c) {
    layout.logits_columns.push_back(c);
    layout.last_sequences.push_back(run.sequence);
    layout.last_positions.push_back(run.position + c);
  }
  return layout;
}

}  // namespace

void PassLayout::keep_wanted(uint32_t aligned) {
  std::erase_if(segments,
                [](const Segment& segment) { return segment.kind == PassKind::kPrefill && segment.n_wanted == 0; });
  for (Segment& segment : segments) {
    if (segment.kind != PassKind::kPrefill) continue;
    const uint32_t before = (segment.n_columns - segment.n_wanted) / aligned * aligned;
    segment.first += before;
    segment.n_columns -= before;
  }
}

const PassLayout::Segment& PassLayout::segment_of(uint32_t buffer_column) const {
  const auto segment = std::ranges::find_if(
      segments, [&](const Segment& p) { return buffer_column >= p.first && buffer_column - p.first < p.n_columns; });
  if (segment == segments.end()) throw Error("reading a column that the pass did not compute");
  return *segment;
}

PassLayout lay_out(std::span<const Run> runs) {
  if (runs.size() == 1 && runs[0].verify_draft && runs[0].n_columns() > 1) return lay_out_verify(runs[0]);
  PassLayout layout;
  std::vector<uint32_t> first(runs.size());  // first column of each run
  uint32_t n_columns = 0;
  const auto place = [&](size_t i, PassLayout::Segment& segment) {
    first[i] = segment.first + segment.n_columns;
    segment.n_columns += runs[i].n_columns();
    for (uint32_t c = 0; c < runs[i].n_columns(); ++c) segment.add_position(runs[i].position + c);
    layout.sequences.push_back(runs[i].sequence);
    n_columns = segment.first + segment.n_columns;
  };
  PassLayout::Segment singles{};
  for (size_t i = 0; i < runs.size(); ++i)
    if (runs[i].n_columns() == 1) place(i, singles);
  singles.kind = kind_of_tokens(singles.n_columns);
  if (singles.n_columns > 0) layout.segments.push_back(singles);
  for (size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].n_columns() == 1) continue;
    const uint32_t aligned = (n_columns + kAlignedColumns - 1) / kAlignedColumns * kAlignedColumns;
    layout.segments.push_back({PassKind::kPrefill, aligned, 0, static_cast<uint32_t>(layout.sequences.size())});
    layout.segments.back().n_wanted = runs[i].n_wanted();
    place(i, layout.segments.back());
  }
  layout.words.resize(2 * n_columns);
  uint32_t column = 0;  // column of the pass
  for (size_t i = 0; i < runs.size(); ++i) {
    const Run& run = runs[i];
    const PassKind kind = run.n_columns() > 1 ? PassKind::kPrefill : singles.kind;
    for (uint32_t c = 0; c < run.n_columns(); ++c, ++column) {
      const uint32_t at = first[i] + c;
      layout.buffer_columns.push_back(at);
      layout.words[at] = static_cast<uint32_t>(run.tokens[c]);
      layout.words[n_columns + at] = run.position + c;
      if (c < run.n_columns() - run.n_wanted()) continue;
      const auto row = static_cast<uint32_t>(layout.logits_columns.size());
      layout.logits_columns.push_back(column);
      std::vector<PassLayout::Wanted>& wanted = layout.wanted;
      if (!wanted.empty() && wanted.back().kind == kind && wanted.back().column + wanted.back().n == at)
        ++wanted.back().n;
      else
        wanted.push_back({kind, at, row, 1});
    }
    if (run.n_wanted() == 0) continue;
    layout.last_sequences.push_back(run.sequence);
    layout.last_positions.push_back(run.position + run.n_columns() - 1);
  }
  return layout;
}

PassLayout lay_out_tokens(std::span<const uint32_t> sequences, std::span<const uint32_t> positions) {
  const Token none = 0;
  std::vector<Run> runs;
  for (size_t i = 0; i < sequences.size(); ++i) runs.push_back({sequences[i], positions[i], {&none, 1}, Logits::kLast});
  return lay_out(runs);
}

}  // namespace warpchat
