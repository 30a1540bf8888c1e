#include "tests/gpu/results.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace warpchat {
namespace {

using Json = nlohmann::ordered_json;

std::string markdown(const ResultTable::Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<uint64_t>(&cell)) return std::to_string(*whole);
  const auto& [value, digits] = std::get<ResultTable::Number>(cell);
  if (!std::isfinite(value)) return "";
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

Json json(const ResultTable::Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<uint64_t>(&cell)) return *whole;
  const double value = std::get<ResultTable::Number>(cell).value;
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

void append_line(const std::string& line) {
  const char* path = std::getenv("WARPCHAT_RESULTS");
  if (path == nullptr) return;
  FILE* file = std::fopen(path, "a");
  if (file == nullptr) return;
  std::fwrite(line.data(), 1, line.size(), file);
  std::fclose(file);
}

}  // namespace

ResultTable::ResultTable(std::string name, std::string device, std::vector<std::string> columns)
    : name_(std::move(name)), device_(std::move(device)), columns_(std::move(columns)) {}

void ResultTable::row(const std::vector<Cell>& cells) {
  assert(cells.size() == columns_.size());
  if (!has_head_) {
    std::string head = "\n|", rule = "|";
    for (const std::string& column : columns_) head += " " + column + " |", rule += " --- |";
    say(head + "\n" + rule);
    has_head_ = true;
  }
  std::string line = "|";
  Json object{{"table", name_}, {"device", device_}};
  for (size_t i = 0; i < cells.size(); ++i) {
    line += " " + markdown(cells[i]) + " |";
    object[columns_[i]] = json(cells[i]);
  }
  say(line);
  append_line(object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void say(std::string_view line) {
  std::printf("%.*s\n", static_cast<int>(line.size()), line.data());
  std::fflush(stdout);
}

double median(std::vector<double> values) {
  assert(!values.empty());
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

}  // namespace warpchat
