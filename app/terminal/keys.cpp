// One table of sequences; everything else is shape: ESC [ parameters final, ESC O letter, ESC key.
#include "app/terminal/keys.h"

#include <algorithm>
#include <charconv>

#include "app/terminal/graphemes.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

constexpr std::string_view kPasteEnd = "\x1b[201~";
constexpr size_t kLongestSequence = 32;  // bytes; what is longer is no key

struct Sequence {
  std::string_view bytes;  // after the escape byte
  KeyKind kind;
};

constexpr Sequence kSequences[] = {
    {"[A", KeyKind::kUp},
    {"OA", KeyKind::kUp},
    {"[B", KeyKind::kDown},
    {"OB", KeyKind::kDown},
    {"[C", KeyKind::kRight},
    {"OC", KeyKind::kRight},
    {"[D", KeyKind::kLeft},
    {"OD", KeyKind::kLeft},
    {"[H", KeyKind::kHome},
    {"OH", KeyKind::kHome},
    {"[1~", KeyKind::kHome},
    {"[7~", KeyKind::kHome},
    {"[F", KeyKind::kEnd},
    {"OF", KeyKind::kEnd},
    {"[4~", KeyKind::kEnd},
    {"[8~", KeyKind::kEnd},
    {"[1;5H", KeyKind::kTextStart},
    {"<", KeyKind::kTextStart},
    {"[1;5F", KeyKind::kTextEnd},
    {">", KeyKind::kTextEnd},
    {"[3~", KeyKind::kDelete},
    {"[1;5C", KeyKind::kWordRight},
    {"[1;3C", KeyKind::kWordRight},
    {"[5C", KeyKind::kWordRight},
    {"Oc", KeyKind::kWordRight},
    {"f", KeyKind::kWordRight},
    {"[1;5D", KeyKind::kWordLeft},
    {"[1;3D", KeyKind::kWordLeft},
    {"[5D", KeyKind::kWordLeft},
    {"Od", KeyKind::kWordLeft},
    {"b", KeyKind::kWordLeft},
    {"d", KeyKind::kDeleteWordRight},
    {"[3;5~", KeyKind::kDeleteWordRight},
    {"[3;3~", KeyKind::kDeleteWordRight},
    {"\x7f", KeyKind::kDeleteWordLeft},
    {"\b", KeyKind::kDeleteWordLeft},
    {"\r", KeyKind::kNewline},
    {"\n", KeyKind::kNewline},
    {"[13;2u", KeyKind::kNewline},
    {"[13;3u", KeyKind::kNewline},
    {"[27;2;13~", KeyKind::kNewline},
    {"[27;3;13~", KeyKind::kNewline},
};

// Control strings of a terminal: OSC, DCS, APC, PM and SOS. Alt and one of these letters is a key; a report goes on
// with one of the others.
constexpr std::string_view kOpensString = "]P_^X", kReports = "0123456789>=!?+$GlL";

bool begins_string(std::string_view text) {
  return text.size() >= 3 && text[0] == '\x1b' && kOpensString.find(text[1]) != std::string_view::npos &&
         kReports.find(text[2]) != std::string_view::npos;
}

bool is_final(char c) { return c >= 0x40 && c <= 0x7E; }

// The length of the sequence at the front of text (after the escape byte), 0 while it is unfinished.
size_t sequence_length(std::string_view text) {
  if (text.empty()) return 0;
  if (text[0] == 'O') return text.size() < 2 ? 0 : 2;
  if (text.size() < 2 && kOpensString.find(text[0]) != std::string_view::npos) return 0;  // a report may follow
  if (text[0] != '[') return 1;
  for (size_t i = 1; i < text.size(); ++i)
    if (is_final(text[i]) || i + 1 == kLongestSequence) return i + 1;
  return 0;
}

// "[ROW;COLUMNR"
std::optional<Key> cursor_report(std::string_view bytes) {
  const size_t semicolon = bytes.find(';');
  if (!bytes.starts_with('[') || !bytes.ends_with('R') || semicolon == std::string_view::npos) return std::nullopt;
  int column = 0;
  const char* end = bytes.data() + bytes.size() - 1;
  if (std::from_chars(bytes.data() + semicolon + 1, end, column).ptr != end) return std::nullopt;
  return Key{KeyKind::kCursorColumn, {}, 0, column};
}

Key control_key(char byte) {
  switch (byte) {
    case '\r':
    case '\n':
      return {KeyKind::kEnter};
    case '\t':
      return {KeyKind::kTab};
    case '\b':
    case '\x7f':
      return {KeyKind::kBackspace};
    default:
      return {KeyKind::kControl, {}, static_cast<char>(byte + '@')};
  }
}

