#include "engine/grammar/answer_constraint.h"

namespace warpchat::grammar {

std::unique_ptr<Constraint> compile(const AnswerForm& form) {
  return form.kind == AnswerForm::Kind::kGrammar ? Constraint::from_grammar(form.text)
                                                 : Constraint::from_schema(form.text);
}

}  // namespace warpchat::grammar
