// Recursion guard of the interpreter's two sources.
#pragma once
#include <string>

#include "models/chat_template/interpreter.h"

namespace warpchat::jinja {

class Interpreter::Level {
 public:
  explicit Level(Interpreter& interpreter) : interpreter_(interpreter) {
    if (interpreter.depth_ >= interpreter.limits_.depth) {
      throw Fault("expressions, blocks and macros are nested deeper than " + std::to_string(interpreter.limits_.depth) +
                  " levels");
    }
    ++interpreter.depth_;
  }
  ~Level() { --interpreter_.depth_; }
  Level(const Level&) = delete;

 private:
  Interpreter& interpreter_;
};

}  // namespace warpchat::jinja
