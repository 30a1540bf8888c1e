// What satisfies a schema not, and what satisfies one of several alone. Exact, or refused.
#include <algorithm>

#include "engine/grammar/schema_forms.h"
#include "models/error.h"

namespace warpchat::grammar {

namespace {

Condition opposite(const Condition& condition) {
  switch (condition.kind) {
    case Condition::Kind::kSchema:
      return {Condition::Kind::kNotSchema, condition.place};
    case Condition::Kind::kNotSchema:
      return {Condition::Kind::kSchema, condition.place};
    case Condition::Kind::kValue:
      return {Condition::Kind::kNotValue, condition.place};
    case Condition::Kind::kNotValue:
      return {Condition::Kind::kValue, condition.place};
    case Condition::Kind::kNever:
      break;
  }
  throw Error("a schema that nothing satisfies stands where it cannot be turned round");
}

}  // namespace

std::vector<Conditions> SchemaForms::violations_of(const Conditions& conditions) {
  std::vector<Conditions> all;
  for (const Condition& condition : conditions)
    all.push_back(condition.kind == Condition::Kind::kNever ? Conditions() : Conditions{opposite(condition)});
  return all;
}

std::vector<ArrayForm> SchemaForms::violations_of(const ArrayForm& array) {
  std::vector<ArrayForm> all;
  const auto add = [&](uint64_t min, uint64_t max) -> ArrayForm& {
    ArrayForm violation;
    violation.min = min;
    violation.max = max;
    violation.place = array.place;
    return all.emplace_back(std::move(violation));
  };
  const auto refuse = [](const std::string& what) { throw Error(what + " of a list cannot be turned round"); };
  if (array.is_unique) refuse("uniqueItems");
  if (array.min > 0) add(0, array.min - 1);
  if (array.max != UINT64_MAX) add(array.max + 1, UINT64_MAX);
  for (size_t i = 0; i < array.prefix.size(); ++i)
    for (const Conditions& violation : violations_of(array.prefix[i])) {
      ArrayForm& form = add(i + 1, UINT64_MAX);
      form.prefix.resize(i + 1);
      form.prefix[i] = violation;
    }
  if (!array.rest.empty()) {
    if (array.rest == Conditions{{Condition::Kind::kNever, 0}}) {
      add(array.prefix.size() + 1, UINT64_MAX);
    } else if (array.prefix.empty() && !array.contained) {  // one element is not as it should be
      for (const Conditions& violation : violations_of(array.rest)) {
        ArrayForm& form = add(0, UINT64_MAX);
        form.contained = violation;
        form.min_contained = 1;
      }
    } else {
      refuse("items");
    }
  }
  if (array.contained) {
    if (array.max_contained != UINT64_MAX || array.min_contained != 1) refuse("a number of contained elements");
    const auto violations = violations_of(*array.contained);
    if (violations.size() > 1) refuse("contains");
    if (!violations.empty())
      add(0, UINT64_MAX).rest = violations[0];
    else
      add(0, 0);
  }
  return all;
}

std::vector<ObjectForm> SchemaForms::violations_of(const ObjectForm& object) {
  std::vector<ObjectForm> all;
  const auto refuse = [](const std::string& what) { throw Error(what + " of an object cannot be turned round"); };
  if (object.names != kNothing) refuse("propertyNames");
  for (const std::string& name : object.required)
    all.push_back(object_with({{name, {{Condition::Kind::kNever, 0}}}}, {}, object.place));
  for (uint32_t index : object.layers) {
    if (!layers_[index].patterns.empty()) refuse("patternProperties");
    if (!layers_[index].additional.empty()) refuse("additionalProperties");
    const auto properties = layers_[index].properties;  // a copy: layers_ grows
    for (const auto& [name, conditions] : properties)
      for (const Conditions& violation : violations_of(conditions))
        all.push_back(object_with({{name, violation}}, {name}, object.place));
  }
  if (object.min > 0) {
    ObjectForm& fewer = all.emplace_back();
    fewer.max = object.min - 1;
    fewer.place = object.place;
  }
  if (object.max != UINT64_MAX) {
    ObjectForm& more = all.emplace_back();
    more.min = object.max + 1;
    more.place = object.place;
  }
  return all;
}

// from, but none of the others.
template <class List>
List SchemaForms::without(List from, const List& others) {
  for (const auto& other : others) {
    if (from.empty()) break;
    List kept = violations_of(other);
    from = intersect(from, kept);
  }
  return from;
}

Form SchemaForms::negate(const Form& form) {
  Form other = everything();
  other.has_null = !form.has_null;
  other.has_true = !form.has_true;
  other.has_false = !form.has_false;
  other.numbers = numbers_.all_but(form.numbers);
  other.strings = e_.both(other.strings, e_.complement(form.strings));
  other.arrays = without(std::move(other.arrays), form.arrays);
  other.objects = without(std::move(other.objects), form.objects);
  return other;
}

// What satisfies `form` and one of the branches alone.
Form SchemaForms::exactly_one(Place schema, const Form& form, const std::vector<Form>& branches) {
  std::vector<Form> all;
  for (const Form& branch : branches) all.push_back(intersect(form, branch));
  const auto others_have = [&](size_t i, bool Form::*value) {
    for (size_t j = 0; j < all.size(); ++j)
      if (j != i && all[j].*value) return true;
    return false;
  };
  Form united;
  for (size_t i = 0; i < all.size(); ++i) {
    Form one = all[i];
    for (bool Form::*value : {&Form::has_null, &Form::has_true, &Form::has_false})
      one.*value = one.*value && !others_have(i, value);
    for (size_t j = 0; j < all.size(); ++j) {
      if (j == i) continue;
      if (e_.is_live(e_.both(all[i].strings, all[j].strings)))
        one.strings = e_.both(one.strings, e_.complement(branches[j].strings));
      if (e_.is_live(e_.both(all[i].numbers, all[j].numbers)))
        one.numbers = e_.both(one.numbers, numbers_.all_but(branches[j].numbers));
      try {
        if (!intersect(all[i].arrays, all[j].arrays).empty())
          one.arrays = without(std::move(one.arrays), branches[j].arrays);
        if (!intersect(all[i].objects, all[j].objects).empty())
          one.objects = without(std::move(one.objects), branches[j].objects);
      } catch (const Error& error) {
        document_.fail(schema, "oneOf",
                       "has branches " + std::to_string(i) + " and " + std::to_string(j) +
                           " that may both hold, which is not supported: " + error.what());
      }
    }
    united = unite(std::move(united), one);
  }
  return united;
}

}  // namespace warpchat::grammar
