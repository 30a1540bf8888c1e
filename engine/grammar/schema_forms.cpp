#include "engine/grammar/schema_forms.h"

#include <algorithm>
#include <array>

#include "engine/grammar/schema_keywords.h"
#include "models/error.h"
#include "models/text_format.h"

namespace warpchat::grammar {

namespace {

using Type = SchemaValue::Type;

constexpr size_t kMaxProducts = 2000;    // of alternatives of arrays or objects
constexpr uint32_t kMaxFormDepth = 150;  // of schemas in allOf, anyOf and the like
constexpr int kImpossibleDepth = 2;      // how deep conditions that exclude each other are looked for
constexpr std::array kConstraints = {"$ref",
                                     "$dynamicRef",
                                     "$recursiveRef",
                                     "type",
                                     "enum",
                                     "const",
                                     "minimum",
                                     "maximum",
                                     "exclusiveMinimum",
                                     "exclusiveMaximum",
                                     "multipleOf",
                                     "minLength",
                                     "maxLength",
                                     "pattern",
                                     "format",
                                     "items",
                                     "prefixItems",
                                     "additionalItems",
                                     "minItems",
                                     "maxItems",
                                     "uniqueItems",
                                     "contains",
                                     "properties",
                                     "required",
                                     "additionalProperties",
                                     "patternProperties",
                                     "propertyNames",
                                     "minProperties",
                                     "maxProperties",
                                     "allOf",
                                     "anyOf",
                                     "oneOf",
                                     "not",
                                     "if",
                                     "dependentRequired",
                                     "dependentSchemas",
                                     "dependencies",
                                     "unevaluatedProperties",
                                     "unevaluatedItems"};

bool is_constraint(std::string_view keyword) { return std::ranges::find(kConstraints, keyword) != kConstraints.end(); }

// Each once, and none beside one that allows all.
template <class List>
void add_alternatives(List& all, const List& more) {
  for (const auto& form : more) {
    if (form.allows_all()) {
      all = {form};
      return;
    }
    const bool is_known =
        std::ranges::any_of(all, [&](const auto& known) { return known.allows_all() || known == form; });
    if (!is_known) all.push_back(form);
  }
}

}  // namespace

SchemaForms::SchemaForms(Expressions& expressions, const SchemaDocument& document, std::vector<std::string>& notes,
                         Encoding encoding)
    : e_(expressions), document_(document), characters_(expressions, encoding), numbers_(expressions), notes_(notes) {}

Form SchemaForms::everything() {
  const Expr any_text = e_.repeat(characters_.any(), 0, kUnbounded);
  return {true, true, true, numbers_.any(), any_text, {ArrayForm()}, {ObjectForm()}};
}

bool SchemaForms::is_without_constraint(Place schema) const {
  return std::ranges::none_of(document_[schema].members,
                              [](const auto& member) { return is_constraint(member.first); });
}

// Follows references, so that a schema is known by one place.
Conditions SchemaForms::conditions_of(Place schema) {
  std::set<Place> followed;
  for (;;) {
    const SchemaValue& value = document_[schema];
    if (value.is(Type::kFalse)) return {{Condition::Kind::kNever, 0}};
    if (value.is(Type::kTrue) || (value.is(Type::kObject) && is_without_constraint(schema))) return {};
    const auto reference = document_.member(schema, "$ref");
    const auto n_constraints =
        std::ranges::count_if(value.members, [](const auto& m) { return is_constraint(m.first); });
    if (!reference || !document_[*reference].is(Type::kString) || (n_constraints > 1 && document_.draft() > Draft::k7))
      return {{Condition::Kind::kSchema, schema}};
    if (!followed.insert(schema).second)
      document_.fail(schema, "$ref", "leads back to itself, which nothing satisfies");
    schema = document_.resolve(schema, document_[*reference].text);
  }
}

Conditions SchemaForms::joined(Conditions a, const Conditions& b) {
  if (b.empty()) return a;
  a.insert(a.end(), b.begin(), b.end());
  std::ranges::sort(a);
  a.erase(std::ranges::unique(a).begin(), a.end());
  return a;
}

Form SchemaForms::form_of(const Conditions& conditions) {
  if (conditions.empty()) return everything();
  Form form = of_condition(conditions[0]);
  for (size_t i = 1; i < conditions.size(); ++i) form = intersect(form, of_condition(conditions[i]));
  return form;
}

Form SchemaForms::of_condition(const Condition& condition) {
  switch (condition.kind) {
    case Condition::Kind::kSchema:
      return of_schema(condition.place);
    case Condition::Kind::kNotSchema:
      return negate(of_schema(condition.place));
    case Condition::Kind::kValue:
      return of_value(condition.place);
    case Condition::Kind::kNotValue:
      return negate(of_value(condition.place));
    case Condition::Kind::kNever:
      break;
  }
  return {};
}

Form SchemaForms::of_schema(Place schema) {
  const auto [known, is_new] = known_.try_emplace(schema, nullptr);
  if (!is_new) {
    if (known->second) return *known->second;
    throw Error("the schema at " + document_.pointer(schema) + " refers to itself, which nothing satisfies");
  }
  try {
    if (++depth_ > kMaxFormDepth)
      throw Error("the schema at " + document_.pointer(schema) + " is combined of too many others");
    auto form = std::make_shared<const Form>(SchemaKeywords(*this, schema).form());
    --depth_;
    return *(known_[schema] = std::move(form));
  } catch (...) {
    --depth_;
    known_.erase(schema);
    throw;
  }
}

Form SchemaForms::of_value(Place place) {
  const SchemaValue& value = document_[place];
  Form form;
  const auto equals = [](Place member) { return Conditions{{Condition::Kind::kValue, member}}; };
  switch (value.type) {
    case Type::kNull:
      form.has_null = true;
      break;
    case Type::kTrue:
      form.has_true = true;
      break;
    case Type::kFalse:
      form.has_false = true;
      break;
    case Type::kString:
      form.strings = characters_.text(characters_of(value.text));
      break;
    case Type::kNumber: {
      const auto decimal = decimal_of(value.text);
      if (!decimal) throw Error("the number at " + document_.pointer(place) + " is out of range");
      form.numbers = numbers_.exactly(*decimal);
      break;
    }
    case Type::kArray: {
      ArrayForm array;
      for (const auto& member : value.members) array.prefix.push_back(equals(member.second));
      array.rest = {{Condition::Kind::kNever, 0}};
      array.min = array.max = value.members.size();
      array.place = place;
      form.arrays = {std::move(array)};
      break;
    }
    case Type::kObject: {
      std::vector<std::pair<std::string, Conditions>> properties;
      std::set<std::string> required;
      for (const auto& [name, member] : value.members) {
        properties.emplace_back(name, equals(member));
        required.insert(name);
      }
      ObjectForm object = object_with(std::move(properties), std::move(required), place);
      object.max = value.members.size();
      form.objects = {std::move(object)};
      break;
    }
  }
  return form;
}

// Texts become one tree, so that thousands of them cost no more than their characters.
Form SchemaForms::of_values(Place keyword_place, Place list) {
  Form form;
  std::vector<std::pair<std::u32string, Expr>> texts;
  std::vector<Expr> numbers;
  for (const auto& [unused, place] : document_[list].members) {
    if (document_[place].is(Type::kString)) {
      texts.emplace_back(characters_of(document_[place].text), kEmptyText);
      continue;
    }
    const Form one = of_value(place);
    numbers.push_back(one.numbers);
    form.has_null |= one.has_null;
    form.has_true |= one.has_true;
    form.has_false |= one.has_false;
    form.arrays.insert(form.arrays.end(), one.arrays.begin(), one.arrays.end());
    form.objects.insert(form.objects.end(), one.objects.begin(), one.objects.end());
  }
  if (form.arrays.size() > kMaxProducts || form.objects.size() > kMaxProducts)
    document_.fail(keyword_place, "enum", "has more than " + grouped(kMaxProducts) + " lists or objects");
  std::ranges::sort(texts);
  texts.erase(std::ranges::unique(texts).begin(), texts.end());
  form.strings = characters_.any_text_of(texts);
  form.numbers = e_.any_of(std::move(numbers));
  return form;
}

std::vector<ArrayForm> SchemaForms::intersect(const std::vector<ArrayForm>& a, const std::vector<ArrayForm>& b) {
  std::vector<ArrayForm> all;
  for (const ArrayForm& one : a) {
    for (const ArrayForm& other : b) {
      ArrayForm both = intersect(one, other);
      if (!is_impossible(both, kImpossibleDepth)) all.push_back(std::move(both));
      if (all.size() > kMaxProducts)
        throw Error("the alternatives at " + document_.pointer(one.place) + " multiply to more than " +
                    grouped(kMaxProducts));
    }
  }
  return all;
}

std::vector<ObjectForm> SchemaForms::intersect(const std::vector<ObjectForm>& a, const std::vector<ObjectForm>& b) {
  std::vector<ObjectForm> all;
  for (const ObjectForm& one : a) {
    for (const ObjectForm& other : b) {
      ObjectForm both = intersect(one, other);
      const bool is_merged = !one.layers.empty() && !other.layers.empty();
      if (!is_impossible(both, is_merged ? kImpossibleDepth : 0)) all.push_back(std::move(both));
      if (all.size() > kMaxProducts)
        throw Error("the alternatives at " + document_.pointer(one.place) + " multiply to more than " +
                    grouped(kMaxProducts));
    }
  }
  return all;
}

Form SchemaForms::intersect(const Form& a, const Form& b) {
  return {a.has_null && b.has_null,       a.has_true && b.has_true,      a.has_false && b.has_false,
          e_.both(a.numbers, b.numbers),  e_.both(a.strings, b.strings), intersect(a.arrays, b.arrays),
          intersect(a.objects, b.objects)};
}

Form SchemaForms::unite(Form a, const Form& b) {
  a.has_null |= b.has_null;
  a.has_true |= b.has_true;
  a.has_false |= b.has_false;
  a.numbers = e_.either(a.numbers, b.numbers);
  a.strings = e_.either(a.strings, b.strings);
  add_alternatives(a.arrays, b.arrays);
  add_alternatives(a.objects, b.objects);
  if (a.arrays.size() > kMaxProducts || a.objects.size() > kMaxProducts)
    throw Error("the schema has more than " + grouped(kMaxProducts) + " alternatives of one value");
  return a;
}

ArrayForm SchemaForms::intersect(const ArrayForm& a, const ArrayForm& b) {
  ArrayForm both = a;
  both.prefix.resize(std::max(a.prefix.size(), b.prefix.size()), a.rest);
  for (size_t i = 0; i < both.prefix.size(); ++i)
    both.prefix[i] = joined(both.prefix[i], i < b.prefix.size() ? b.prefix[i] : b.rest);
  both.rest = joined(a.rest, b.rest);
  both.min = std::max(a.min, b.min);
  both.max = std::min(a.max, b.max);
  both.is_unique = a.is_unique || b.is_unique;
  if (both.place == 0) both.place = b.place;
  if (a.contained && b.contained) document_.fail(both.place, "contains", "meets another one, which is not supported");
  if (b.contained) {
    both.contained = b.contained;
    both.min_contained = b.min_contained;
    both.max_contained = b.max_contained;
  }
  return both;
}

ObjectForm SchemaForms::intersect(const ObjectForm& a, const ObjectForm& b) {
  ObjectForm both = a;
  both.layers.insert(both.layers.end(), b.layers.begin(), b.layers.end());
  std::ranges::sort(both.layers);
  both.layers.erase(std::ranges::unique(both.layers).begin(), both.layers.end());
  both.required.insert(b.required.begin(), b.required.end());
  if (b.names != kNothing) both.names = a.names == kNothing ? b.names : e_.both(a.names, b.names);
  both.min = std::max(a.min, b.min);
  both.max = std::min(a.max, b.max);
  if (both.place == 0) both.place = b.place;
  return both;
}

uint32_t SchemaForms::add_layer(ObjectLayer layer) {
  layers_.push_back(std::move(layer));
  return static_cast<uint32_t>(layers_.size() - 1);
}

ObjectForm SchemaForms::object_with(std::vector<std::pair<std::string, Conditions>> properties,
                                    std::set<std::string> required, Place place) {
  ObjectForm object;
  object.required = std::move(required);
  object.place = place;
  if (!properties.empty()) object.layers = {add_layer({std::move(properties), {}, {}})};
  return object;
}

Expr SchemaForms::name_text(std::string_view name) { return characters_.text(characters_of(name)); }

bool SchemaForms::allows_name(const ObjectForm& object, std::string_view name) {
  return object.names == kNothing || e_.is_live(e_.both(object.names, name_text(name)));
}

Conditions SchemaForms::value_of(const ObjectForm& object, std::string_view name) {
  Conditions all;
  for (uint32_t index : object.layers) {
    const ObjectLayer& layer = layers_[index];
    bool is_named = false;
    for (const auto& [known, conditions] : layer.properties) {
      if (known != name) continue;
      is_named = true;
      all = joined(std::move(all), conditions);
    }
    for (const auto& [pattern, conditions] : layer.patterns) {
      if (!e_.is_live(e_.both(pattern, name_text(name)))) continue;
      is_named = true;
      all = joined(std::move(all), conditions);
    }
    if (!is_named) all = joined(std::move(all), layer.additional);
  }
  return all;
}

bool SchemaForms::is_impossible(const ArrayForm& array, int depth) {
  if (array.min > array.max) return true;
  for (size_t i = 0; i < array.prefix.size() && i < array.min; ++i)
    if (is_impossible(array.prefix[i], depth)) return true;
  return array.min > array.prefix.size() && is_impossible(array.rest, depth);
}

bool SchemaForms::is_impossible(const ObjectForm& object, int depth) {
  if (object.min > object.max || object.required.size() > object.max) return true;
  for (const std::string& name : object.required)
    if (depth > 0 && (!allows_name(object, name) || is_impossible(value_of(object, name), depth))) return true;
  return false;
}

// What is not decided here is decided when the rules are finished.
bool SchemaForms::is_impossible(const Conditions& conditions, int depth) {
  if (conditions.empty()) return false;
  if (conditions.back().kind == Condition::Kind::kNever) return true;
  if (depth <= 0) return false;
  try {
    return is_impossible(form_of(conditions), depth - 1);
  } catch (const Error&) {  // refers to itself, or is refused: said when it is its turn
    return false;
  }
}

bool SchemaForms::is_impossible(const Form& form, int depth) {
  return !form.has_null && !form.has_true && !form.has_false && !e_.is_live(form.numbers) &&
         !e_.is_live(form.strings) &&
         std::ranges::all_of(form.arrays, [&](const ArrayForm& array) { return is_impossible(array, depth); }) &&
         std::ranges::all_of(form.objects, [&](const ObjectForm& object) { return is_impossible(object, depth); });
}

std::optional<std::vector<Place>> SchemaForms::choices_of(const Conditions& conditions) const {
  for (const Condition& condition : conditions) {
    if (condition.kind != Condition::Kind::kSchema) continue;
    const auto list = document_.member(condition.place, "enum");
    if (!list || !document_[*list].is(Type::kArray)) continue;
    std::vector<Place> choices;
    for (const auto& [unused, place] : document_[*list].members) {
      if (document_[place].is(Type::kArray) || document_[place].is(Type::kObject)) return std::nullopt;
      const bool is_new = std::ranges::none_of(choices, [&, p = place](Place known) {
        return document_[known].type == document_[p].type && document_[known].text == document_[p].text;
      });
      if (is_new) choices.push_back(place);
    }
    return choices;
  }
  return std::nullopt;
}

}  // namespace warpchat::grammar
