// What the keywords of one schema say, checked as the standard's own schema would.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "engine/grammar/schema_forms.h"

namespace warpchat::grammar {

class SchemaKeywords {
 public:
  SchemaKeywords(SchemaForms& forms, Place schema) : f_(forms), document_(forms.document_), schema_(schema) {}

  Form form();

 private:
  std::optional<Place> find(std::string_view keyword) const { return document_.member(schema_, keyword); }
  [[noreturn]] void fail(std::string_view keyword, const std::string& what) const {
    document_.fail(schema_, keyword, what);
  }
  const SchemaValue& value(Place place) const { return document_[place]; }
  Place object_at(std::string_view keyword, Place place) const;
  const std::vector<std::pair<std::string, Place>>& list_at(std::string_view keyword, Place place) const;
  Conditions schema_at(std::string_view keyword, Place place) const;
  std::vector<std::string> names_at(std::string_view keyword, Place place) const;
  std::optional<uint64_t> count(std::string_view keyword) const;
  std::optional<Decimal> number(std::string_view keyword) const;
  template <class F>
  Expr held(std::string_view keyword, const F& make) const;
  bool allows_all(Place place) const;

  void refuse_unsupported() const;
  void read_type(Form& form) const;
  Form of_type(const SchemaValue& name) const;
  void read_numbers(Form& form) const;
  void read_strings(Form& form) const;
  void read_arrays(Form& form) const;
  void read_items(ArrayForm& array) const;
  void read_objects(Form& form) const;
  void read_names(ObjectForm& object) const;
  void read_dependencies(Form& form) const;
  void read_dependency(Form& form, std::string_view keyword, const std::string& name, Place place) const;
  void read_combinations(Form& form) const;
  void read_condition(Form& form) const;

  SchemaForms& f_;
  const SchemaDocument& document_;
  const Place schema_;
};

}  // namespace warpchat::grammar
