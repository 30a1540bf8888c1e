#include "app/settings/form_flags.h"

#include "app/platform/log.h"
#include "app/platform/text_input.h"
#include "engine/grammar/answer_constraint.h"
#include "models/utf8.h"

namespace warpchat {

size_t n_given(const FormFlags& flags) {
  return size_t{flags.schema.has_value()} + flags.schema_file.has_value() + flags.grammar.has_value() +
         flags.grammar_file.has_value();
}

AnswerForm form_from(const FormFlags& flags) {
  using Kind = AnswerForm::Kind;
  if (n_given(flags) == 0) return {};
  if (n_given(flags) > 1)
    throw UsageError(
        "an answer has one form: give one of --json-schema, --json-schema-file, --grammar and --grammar-file");
  const bool is_schema = flags.schema || flags.schema_file;
  const auto& text = is_schema ? flags.schema : flags.grammar;
  const auto& file = is_schema ? flags.schema_file : flags.grammar_file;
  return {is_schema ? Kind::kSchema : Kind::kGrammar,
          text ? *text : std::string(without_byte_order_mark(read_file(*file)))};
}

std::unique_ptr<grammar::Constraint> compiled(const AnswerForm& form) {
  std::unique_ptr<grammar::Constraint> constraint = grammar::compile(form);
  for (const std::string& note : constraint->notes()) log_line("schema: " + note);
  return constraint;
}

}  // namespace warpchat
