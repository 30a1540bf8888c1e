#include "engine/remote/server_json.h"

namespace warpchat {

namespace {
constexpr int kMaxDepth = 64;  // values are walked and written by recursion
struct TooDeep {};
}  // namespace

nlohmann::json server_json(std::string_view text) {
  using nlohmann::json;
  const auto check = [](int depth, json::parse_event_t, json&) {
    if (depth > kMaxDepth) throw TooDeep();
    return true;
  };
  try {
    return json::parse(text, check, /*allow_exceptions=*/false);
  } catch (const TooDeep&) {
    return json(json::value_t::discarded);
  }
}

}  // namespace warpchat
