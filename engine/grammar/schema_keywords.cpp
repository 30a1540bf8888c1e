#include "engine/grammar/schema_keywords.h"

#include <algorithm>
#include <array>

#include "engine/grammar/formats.h"
#include "engine/grammar/pattern.h"
#include "models/error.h"
#include "models/text_format.h"

namespace warpchat::grammar {

namespace {

using Type = SchemaValue::Type;

constexpr uint64_t kMaxSchemaCount = 1'000'000'000;  // larger ones are no limit from above, and refused from below

}  // namespace

Place SchemaKeywords::object_at(std::string_view keyword, Place place) const {
  if (!value(place).is(Type::kObject)) fail(keyword, "is no object");
  return place;
}

const std::vector<std::pair<std::string, Place>>& SchemaKeywords::list_at(std::string_view keyword, Place place) const {
  if (!value(place).is(Type::kArray)) fail(keyword, "is no list");
  return value(place).members;
}

Conditions SchemaKeywords::schema_at(std::string_view keyword, Place place) const {
  const SchemaValue& schema = value(place);
  if (!schema.is(Type::kObject) && !schema.is(Type::kTrue) && !schema.is(Type::kFalse)) fail(keyword, "is no schema");
  return f_.conditions_of(place);
}

std::vector<std::string> SchemaKeywords::names_at(std::string_view keyword, Place place) const {
  std::vector<std::string> names;
  for (const auto& [unused, member] : list_at(keyword, place)) {
    if (!value(member).is(Type::kString)) fail(keyword, "is no list of texts");
    names.push_back(value(member).text);
  }
  return names;
}

std::optional<Decimal> SchemaKeywords::number(std::string_view keyword) const {
  const auto place = find(keyword);
  if (!place) return std::nullopt;
  if (!value(*place).is(Type::kNumber)) fail(keyword, "is no number");
  const auto decimal = decimal_of(value(*place).text);
  if (!decimal) fail(keyword, "is a number out of range");
  if (decimal->whole.size() + decimal->fraction.size() > 350) fail(keyword, "is a number of too many digits");
  return decimal;
}

std::optional<uint64_t> SchemaKeywords::count(std::string_view keyword) const {
  const auto decimal = number(keyword);
  if (!decimal) return std::nullopt;
  if (decimal->is_negative || !decimal->is_integer()) fail(keyword, "is no whole number of at least 0");
  if (decimal->whole.size() <= 10 && std::stoull(decimal->whole) <= kMaxSchemaCount) return std::stoull(decimal->whole);
  if (keyword.starts_with("min")) fail(keyword, "is more than " + grouped(kMaxSchemaCount));
  return UINT64_MAX;
}

// Adds the place to what an expression cannot hold.
template <class F>
Expr SchemaKeywords::held(std::string_view keyword, const F& make) const {
  try {
    return make();
  } catch (const Error& error) {
    fail(keyword, "cannot be held: " + std::string(error.what()));
  }
}

bool SchemaKeywords::allows_all(Place place) const {
  return !value(place).is(Type::kFalse) && f_.is_without_constraint(place);
}

Form SchemaKeywords::form() {
  const SchemaValue& schema = value(schema_);
  if (schema.is(Type::kTrue)) return f_.everything();
  if (schema.is(Type::kFalse)) return Form();
  if (!schema.is(Type::kObject)) throw Error("what stands at " + document_.pointer(schema_) + " is no schema");
  Form form = f_.everything();
  if (const auto reference = find("$ref")) {
    if (!value(*reference).is(Type::kString)) fail("$ref", "is no text");
    const Place target = document_.resolve(schema_, value(*reference).text);
    form = f_.form_of(f_.conditions_of(target));
    if (document_.draft() <= Draft::k7) return form;  // what stands beside it means nothing there
  }
  refuse_unsupported();
  read_type(form);
  if (const auto list = find("enum")) {
    if (list_at("enum", *list).empty()) fail("enum", "has no values");
    form = f_.intersect(form, f_.of_values(schema_, *list));
  }
  if (const auto constant = find("const"); constant && document_.draft() >= Draft::k6)
    form = f_.intersect(form, f_.of_value(*constant));
  read_numbers(form);
  read_strings(form);
  read_arrays(form);
  read_objects(form);
  read_dependencies(form);
  read_combinations(form);
  read_condition(form);
  return form;
}

void SchemaKeywords::refuse_unsupported() const {
  for (const char* keyword : {"$dynamicRef", "$recursiveRef"})
    if (find(keyword)) fail(keyword, "is not supported");
  for (const char* keyword : {"unevaluatedProperties", "unevaluatedItems"})
    if (const auto place = find(keyword); place && document_.draft() >= Draft::k2019 && !allows_all(*place))
      fail(keyword, "is not supported");
}

Form SchemaKeywords::of_type(const SchemaValue& name) const {
  if (!name.is(Type::kString)) fail("type", "is no text and no list of texts");
  Form form;
  const Form all = f_.everything();
  if (name.text == "null")
    form.has_null = true;
  else if (name.text == "boolean")
    form.has_true = form.has_false = true;
  else if (name.text == "number")
    form.numbers = all.numbers;
  else if (name.text == "integer")
    form.numbers = f_.numbers_.integer();
  else if (name.text == "string")
    form.strings = all.strings;
  else if (name.text == "array")
    form.arrays = all.arrays;
  else if (name.text == "object")
    form.objects = all.objects;
  else
    fail("type", "is " + printable(name.text) + ", which is no type of JSON");
  return form;
}

void SchemaKeywords::read_type(Form& form) const {
  const auto type = find("type");
  if (!type) return;
  if (!value(*type).is(Type::kArray)) {
    form = f_.intersect(form, of_type(value(*type)));
    return;
  }
  Form all;
  for (const auto& [unused, place] : value(*type).members) {
    Form one = of_type(value(place));
    if (!all.arrays.empty()) one.arrays.clear();
    if (!all.objects.empty()) one.objects.clear();
    all = f_.unite(std::move(all), one);
  }
  form = f_.intersect(form, all);
}

void SchemaKeywords::read_numbers(Form& form) const {
  const auto restrict_to = [&](std::string_view keyword, const auto& make) {
    form.numbers = f_.e_.both(form.numbers, held(keyword, make));
  };
  for (const bool is_minimum : {true, false}) {
    const char* exclusive_keyword = is_minimum ? "exclusiveMinimum" : "exclusiveMaximum";
    const char* keyword = is_minimum ? "minimum" : "maximum";
    const auto bound = [&](std::string_view name, const Decimal& limit, bool is_exclusive) {
      restrict_to(name, [&] {
        return is_minimum ? f_.numbers_.at_least(limit, is_exclusive) : f_.numbers_.at_most(limit, is_exclusive);
      });
    };
    const auto exclusive = find(exclusive_keyword);
    const bool is_flag = exclusive && (value(*exclusive).is(Type::kTrue) || value(*exclusive).is(Type::kFalse));
    if (const auto limit = number(keyword)) bound(keyword, *limit, is_flag && value(*exclusive).is(Type::kTrue));
    if (exclusive && !is_flag) bound(exclusive_keyword, *number(exclusive_keyword), true);
  }
  if (const auto step = number("multipleOf")) {
    if (step->is_negative || step->is_zero()) fail("multipleOf", "is not above 0");
    restrict_to("multipleOf", [&] { return f_.numbers_.multiple_of(*step); });
  }
}

void SchemaKeywords::read_strings(Form& form) const {
  const auto restrict_to = [&](std::string_view keyword, const auto& make) {
    form.strings = f_.e_.both(form.strings, held(keyword, make));
  };
  const auto min = count("minLength"), max = count("maxLength");
  if (min || max) {
    const uint32_t most = max.value_or(UINT64_MAX) == UINT64_MAX ? kUnbounded : static_cast<uint32_t>(*max);
    if (min.value_or(0) > most)
      form.strings = kNothing;
    else
      restrict_to(min ? "minLength" : "maxLength",
                  [&] { return f_.e_.repeat(f_.characters_.any(), static_cast<uint32_t>(min.value_or(0)), most); });
  }
  if (const auto pattern = find("pattern")) {
    if (!value(*pattern).is(Type::kString)) fail("pattern", "is no text");
    restrict_to("pattern", [&] { return search_pattern(f_.characters_, value(*pattern).text); });
  }
  const auto format = find("format");
  if (!format) return;
  const std::string& name = value(*format).text;
  if (!value(*format).is(Type::kString)) fail("format", "is no text");
  const FormatKind kind = kind_of_format(name);
  if (kind == FormatKind::kRefused) fail("format", "is " + printable(name) + ", which is not supported");
  if (kind == FormatKind::kHeld)
    restrict_to("format", [&] { return strings_of_format(f_.characters_, name); });
  else
    f_.notes_.push_back("format " + printable(name) + " at " + document_.pointer(schema_) +
                        " is in no version of JSON Schema, and ignored");
}

void SchemaKeywords::read_items(ArrayForm& array) const {
  const auto prefix = document_.draft() >= Draft::k2020 ? find("prefixItems") : std::nullopt;
  const auto items = find("items");
  const bool is_list = items && value(*items).is(Type::kArray);
  if (prefix || is_list)
    for (const auto& [unused, place] : list_at(prefix ? "prefixItems" : "items", prefix ? *prefix : *items))
      array.prefix.push_back(schema_at(prefix ? "prefixItems" : "items", place));
  if (items && !is_list) array.rest = schema_at("items", *items);
  if (const auto additional = find("additionalItems"); additional && is_list)
    array.rest = schema_at("additionalItems", *additional);
}

void SchemaKeywords::read_arrays(Form& form) const {
  ArrayForm array;
  array.place = schema_;
  read_items(array);
  array.min = count("minItems").value_or(0);
  array.max = count("maxItems").value_or(UINT64_MAX);
  if (const auto unique = find("uniqueItems")) {
    if (!value(*unique).is(Type::kTrue) && !value(*unique).is(Type::kFalse))
      fail("uniqueItems", "is neither true nor false");
    array.is_unique = value(*unique).is(Type::kTrue);
  }
  if (const auto contains = find("contains"); contains && document_.draft() >= Draft::k6) {
    array.contained = schema_at("contains", *contains);
    array.min_contained = 1;
    if (document_.draft() >= Draft::k2019) {
      array.min_contained = count("minContains").value_or(1);
      array.max_contained = count("maxContains").value_or(UINT64_MAX);
    }
    if (array.min_contained == 0 && array.max_contained == UINT64_MAX) array.contained.reset();
  }
  Form restricted = f_.everything();
  restricted.arrays = {array};
  form = f_.intersect(form, restricted);
}

void SchemaKeywords::read_names(ObjectForm& object) const {
  const auto names = find("propertyNames");
  if (!names || document_.draft() < Draft::k6) return;
  const Conditions conditions = schema_at("propertyNames", *names);
  if (!conditions.empty()) object.names = f_.form_of(conditions).strings;
  if (!conditions.empty() && !f_.e_.is_live(object.names)) {  // no key is possible
    object.names = kNothing;
    object.max = 0;
  }
}

void SchemaKeywords::read_objects(Form& form) const {
  ObjectForm object;
  object.place = schema_;
  ObjectLayer layer;
  if (const auto properties = find("properties"))
    for (const auto& [name, place] : value(object_at("properties", *properties)).members)
      layer.properties.emplace_back(name, schema_at("properties", place));
  if (const auto patterns = find("patternProperties"))
    for (const auto& [pattern, place] : value(object_at("patternProperties", *patterns)).members)
      layer.patterns.emplace_back(held("patternProperties", [&] { return search_pattern(f_.characters_, pattern); }),
                                  schema_at("patternProperties", place));
  if (const auto additional = find("additionalProperties"))
    layer.additional = schema_at("additionalProperties", *additional);
  if (const auto required = find("required"))
    for (std::string& name : names_at("required", *required)) object.required.insert(std::move(name));
  object.min = count("minProperties").value_or(0);
  object.max = count("maxProperties").value_or(UINT64_MAX);
  read_names(object);
  if (!layer.properties.empty() || !layer.patterns.empty() || !layer.additional.empty())
    object.layers = {f_.add_layer(std::move(layer))};
  Form restricted = f_.everything();
  restricted.objects = {std::move(object)};
  form = f_.intersect(form, restricted);
}

// Either the key is absent, or what depends on it holds.
void SchemaKeywords::read_dependency(Form& form, std::string_view keyword, const std::string& name, Place place) const {
  Form allowed = f_.everything();
  allowed.objects = {f_.object_with({{name, {{Condition::Kind::kNever, 0}}}}, {}, schema_)};
  if (value(place).is(Type::kArray)) {
    const std::vector<std::string> names = names_at(keyword, place);
    allowed.objects.push_back(f_.object_with({}, {names.begin(), names.end()}, schema_));
  } else {
    const Form dependent = f_.form_of(schema_at(keyword, place));
    allowed.objects.insert(allowed.objects.end(), dependent.objects.begin(), dependent.objects.end());
  }
  form = f_.intersect(form, allowed);
}

void SchemaKeywords::read_dependencies(Form& form) const {
  for (const char* keyword : {"dependentRequired", "dependentSchemas", "dependencies"}) {
    const auto all = find(keyword);
    if (!all || (std::string_view(keyword) != "dependencies" && document_.draft() < Draft::k2019)) continue;
    for (const auto& [name, place] : value(object_at(keyword, *all)).members) {
      const bool is_list = value(place).is(Type::kArray);
      if (std::string_view(keyword) == "dependentRequired" && !is_list) fail(keyword, "is no object of lists");
      read_dependency(form, keyword, name, place);
    }
  }
}

void SchemaKeywords::read_combinations(Form& form) const {
  const auto branches_of = [&](std::string_view keyword, Place list) {
    std::vector<Form> branches;
    for (const auto& [unused, place] : list_at(keyword, list))
      branches.push_back(f_.form_of(schema_at(keyword, place)));
    if (branches.empty()) fail(keyword, "has no schemas");
    return branches;
  };
  if (const auto all = find("allOf"))
    for (const Form& branch : branches_of("allOf", *all)) form = f_.intersect(form, branch);
  if (const auto any = find("anyOf")) {
    Form united;
    for (const Form& branch : branches_of("anyOf", *any))
      united = f_.unite(std::move(united), f_.intersect(form, branch));
    form = std::move(united);
  }
  if (const auto one = find("oneOf")) {
    const std::vector<Form> branches = branches_of("oneOf", *one);
    form = f_.exactly_one(schema_, form, branches);
  }
  if (const auto negated = find("not")) {
    const Form inner = f_.form_of(schema_at("not", *negated));
    try {
      form = f_.intersect(form, f_.negate(inner));
    } catch (const Error& error) {
      fail("not", "cannot be held: " + std::string(error.what()));
    }
  }
}

void SchemaKeywords::read_condition(Form& form) const {
  const auto condition = find("if"), then = find("then"), otherwise = find("else");
  if (!condition || document_.draft() < Draft::k7 || (!then && !otherwise)) return;
  const Form holds = f_.form_of(schema_at("if", *condition));
  Form united = f_.intersect(form, holds);
  if (then) united = f_.intersect(united, f_.form_of(schema_at("then", *then)));
  try {
    Form other = f_.intersect(form, f_.negate(holds));
    if (otherwise) other = f_.intersect(other, f_.form_of(schema_at("else", *otherwise)));
    form = f_.unite(std::move(united), other);
  } catch (const Error& error) {
    fail("if", "cannot be held: " + std::string(error.what()));
  }
}

}  // namespace warpchat::grammar
