#include "app/tools/file_text.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "app/formats/pdf_text.h"
#include "models/error.h"
#include "models/utf8.h"

namespace warpchat {

FileKind kind_of_file(std::string_view begin) {
  if (has_pdf(begin)) return FileKind::kPdf;
  if (begin.find('\0') != std::string_view::npos) return FileKind::kBinary;
  constexpr size_t kMinTextBytes = 8;  // for each byte that is not UTF-8
  size_t n_invalid = 0;
  for (std::string_view rest = begin; !rest.empty();) {
    const size_t at = std::min(find_invalid_utf8(rest), rest.size());
    if (at < rest.size() && ++n_invalid > begin.size() / kMinTextBytes) return FileKind::kBinary;
    rest.remove_prefix(std::min(at + 1, rest.size()));
  }
  return FileKind::kText;
}

std::string read_at(const FoundEntry& file, uint64_t offset, size_t bytes) {
  std::string text(bytes, '\0');
  size_t n = 0;
  while (n < bytes) {
    const ssize_t got = pread(file.descriptor.number(), text.data() + n, bytes - n, static_cast<off_t>(offset + n));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error("cannot read " + file.path + ": " + std::strerror(errno));
    if (got == 0) break;
    n += static_cast<size_t>(got);
  }
  text.resize(n);
  return text;
}

void read_pieces(const FoundEntry& file, std::stop_token stop, const std::function<bool(std::string_view)>& on_piece) {
  constexpr size_t kPieceBytes = 1 << 18;
  for (uint64_t offset = 0; !stop.stop_requested();) {
    const std::string piece = read_at(file, offset, kPieceBytes);
    if (piece.empty() || !on_piece(piece)) return;
    offset += piece.size();
  }
}

std::string text_of_pdf_file(const FoundEntry& file, std::stop_token stop, uint64_t max_milliseconds) {
  constexpr uint64_t kMaxTextBytes = 16 << 20;
  std::atomic<bool> is_stopped = false;
  const std::stop_callback on_stop(std::move(stop), [&] { is_stopped = true; });
  return text_of_opened_pdf(file.descriptor.number(), file.path, kMaxTextBytes,
                            std::chrono::milliseconds(max_milliseconds), is_stopped);
}

std::string as_text(std::string_view bytes) {
  std::string text = replace_invalid_utf8(bytes);
  for (size_t at = 0; (at = text.find('\0', at)) != std::string::npos;) text.replace(at, 1, kReplacementCharacter);
  return text;
}

LineSlice::LineSlice(uint64_t first, uint64_t n_lines, size_t max_bytes)
    : first_(first), n_lines_(n_lines), max_bytes_(max_bytes) {}

bool LineSlice::add(std::string_view piece) {
  while (!piece.empty()) {
    const size_t end = std::min(piece.find('\n'), piece.size() - 1) + 1;  // behind the line, or the piece
    const std::string_view part = piece.substr(0, end);
    if (line_ >= first_) {
      const size_t room = max_bytes_ - text_.size();
      text_ += part.substr(0, room);
      if (part.size() > room) {
        is_cut_ = true;
        return false;
      }
    }
    is_in_line_ = part.back() != '\n';
    if (!is_in_line_) {
      if (line_ >= first_) ++n_complete_;
      ++line_;
      if (has_all()) return false;
    }
    piece.remove_prefix(end);
  }
  return true;
}

uint64_t LineSlice::drop_cut_line() {
  if (n_complete_ > 0) {
    text_.resize(text_.rfind('\n') + 1);
    return line_;
  }
  while (!text_.empty() && continues_character(text_.back())) text_.pop_back();  // with the character's first byte
  if (!text_.empty() && static_cast<unsigned char>(text_.back()) >= 0x80) text_.pop_back();
  return line_ + 1;
}

}  // namespace warpchat
