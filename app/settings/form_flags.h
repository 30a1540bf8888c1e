// The flags that say which form answers have.
#pragma once
#include <cstddef>
#include <memory>

#include "app/settings/options.h"
#include "engine/grammar/constraint.h"

namespace warpchat {

size_t n_given(const FormFlags& flags);

// Reads the file that a flag names. UsageError for several flags; free without one.
AnswerForm form_from(const FormFlags& flags);

// Error: one sentence with keyword or rule, and where. What a schema has that is ignored goes to the log. form: not
// free.
std::unique_ptr<grammar::Constraint> compiled(const AnswerForm& form);

}  // namespace warpchat
