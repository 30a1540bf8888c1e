// The file is written anew beside itself and renamed, so that a crash leaves the old lines or the new ones.
#include "app/chat/erased_lines.h"

#include <unistd.h>

#include "app/platform/history.h"
#include "app/platform/output.h"
#include "app/platform/text_input.h"
#include "models/ascii.h"

namespace warpchat {

namespace {

constexpr std::string_view kBlockMark = "\"\"\"";

std::string_view without_block_marks(std::string_view line) {
  if (!line.starts_with(kBlockMark)) return line;
  line.remove_prefix(kBlockMark.size());
  if (line.ends_with(kBlockMark)) line.remove_suffix(kBlockMark.size());
  return line;
}

}  // namespace

bool was_typed_for(const ConversationTree& conversation, std::string_view line) {
  const std::string_view typed = trimmed(without_block_marks(line));
  const auto is_of = [&](std::string_view text) {
    text = trimmed(text);
    return !text.empty() && (typed == text || (line.starts_with('/') && typed.ends_with(" " + std::string(text))));
  };
  if (is_of(conversation.title) || is_of(conversation.system_prompt)) return true;
  for (const Turn& turn : conversation.turns)
    if (is_of(turn.message.content)) return true;
  return false;
}

void erase_typed_lines(const std::string& file, const ConversationTree& conversation) {
  if (access(file.c_str(), F_OK) != 0) return;
  const std::string before = read_file(file);
  std::string after;
  for (std::string_view rest = before; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (!was_typed_for(conversation, unescape_history_line(line))) after.append(line) += '\n';
  }
  if (after != before) write_file(file, after, OutputFile::Readers::kOwner);
}

}  // namespace warpchat
