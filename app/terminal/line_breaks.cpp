// One iterator a thread, opened with the first line that needs it.
#include "app/terminal/line_breaks.h"

#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>

#include <memory>
#include <string>

#include "models/error.h"

namespace warpchat {

namespace {

struct Close {
  void operator()(UBreakIterator* iterator) const { ubrk_close(iterator); }
};

void require(UErrorCode status) {
  if (U_FAILURE(status))
    throw Error(std::string("ICU cannot find line breaks: ") + u_errorName(status) + "; reinstall libicu72");
}

UBreakIterator* iterator_of_thread() {
  thread_local const std::unique_ptr<UBreakIterator, Close> iterator = [] {
    UErrorCode status = U_ZERO_ERROR;
    UBreakIterator* opened = ubrk_open(UBRK_LINE, "en", nullptr, 0, &status);
    require(status);
    return std::unique_ptr<UBreakIterator, Close>(opened);
  }();
  return iterator.get();
}

}  // namespace

std::vector<size_t> line_breaks(std::string_view text) {
  UBreakIterator* iterator = iterator_of_thread();
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
