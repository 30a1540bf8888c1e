// Any bytes from a server, in any pieces: events or one error. The first byte sets the length of a piece.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/remote/chat_stream.h"
#include "models/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpchat;
  if (size == 0) return 0;
  const size_t piece = data[0] + 1;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  ChatStream stream({.host = "box"}, [](const Event&) {});
  try {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) stream.add(bytes.substr(0, piece), 0);
    stream.finish(0);
  } catch (const Error& error) {
    stream.cut(EndReason::kFailed, error.what());
  }
  return 0;
}
