// Whether a server's answer has the form that it was asked for, since many servers ignore the field that asks.
#pragma once
#include <string>

#include "engine/events.h"
#include "engine/session/responder.h"

namespace warpchat {

class FormCheck {
 public:
  FormCheck(const Prompt& prompt, const AnswerForm& form);

  void observe(const Event& event);  // of the answer, in their order

  // What the text, without the thought, of an answer that ended so does not keep to, as the end of a sentence; empty:
  // it keeps to its form. An answer that was cut need only be a beginning. JSON is judged by its values: blanks between
  // them, and before and after the whole, are free, and 1.0 is the integer 1. Error if the form cannot be checked.
  std::string fault(EndReason reason) const;

 private:
  const AnswerForm form_;
  std::string text_, reasoning_;
  bool calls_tools_ = false;
};

}  // namespace warpchat
