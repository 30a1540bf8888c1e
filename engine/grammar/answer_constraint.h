// The constraint of an answer's form.
#pragma once
#include <memory>

#include "engine/answer_form.h"
#include "engine/grammar/constraint.h"

namespace warpchat::grammar {

// Error: one sentence with keyword or rule, and where. form: not free.
std::unique_ptr<Constraint> compile(const AnswerForm& form);

}  // namespace warpchat::grammar