size_t utf8_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 1;
}

// Pasted bytes as text: line ends to \n, no other control character, nothing that is no UTF-8.
std::string clean_paste(std::string_view bytes) {
  std::string text;
  for (size_t at = 0; at < bytes.size();) {
    const CodePoint c = first_code_point(bytes.substr(at));
    if (c.value == '\r') {
      text += '\n';
      if (at + 1 < bytes.size() && bytes[at + 1] == '\n') ++at;
    } else if (c.value == 0xFFFD && c.bytes == 1) {
      text += kReplacementCharacter;
    } else if (c.value == '\n' || c.value == '\t' || !is_control(c.value)) {
      text += bytes.substr(at, c.bytes);
    }
    at += c.bytes;
  }
  return text;
}

}  // namespace

std::vector<Key> KeyDecoder::add(std::string_view bytes) {
  pending_ += bytes;
  std::vector<Key> keys;
  while (!pending_.empty()) {
    std::optional<Key> key = take_key();
    if (!key) break;
    keys.push_back(std::move(*key));
  }
  return keys;
}

std::vector<Key> KeyDecoder::timeout() {
  if (!waiting()) return {};
  const bool lone_escape = pending_ == "\x1b";
  pending_.clear();
  if (!lone_escape) return {};
  return {{KeyKind::kEscape}};
}

std::optional<Key> KeyDecoder::take_key() {
  if (pasting_) return take_paste();
  if (in_string_) return take_string();
  if (pending_[0] == '\x1b') return take_escape();
  if (static_cast<unsigned char>(pending_[0]) >= 0x20 && pending_[0] != '\x7f') return take_text();
  const Key key = control_key(pending_[0]);
  pending_.erase(0, 1);
  return key;
}

// Up to its end: BEL or ESC \. Any other control character, such as Enter, ends a report that was cut off, and is a
// key.
std::optional<Key> KeyDecoder::take_string() {
  size_t end = 0;
  while (end < pending_.size() && !is_control(static_cast<unsigned char>(pending_[end]) & 0x7Fu)) ++end;
  pending_.erase(0, end);
  if (pending_.empty() || pending_ == "\x1b") return std::nullopt;
  if (pending_[0] == '\a') pending_.erase(0, 1);
  if (pending_.starts_with("\x1b\\")) pending_.erase(0, 2);
  in_string_ = false;
  return Key{KeyKind::kOther};
}

std::optional<Key> KeyDecoder::take_escape() {
  if (begins_string(pending_)) {
    pending_.erase(0, 2);
    in_string_ = true;
    return take_string();
  }
  if (pending_.starts_with("\x1b\x1b")) {
    pending_.erase(0, 1);
    return Key{KeyKind::kEscape};
  }
  const size_t length = sequence_length(std::string_view(pending_).substr(1));
  if (length == 0) return std::nullopt;
  const std::string bytes = pending_.substr(1, length);
  pending_.erase(0, 1 + length);
  if (bytes == "[200~") {
    pasting_ = true;
    return take_paste();
  }
  if (const std::optional<Key> report = cursor_report(bytes)) return report;
  const auto* found =
      std::find_if(std::begin(kSequences), std::end(kSequences), [&](const Sequence& s) { return s.bytes == bytes; });
  return Key{found == std::end(kSequences) ? KeyKind::kOther : found->kind};
}

std::optional<Key> KeyDecoder::take_text() {
  const size_t length = utf8_length(static_cast<unsigned char>(pending_[0]));
  if (pending_.size() < length) return std::nullopt;
  const CodePoint c = first_code_point(pending_);
  const std::string text = pending_.substr(0, c.bytes);
  pending_.erase(0, c.bytes);
  if ((c.value == 0xFFFD && c.bytes == 1) || is_control(c.value)) return Key{KeyKind::kOther};
  return Key{KeyKind::kText, text};
}

std::optional<Key> KeyDecoder::take_paste() {
  const size_t end = pending_.find(kPasteEnd, paste_searched_);
  if (end == std::string::npos) {
    paste_searched_ = pending_.size() - std::min(pending_.size(), kPasteEnd.size() - 1);
    return std::nullopt;
  }
  paste_searched_ = 0;
  Key key{KeyKind::kPaste, clean_paste(std::string_view(pending_).substr(0, end))};
  pending_.erase(0, end + kPasteEnd.size());
  pasting_ = false;
  return key;
}

}  // namespace warpchat
