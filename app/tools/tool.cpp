#include "app/tools/tool.h"

#include <span>

#include "engine/hub/sha256.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat {

std::string cut_result(std::string text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  const size_t whole = text.size();
  const size_t end = character_start(text, max_bytes);
  text.resize(end);
  text.shrink_to_fit();
  return text + "\n[cut: the first " + grouped(end) + " of " + grouped(whole) + " bytes]";
}

std::string sha256_of_json(const nlohmann::json& value) {
  const std::string text = value.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace);
  Sha256 hash;
  hash.add(std::as_bytes(std::span(text)));
  return hash.finish();
}

}  // namespace warpchat
