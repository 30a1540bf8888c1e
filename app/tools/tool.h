// What a model may call, wherever it comes from: a tool, a call of it and the result.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

struct Tool {
  std::string name;                                  // for models and approval: at most 64 of A-Za-z0-9_-
  std::string source;                                // the server, as the configuration spells it; empty: this program
  std::string own_name;                              // as its source spells it
  std::string title;                                 // empty: none
  std::string description;                           // of a server: foreign text, which decides nothing
  nlohmann::json schema = nlohmann::json::object();  // of the arguments
  std::string configuration;  // hash of what decides which program answers a call, and with which rights
};

enum class ToolStatus : uint8_t { kOk, kError, kStopped, kDenied };  // kStopped: by the caller

struct ToolImage {
  std::string mime_type;
  std::string base64;  // as the server sends it, unchecked
};

struct ToolResult {
  ToolStatus status = ToolStatus::kOk;
  std::string text;                    // at most kMaxResultBytes and a note that it was cut. Foreign text
  std::vector<ToolImage> images = {};  // in the text is a note for each
};

inline constexpr size_t kMaxResultBytes = 1 << 20;

// Not inside a character, with a note.
std::string cut_result(std::string text, size_t max_bytes = kMaxResultBytes);

struct ToolProgress {
  double done = 0, total = 0;  // total 0: unknown
  std::string message;         // the server's words
};

struct ToolCallControl {
  std::stop_token stop = {};                                  // cancels the call
  std::function<void(const ToolProgress&)> on_progress = {};  // on any thread; short, and calls no tool
};

// Calls may run side by side, in any thread.
class ToolSource {
 public:
  virtual ~ToolSource() = default;
  virtual std::vector<Tool> declarations() const = 0;
  // name: Tool::name; arguments: an object. Blocks until the result is there.
  virtual ToolResult call(std::string_view name, const nlohmann::json& arguments, const ToolCallControl& control) = 0;
};

std::string sha256_of_json(const nlohmann::json& value);  // the same for values that are equal

}  // namespace warpchat
