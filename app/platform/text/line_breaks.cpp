// One iterator for all threads, opened with the first line that needs it. One a thread would end the program where
// there is no memory to note its destructor.
#include "app/platform/text/line_breaks.h"

#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>

#include <memory>
#include <mutex>
#include <string>

#include "models/error.h"
#include "models/out_of_memory.h"

namespace warpchat {

namespace {

struct Close {
  void operator()(UBreakIterator* iterator) const { ubrk_close(iterator); }
};

void require(UErrorCode status) {
  if (status == U_MEMORY_ALLOCATION_ERROR) throw OutOfMemory();
  if (U_FAILURE(status))
    throw Error(std::string("ICU cannot find line breaks: ") + u_errorName(status) + "; reinstall libicu72");
}

std::unique_ptr<UBreakIterator, Close> open_iterator() {
  UErrorCode status = U_ZERO_ERROR;
  std::unique_ptr<UBreakIterator, Close> opened(ubrk_open(UBRK_LINE, "en", nullptr, 0, &status));
  require(status);
  return opened;
}

}  // namespace

std::vector<size_t> line_breaks(std::string_view text) {
  static std::mutex mutex;
  static std::unique_ptr<UBreakIterator, Close> opened;
  const std::lock_guard lock(mutex);
  if (!opened) opened = open_iterator();
  UBreakIterator* const iterator = opened.get();
  UErrorCode status = U_ZERO_ERROR;
  UText bytes = UTEXT_INITIALIZER;
  utext_openUTF8(&bytes, text.data(), static_cast<int64_t>(text.size()), &status);
  ubrk_setUText(iterator, &bytes, &status);
  utext_close(&bytes);  // the iterator has its own view of the text
  require(status);
  std::vector<size_t> breaks;
  size_t begin = 0;
  for (int32_t at = ubrk_next(iterator); at != UBRK_DONE; at = ubrk_next(iterator)) {
    const auto end = static_cast<size_t>(at);
    for (size_t path = text.find(" /", begin); path < end - 1; path = text.find(" /", path + 1))
      breaks.push_back(path + 1);
    if (end < text.size()) breaks.push_back(end);
    begin = end;
  }
  return breaks;
}

bool needs_dictionary(char32_t code_point) {
  return u_getIntPropertyValue(static_cast<UChar32>(code_point), UCHAR_LINE_BREAK) == U_LB_COMPLEX_CONTEXT;
}

}  // namespace warpchat
