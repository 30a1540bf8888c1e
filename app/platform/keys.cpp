// One table of sequences; everything else is shape: ESC [ parameters final, ESC O letter, ESC key.
#include "app/platform/keys.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "app/platform/text/graphemes.h"
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
    {"u", KeyKind::kUpperWord},
    {"l", KeyKind::kLowerWord},
    {"c", KeyKind::kCapitalWord},
    {"t", KeyKind::kSwapWords},
    {"[5~", KeyKind::kPageUp},
    {"[6~", KeyKind::kPageDown},
    {"\x7f", KeyKind::kDeleteWordLeft},
    {"\b", KeyKind::kDeleteWordLeft},
    {"\r", KeyKind::kNewline},
    {"\n", KeyKind::kNewline},
};

// Keys without a character, as kitty's protocol numbers them.
struct NumberedKey {
  int code;
  KeyKind kind;
};
constexpr NumberedKey kNumberedKeys[] = {
    {9, KeyKind::kTab},       {13, KeyKind::kEnter},     {27, KeyKind::kEscape},      {127, KeyKind::kBackspace},
    {57414, KeyKind::kEnter}, {57417, KeyKind::kLeft},   {57418, KeyKind::kRight},    {57419, KeyKind::kUp},
    {57420, KeyKind::kDown},  {57421, KeyKind::kPageUp}, {57422, KeyKind::kPageDown}, {57423, KeyKind::kHome},
    {57424, KeyKind::kEnd},   {57426, KeyKind::kDelete},
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
      return {KeyKind::kEnter};
    case '\n':
      return {KeyKind::kNewline};
    case '\t':
      return {KeyKind::kTab};
    case '\b':
    case '\x7f':
      return {KeyKind::kBackspace};
    default:
      return {KeyKind::kControl, {}, static_cast<char>(byte + '@')};
  }
}

KeyKind kind_of_sequence(std::string_view bytes) {
  const auto* found =
      std::find_if(std::begin(kSequences), std::end(kSequences), [&](const Sequence& s) { return s.bytes == bytes; });
  return found == std::end(kSequences) ? KeyKind::kOther : found->kind;
}

// Up to N numbers between ; of text; the parts of one after : do not matter here. An empty one is 0; nullopt: it is
// none.
template <size_t N>
std::optional<std::array<int, N>> numbers_in(std::string_view text) {
  std::array<int, N> numbers{};
  for (size_t i = 0; i < N && !text.empty(); ++i) {
    const std::string_view part = text.substr(0, text.find(';'));
    const char* end = part.data() + part.size();
    if (!part.empty() && part[0] != ':') {
      const auto [stop, error] = std::from_chars(part.data(), end, numbers[i]);
      if (error != std::errc() || (stop != end && *stop != ':')) return std::nullopt;
    }
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
  return numbers;
}

// modifiers: 1 and the bits of shift, alt and ctrl, as both protocols have them.
Key modified_key(int code, int modifiers) {
  const int bits = std::max(modifiers, 1) - 1;
  const bool shift = (bits & 1) != 0, alt = (bits & 2) != 0, ctrl = (bits & 4) != 0;
  const auto* numbered = std::find_if(std::begin(kNumberedKeys), std::end(kNumberedKeys),
                                      [&](const NumberedKey& key) { return key.code == code; });
  if (numbered != std::end(kNumberedKeys)) {
    if (numbered->kind == KeyKind::kEnter && (shift || alt || ctrl)) return {KeyKind::kNewline};
    if (numbered->kind == KeyKind::kBackspace && (alt || ctrl)) return {KeyKind::kDeleteWordLeft};
    return {numbered->kind == KeyKind::kTab && bits != 0 ? KeyKind::kOther : numbered->kind};
  }
  if (code <= ' ' || code > '~') return ctrl && code == ' ' ? control_key('\0') : Key{KeyKind::kOther};
  const auto character = static_cast<char>(code);
  if (ctrl && !alt) return character == '-' || character == '/' ? control_key('\x1f') : control_key(character & 0x1f);
  if (alt && !ctrl) return {kind_of_sequence({&character, 1})};
  return ctrl ? Key{KeyKind::kOther} : Key{KeyKind::kText, {character}};
}

// "[CODE;MODIFIERSu" of kitty, "[27;MODIFIERS;CODE~" of xterm.
std::optional<Key> modified_key(std::string_view bytes) {
  constexpr std::string_view kXterm = "[27;";
  const std::string_view inside = bytes.substr(1, bytes.size() - 2);
  if (bytes.starts_with('[') && bytes.ends_with('u')) {
    const auto numbers = numbers_in<2>(inside);
    if (numbers) return modified_key((*numbers)[0], (*numbers)[1]);
  } else if (bytes.starts_with(kXterm) && bytes.ends_with('~')) {
    const auto numbers = numbers_in<3>(inside);
    if (numbers && (*numbers)[2] > 0) return modified_key((*numbers)[2], (*numbers)[1]);
  }
  return std::nullopt;
}

// "[1;129A" as "[A": Caps Lock and Num Lock change none of these keys.
std::string without_locks(std::string_view bytes) {
  constexpr int kFirstLock = 65, kOtherBits = 7;  // as in modified_key
  const size_t semicolon = bytes.find(';');
  int modifiers = 0;
  const char* end = bytes.data() + bytes.size() - 1;
  if (!bytes.starts_with('[') || semicolon == std::string_view::npos ||
      std::from_chars(bytes.data() + semicolon + 1, end, modifiers).ptr != end || modifiers < kFirstLock)
    return std::string(bytes);
  const int left = ((modifiers - 1) & kOtherBits) + 1;
  const std::string number(bytes.substr(1, semicolon - 1)), last(1, bytes.back());
  if (left > 1) return "[" + number + ";" + std::to_string(left) + last;
  return "[" + (last == "~" ? number : "") + last;
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
  if (const std::optional<Key> key = modified_key(bytes)) return key;
  return Key{kind_of_sequence(without_locks(bytes))};
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
