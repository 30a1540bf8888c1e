// What a schema allows, as a union over the types of JSON. Strings and numbers are expressions, so that allOf, anyOf
// and not are operations on them; arrays and objects are lists of alternatives, each a conjunction of what its keywords
// say.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/grammar/characters.h"
#include "engine/grammar/numbers.h"
#include "engine/grammar/schema_document.h"

namespace warpchat::grammar {

// One condition on a value: a schema holds, or does not; it equals a value, or does not; or nothing satisfies it.
struct Condition {
  enum class Kind : uint8_t { kSchema, kNotSchema, kValue, kNotValue, kNever };
  Kind kind;
  Place place;
  auto operator<=>(const Condition&) const = default;
};
using Conditions = std::vector<Condition>;  // all of them; sorted, each once; empty: any value

struct ArrayForm {
  std::vector<Conditions> prefix;
  Conditions rest;  // of the elements behind prefix
  uint64_t min = 0, max = UINT64_MAX;
  bool is_unique = false;
  std::optional<Conditions> contained;  // satisfied by this many elements
  uint64_t min_contained = 0, max_contained = UINT64_MAX;
  Place place = 0;  // of the schema, for messages

  bool operator==(const ArrayForm&) const = default;
  bool allows_all() const {
    return prefix.empty() && rest.empty() && min == 0 && max == UINT64_MAX && !is_unique && !contained;
  }
};

struct ObjectLayer {  // of one schema
  std::vector<std::pair<std::string, Conditions>> properties;
  std::vector<std::pair<Expr, Conditions>> patterns;
  Conditions additional;
};

struct ObjectForm {
  std::vector<uint32_t> layers;  // sorted
  std::set<std::string> required;
  Expr names = kNothing;  // that any key has; kNothing: any
  uint64_t min = 0, max = UINT64_MAX;
  Place place = 0;

  bool operator==(const ObjectForm&) const = default;
  bool allows_all() const {
    return layers.empty() && required.empty() && names == kNothing && min == 0 && max == UINT64_MAX;
  }
};

struct Form {
  bool has_null = false, has_true = false, has_false = false;
  Expr numbers = kNothing;  // their texts
  Expr strings = kNothing;  // what stands between the quotes; without quotes, if the encoding is kRaw
  std::vector<ArrayForm> arrays;
  std::vector<ObjectForm> objects;
};

class SchemaForms {
 public:
  // notes: gets a sentence for each unknown format. encoding: how a form's strings are written.
  SchemaForms(Expressions& expressions, const SchemaDocument& document, std::vector<std::string>& notes,
              Encoding encoding = Encoding::kJsonString);

  // Error naming keyword and place for what cannot be held.
  Form form_of(const Conditions& conditions);
  Conditions conditions_of(Place schema);
  static Conditions joined(Conditions a, const Conditions& b);
  // Other ways not to satisfy all of them.
  static std::vector<Conditions> violations_of(const Conditions& conditions);

  const ObjectLayer& layer(uint32_t index) const { return layers_[index]; }
  // Conditions on the value of a named key.
  Conditions value_of(const ObjectForm& object, std::string_view name);
  bool allows_name(const ObjectForm& object, std::string_view name);
  Expr name_text(std::string_view name);  // between quotes

  // Elements of a list, of which each stands once: conditions whose values are all listed. nullopt: they are not.
  std::optional<std::vector<Place>> choices_of(const Conditions& conditions) const;

  Characters& characters() { return characters_; }
  const SchemaDocument& document() const { return document_; }

 private:
  friend class SchemaKeywords;

  Form everything();
  Form of_condition(const Condition& condition);
  Form of_schema(Place schema);
  Form of_value(Place value);
  Form of_values(Place keyword_place, Place list);
  Form intersect(const Form& a, const Form& b);
  std::vector<ArrayForm> intersect(const std::vector<ArrayForm>& a, const std::vector<ArrayForm>& b);
  std::vector<ObjectForm> intersect(const std::vector<ObjectForm>& a, const std::vector<ObjectForm>& b);
  Form unite(Form a, const Form& b);
  Form negate(const Form& form);
  std::vector<ArrayForm> violations_of(const ArrayForm& array);
  std::vector<ObjectForm> violations_of(const ObjectForm& object);
  template <class List>
  List without(List from, const List& others);
  Form exactly_one(Place schema, const Form& form, const std::vector<Form>& branches);
  ArrayForm intersect(const ArrayForm& a, const ArrayForm& b);
  ObjectForm intersect(const ObjectForm& a, const ObjectForm& b);
  bool is_impossible(const ArrayForm& array, int depth);
  bool is_impossible(const ObjectForm& object, int depth);
  bool is_impossible(const Conditions& conditions, int depth);
  bool is_impossible(const Form& form, int depth);
  uint32_t add_layer(ObjectLayer layer);
  ObjectForm object_with(std::vector<std::pair<std::string, Conditions>> properties, std::set<std::string> required,
                         Place place);
  bool is_without_constraint(Place schema) const;

  Expressions& e_;
  const SchemaDocument& document_;
  Characters characters_;
  Numbers numbers_;
  std::vector<std::string>& notes_;
  std::vector<ObjectLayer> layers_;
  std::map<Place, std::shared_ptr<const Form>> known_;  // of schemas; null: being read
  uint32_t depth_ = 0;
};

}  // namespace warpchat::grammar
