// What is seen is put together from runs of bytes between escape sequences and line ends; places in it are marked run
// by run.
#include "app/terminal/marked_words.h"

#include <algorithm>
#include <vector>

#include "app/platform/text/styled_text.h"
#include "app/terminal/pager.h"
#include "engine/store/find_text.h"
#include "engine/store/search_words.h"

namespace warpchat {

namespace {

struct VisibleRun {
  size_t laid_out, seen, bytes;  // where it begins, and how long it is
};

struct Seen {
  std::string text;
  std::vector<VisibleRun> runs;  // in order
};

Seen seen_of(std::string_view laid_out, size_t from) {
  Seen seen;
  for (size_t at = from; at < laid_out.size();) {
    if (laid_out[at] == '\x1b') {
      at += escape_bytes(laid_out.substr(at));
    } else if (laid_out[at] == '\n') {
      at = std::min(laid_out.find_first_not_of("\n ", at), laid_out.size());
      seen.text += ' ';
    } else {
      const size_t end = std::min(laid_out.find_first_of("\x1b\n", at), laid_out.size());
      seen.runs.push_back({at, seen.text.size(), end - at});
      seen.text += laid_out.substr(at, end - at);
      at = end;
    }
  }
  return seen;
}

// The place in laid_out of a byte that is seen.
size_t laid_out_at(const Seen& seen, size_t byte) {
  const auto behind = std::ranges::upper_bound(seen.runs, byte, {}, &VisibleRun::seen);
  const VisibleRun& run = *(behind - 1);
  return run.laid_out + byte - run.seen;
}

}  // namespace

std::string mark_words(std::string_view laid_out, std::string_view words, size_t from) {
  const Seen seen = seen_of(laid_out, from);
  const TextPlaces places = find_searched(seen.text, words);
  std::string marked;
  size_t done = 0, next = 0;  // bytes of laid_out; of places
  const auto copy_to = [&](size_t end) {
    marked += laid_out.substr(done, end - done);
    done = end;
  };
  for (const VisibleRun& run : seen.runs) {
    const size_t run_end = run.seen + run.bytes;
    while (next < places.size() && places[next].first < run_end) {
      const size_t begin = std::max(places[next].first, run.seen), end = std::min(places[next].second, run_end);
      if (begin < end) {
        copy_to(run.laid_out + begin - run.seen);
        marked += kMarkBegin;
        copy_to(run.laid_out + end - run.seen);
        marked += kMarkEnd;
      }
      if (places[next].second > run_end) break;  // it goes on in the next run
      ++next;
    }
  }
  copy_to(laid_out.size());
  return marked;
}

bool has_words_of(std::string_view laid_out, std::string_view words) {
  const std::string text = seen_of(laid_out, 0).text;
  return !find_text(text, words, /*max=*/1).empty() ||
         std::ranges::all_of(split_search_words(words),
                             [&](const std::string& word) { return !find_text(text, word, /*max=*/1).empty(); });
}

std::string rows_around_words(const std::string& laid_out, std::string_view words, int columns, int rows) {
  const Seen seen = seen_of(laid_out, 0);
  const TextPlaces places = find_searched(seen.text, words);
  if (places.empty()) return "";
  const size_t place = laid_out_at(seen, places.front().first);
  const auto line_before = [&](size_t line) {
    const size_t end = line < 2 ? std::string::npos : laid_out.rfind('\n', line - 2);
    return end == std::string::npos ? 0 : end + 1;
  };
  const size_t line = place == 0 ? 0 : line_before(place + 1);
  const size_t begin = line > 0 ? line_before(line) : line;
  size_t end = begin;
  while (end < laid_out.size()) {
    const size_t next = std::min(laid_out.find('\n', end), laid_out.size() - 1) + 1;
    rows -= rows_of(std::string_view(laid_out).substr(end, next - end), columns);
    if (rows < 0 && end > line) break;
    end = next;
  }
  return laid_out.substr(begin, end - begin);
}

}  // namespace warpchat
