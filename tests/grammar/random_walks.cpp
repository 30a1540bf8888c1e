// Prints random texts that a schema allows, one a line: grammar_walks SCHEMA_FILE N SEED. For tests that judge them by
// other means (tests/grammar/walks_test.py). Texts with line breaks are not printed.
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <sstream>

#include "engine/grammar/constraint.h"
#include "models/error.h"

namespace {

using warpchat::grammar::Constraint;
using warpchat::grammar::State;

constexpr size_t kMaxFreeBytes = 300;  // then the text ends soon
constexpr size_t kMaxSearched = 50'000;

bool goes_on_with_a_number(uint8_t byte) {
  return std::string_view("0123456789.eE").find(static_cast<char>(byte)) != std::string_view::npos;
}

// The shortest text without escapes, blanks and long numbers that completes the state; empty: none was found.
std::string shortest_end(Constraint& constraint, State from) {
  std::map<State, std::pair<State, char>> before;
  std::deque<State> open = {from};
  before[from] = {from, 0};
  while (!open.empty() && before.size() < kMaxSearched) {
    const State at = open.front();
    open.pop_front();
    if (constraint.is_complete(at)) {
      std::string text;
      for (State s = at; s != from; s = before[s].first) text.insert(text.begin(), before[s].second);
      return text;
    }
    const warpchat::grammar::ByteSet next = constraint.next_bytes(at);
    const bool is_inside = !next.contains('\\') && !next.contains('"');  // also within an escape or a character
    const bool can_end = next.contains(',') && (next.contains('}') || next.contains(']')) && !next.contains('"');
    next.for_each([&](uint8_t byte) {
      if (can_end && goes_on_with_a_number(byte)) return;
      if (next.contains('n') && (byte == '[' || byte == '{')) return;  // null is shorter
      if (!is_inside && (byte <= ' ' || byte == '\\' || byte > '~')) return;
      const State after = constraint.advance(at, byte);
      if (byte != '\n' && before.try_emplace(after, at, static_cast<char>(byte)).second) open.push_back(after);
    });
  }
  return "";
}

std::string random_text(Constraint& constraint, std::mt19937& random) {
  std::string text;
  State state = constraint.start();
  const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  while (text.size() < kMaxFreeBytes && !(constraint.is_complete(state) && below(4) == 0)) {
    std::string usual, others;  // structure and plain characters are tried more often than escapes
    constraint.next_bytes(state).for_each([&](uint8_t byte) {
      const char c = static_cast<char>(byte);
      if (c == '\n') return;
      (std::string_view("\"{}[]:,0123456789.-tfnab").find(c) != std::string_view::npos ? usual : others) += c;
    });
    if (usual.empty() && others.empty()) break;
    const std::string& from = others.empty() || (!usual.empty() && below(4) > 0) ? usual : others;
    text += from[below(from.size())];
    state = constraint.advance(state, static_cast<uint8_t>(text.back()));
  }
  if (constraint.is_complete(state)) return text;
  const std::string end = shortest_end(constraint, state);
  return end.empty() ? "" : text + end;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) return 2;
  std::ifstream file(argv[1]);
  std::stringstream schema;
  schema << file.rdbuf();
  const std::unique_ptr<Constraint> constraint = Constraint::from_schema(schema.str());
  std::mt19937 random(static_cast<unsigned>(std::atoi(argv[3])));
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    const std::string text = random_text(*constraint, random);
    if (!text.empty()) std::cout << text << "\n";
  }
  return 0;
} catch (const warpchat::Error& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
