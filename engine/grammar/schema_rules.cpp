// Values become rules one by one from a list of what is still to be done: schemas may refer to themselves.
#include "engine/grammar/schema_rules.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/grammar/schema_forms.h"
#include "models/error.h"
#include "models/text_format.h"

namespace warpchat::grammar {

namespace {

constexpr size_t kMaxKeyClasses = 64;  // that patternProperties divide keys into
constexpr size_t kMaxValues = 200'000;

class SchemaCompiler {
 public:
  SchemaCompiler(Rules& rules, std::string_view json, std::vector<std::string>& notes)
      : rules_(rules), e_(rules.expressions()), document_(json), forms_(e_, document_, notes) {
    ByteSet indent;
    indent.insert(' ');
    indent.insert('\t');
    space_ = e_.any_of({kEmptyText, e_.byte(' '), e_.concat(e_.byte('\n'), e_.repeat(e_.bytes(indent), 0, 20))});
  }

  Rule compile() {
    const Rule root = rule_of(forms_.conditions_of(0));
    bind_open();
    return root;
  }

  Rule compile_objects() {
    Form form;
    form.objects = forms_.form_of(forms_.conditions_of(0)).objects;
    const Rule root = rule_of_form(form);
    bind_open();
    return root;
  }

  Rule compile_members(const MemberMarkup& markup) {
    SchemaForms raw_forms(e_, document_, unused_notes_, Encoding::kRaw);
    const Expr refused = refused_texts(markup);
    std::vector<Rule> alternatives;
    for (const ObjectForm& object : forms_.form_of(forms_.conditions_of(0)).objects)
      alternatives.push_back(members_of(object, markup, raw_forms, refused));
    const Rule root = rules_.alternatives(std::move(alternatives));
    bind_open();
    return root;
  }

 private:
  void bind_open() {
    while (!open_.empty()) {
      const auto [conditions, rule] = std::move(open_.back());
      open_.pop_back();
      rules_.bind(rule, rule_of_form(forms_.form_of(conditions)));
    }
  }

  Rule rule_of(const Conditions& conditions) {
    const auto [known, is_new] = known_.try_emplace(conditions, kNoRule);
    if (!is_new) return known->second;
    if (known_.size() > kMaxValues) throw Error("the schema describes more than " + grouped(kMaxValues) + " values");
    const Rule rule = rules_.reference();
    known->second = rule;
    open_.emplace_back(conditions, rule);
    return rule;
  }

  Expr quoted(Expr content) { return e_.concat({e_.byte('"'), content, e_.byte('"')}); }

  Expr scalars(const Form& form) {
    return e_.any_of({form.has_null ? e_.text("null") : kNothing, form.has_true ? e_.text("true") : kNothing,
                      form.has_false ? e_.text("false") : kNothing, e_.is_live(form.numbers) ? form.numbers : kNothing,
                      e_.is_live(form.strings) ? quoted(form.strings) : kNothing});
  }

  Rule rule_of_form(const Form& form) {
    std::vector<Rule> alternatives = {rules_.terminal(scalars(form))};
    for (const ArrayForm& array : form.arrays) alternatives.push_back(rule_of_array(array));
    for (const ObjectForm& object : form.objects) alternatives.push_back(rule_of_object(object));
    return rules_.alternatives(std::move(alternatives));
  }

  template <class T>
  void set_brackets(T& of, char open, char close) {
    of.open = e_.concat(e_.byte(open), space_);
    of.close = e_.concat(space_, e_.byte(close));
    of.separator = e_.concat({space_, e_.byte(','), space_});
    of.open_and_close = e_.concat({e_.byte(open), space_, e_.byte(close)});
  }

  Rule rule_of_array(const ArrayForm& array) {
    if (array.is_unique && array.max > 1) return rule_of_unique(array);
    Elements elements;
    set_brackets(elements, '[', ']');
    elements.min = array.min;
    elements.max = array.max;
    if (!array.contained) {
      for (const Conditions& element : array.prefix) elements.prefix.push_back(rule_of(element));
      elements.rest = rule_of(array.rest);
      return rules_.elements(std::move(elements));
    }
    if (!array.prefix.empty()) document_.fail(array.place, "contains", "beside elements with places is not supported");
    elements.counted = rule_of(SchemaForms::joined(array.rest, *array.contained));
    elements.min_counted = array.min_contained;
    elements.max_counted = array.max_contained;
    Conditions others = array.rest;
    if (array.max_contained != UINT64_MAX) {
      const auto violations = SchemaForms::violations_of(*array.contained);
      if (violations.size() > 1) document_.fail(array.place, "maxContains", "of this schema is not supported");
      others = violations.empty() ? Conditions{{Condition::Kind::kNever, 0}}
                                  : SchemaForms::joined(std::move(others), violations[0]);
    }
    elements.rest = rule_of(others);
    return rules_.elements(std::move(elements));
  }

  // A list whose elements are chosen out of few, each once.
  Rule rule_of_unique(const ArrayForm& array) {
    const auto choices = forms_.choices_of(array.rest);
    if (!choices || !array.prefix.empty() || array.contained)
      document_.fail(array.place, "uniqueItems", "is supported only for elements of an enum without lists and objects");
    Members members;
    set_brackets(members, '[', ']');
    members.min = array.min;
    members.max = array.max;
    for (Place choice : *choices) {
      const Form form = forms_.form_of(SchemaForms::joined(array.rest, {{Condition::Kind::kValue, choice}}));
      const Expr head = scalars(form);
      if (e_.is_live(head)) members.entries.push_back({.head = {head}});
    }
    return rules_.members(std::move(members));
  }

  Expr key(Expr name) { return e_.concat({quoted(name), space_, e_.byte(':'), space_}); }

  std::vector<Expr> key_of(const std::string& name) {
    std::vector<Expr> parts = {e_.byte('"')};
    for (char32_t c : characters_of(name)) parts.push_back(forms_.characters().character(c));
    parts.push_back(e_.concat({e_.byte('"'), space_, e_.byte(':'), space_}));
    return parts;
  }

  static bool can_be(const Conditions& value) { return value.empty() || value.back().kind != Condition::Kind::kNever; }

  // Keys with a schema in its order, then other required ones.
  std::vector<std::string> names_of(const ObjectForm& object) const {
    std::vector<std::string> names;
    std::set<std::string> known;
    const auto add = [&](const std::string& name) {
      if (known.insert(name).second) names.push_back(name);
    };
    for (uint32_t layer : object.layers)
      for (const auto& property : forms_.layer(layer).properties) add(property.first);
    for (const std::string& name : object.required) add(name);
    return names;
  }

  Rule rule_of_object(const ObjectForm& object) {
    Members members;
    set_brackets(members, '{', '}');
    members.min = object.min;
    members.max = object.max;
    const std::vector<std::string> names = names_of(object);
    for (const std::string& name : names) {
      const Conditions value = forms_.value_of(object, name);
      const bool is_required = object.required.contains(name);
      if (can_be(value) && forms_.allows_name(object, name))
        members.entries.push_back({key_of(name), rule_of(value), is_required, false});
      else if (is_required)
        return rules_.terminal(kNothing);
    }
    if (members.max > members.entries.size() || members.max > object.required.size())
      add_other_keys(object, names, members);
    return rules_.members(std::move(members));
  }

  struct KeyClass {
    Expr names;
    std::set<Expr> matched;
  };

  std::vector<KeyClass> key_classes(const ObjectForm& object, const std::vector<std::string>& names) {
    std::vector<std::pair<std::u32string, Expr>> texts;
    for (const std::string& name : names) texts.emplace_back(characters_of(name), kEmptyText);
    std::ranges::sort(texts);
    Expr others =
        names.empty() ? e_.any_text() : e_.both(e_.any_text(), e_.complement(forms_.characters().any_text_of(texts)));
    if (object.names != kNothing) others = e_.both(others, object.names);
    std::set<Expr> patterns;
    for (uint32_t layer : object.layers)
      for (const auto& pattern : forms_.layer(layer).patterns) patterns.insert(pattern.first);
    std::vector<KeyClass> classes = {{others, {}}};
    for (Expr pattern : patterns) {
      std::vector<KeyClass> divided;
      for (const KeyClass& one : classes) {
        KeyClass matching{e_.both(one.names, pattern), one.matched};
        matching.matched.insert(pattern);
        divided.push_back(std::move(matching));
        divided.push_back({e_.both(one.names, e_.complement(pattern)), one.matched});
      }
      std::erase_if(divided, [this](const KeyClass& one) { return !e_.is_live(one.names); });
      if (divided.size() > kMaxKeyClasses)
        document_.fail(object.place, "patternProperties", "overlap in too many ways");
      classes = std::move(divided);
    }
    return classes;
  }

  void add_other_keys(const ObjectForm& object, const std::vector<std::string>& names, Members& members) {
    std::map<Conditions, std::vector<Expr>> by_value;
    for (const KeyClass& one : key_classes(object, names)) {
      Conditions value;
      for (uint32_t index : object.layers) {
        const ObjectLayer& layer = forms_.layer(index);
        bool is_matched = false;
        for (const auto& [pattern, conditions] : layer.patterns) {
          if (!one.matched.contains(pattern)) continue;
          is_matched = true;
          value = SchemaForms::joined(std::move(value), conditions);
        }
        if (!is_matched) value = SchemaForms::joined(std::move(value), layer.additional);
      }
      if (can_be(value) && e_.is_live(one.names)) by_value[value].push_back(one.names);
    }
    for (auto& [value, keys] : by_value)
      members.entries.push_back({{key(e_.any_of(std::move(keys)))}, rule_of(value), false, true});
    // Other keys may stand twice, which a reader counts once: beyond the required ones, one more is certain.
    if (!by_value.empty() && object.min > object.required.size() + 1)
      document_.fail(object.place, "minProperties", "of more keys than are named is not supported");
  }

  // Texts in which a reader would see another end of a value than the last bytes.
  Expr refused_texts(const MemberMarkup& markup) {
    ByteSet blanks;
    for (const uint8_t blank : {' ', '\t', '\n', '\r'}) blanks.insert(blank);
    const Expr byte = e_.bytes(ByteSet::all()), any_bytes = e_.repeat(byte, 0, kUnbounded);
    std::vector<Expr> found = {e_.concat(e_.text(markup.close), byte)};
    for (const auto& [first, second] : markup.refused_pairs)
      found.push_back(e_.concat({e_.text(first), e_.repeat(e_.bytes(blanks), 0, kUnbounded), e_.text(second)}));
    return e_.concat({any_bytes, e_.any_of(std::move(found)), any_bytes});
  }

  // A value with the close behind it.
  Rule marked_up_value(const Conditions& conditions, const MemberMarkup& markup, SchemaForms& raw_forms, Expr refused) {
    const Expr close = e_.text(markup.close), strings = raw_forms.form_of(conditions).strings;
    const Rule string = rules_.terminal(e_.both(e_.concat(strings, close), e_.complement(refused)));
    if (strings == e_.repeat(raw_forms.characters().any(), 0, kUnbounded)) return string;  // JSON among them
    Form others = forms_.form_of(conditions);
    others.strings = kNothing;
    const Expr python_words =
        e_.any_of({others.has_null ? e_.text("None") : kNothing, others.has_true ? e_.text("True") : kNothing,
                   others.has_false ? e_.text("False") : kNothing});
    const Rule value = rules_.alternatives({rule_of_form(others), rules_.terminal(python_words)});
    return rules_.alternatives({string, rules_.sequence({value, rules_.terminal(close)})});
  }

  Rule marked_up_member(Expr name, Rule value, const MemberMarkup& markup) {
    const Expr head = e_.concat({e_.text(markup.open), name, e_.text(markup.name_end)});
    return rules_.sequence({rules_.terminal(head), value, rules_.terminal(space_)});
  }

  Rule members_of(const ObjectForm& object, const MemberMarkup& markup, SchemaForms& raw_forms, Expr refused) {
    std::vector<Rule> members = {rules_.terminal(kEmptyText)};
    const std::vector<std::string> names = names_of(object);
    if (object.max < names.size()) document_.fail(object.place, "maxProperties", "of fewer than are named is not held");
    if (object.min > std::max<size_t>(object.required.size(), names.empty()))
      document_.fail(object.place, "minProperties", "of more than are required is not held");
    for (const std::string& name : names) {
      const Conditions value = forms_.value_of(object, name);
      const bool is_required = object.required.contains(name);
      if (!can_be(value) || !forms_.allows_name(object, name)) {
        if (is_required) return rules_.terminal(kNothing);
        continue;
      }
      if (name.find_first_of(markup.name_refused) != std::string::npos)
        throw Error("the key " + printable(name) + " has characters that no name of a parameter can have");
      const Rule member = marked_up_member(e_.text(name), marked_up_value(value, markup, raw_forms, refused), markup);
      members.push_back(rules_.repeat(member, is_required ? 1 : 0, 1));
    }
    if (names.empty()) members.push_back(unnamed_members(object, markup, raw_forms, refused));
    return rules_.sequence(std::move(members));
  }

  // Members of an object whose schema names none.
  Rule unnamed_members(const ObjectForm& object, const MemberMarkup& markup, SchemaForms& raw_forms, Expr refused) {
    constexpr uint32_t kMaxNameBytes = 64;
    Conditions value;
    bool has_limited_names = object.names != kNothing;
    for (uint32_t index : object.layers) {
      has_limited_names |= !forms_.layer(index).patterns.empty();
      value = SchemaForms::joined(std::move(value), forms_.layer(index).additional);
    }
    if (!can_be(value) || object.max == 0) return rules_.terminal(kEmptyText);
    if (has_limited_names)
      document_.fail(object.place, "patternProperties or propertyNames", "without names is not held");
    ByteSet letters = ByteSet::range('a', 'z') | ByteSet::range('A', 'Z') | ByteSet::range('0', '9');
    for (const uint8_t c : {'_', '-', '.'}) letters.insert(c);
    const Expr name = e_.repeat(e_.bytes(letters), 1, kMaxNameBytes);
    return rules_.repeat(marked_up_member(name, marked_up_value(value, markup, raw_forms, refused), markup), object.min,
                         object.max);
  }

  Rules& rules_;
  Expressions& e_;
  SchemaDocument document_;
  SchemaForms forms_;
  Expr space_ = kEmptyText;
  std::map<Conditions, Rule> known_;
  std::vector<std::pair<Conditions, Rule>> open_;
  std::vector<std::string> unused_notes_;  // the same ones again
};

}  // namespace

Rule rules_of_schema(Rules& rules, std::string_view json, std::vector<std::string>& notes) {
  return SchemaCompiler(rules, json, notes).compile();
}

Rule rules_of_object_schema(Rules& rules, std::string_view json, std::vector<std::string>& notes) {
  return SchemaCompiler(rules, json, notes).compile_objects();
}

Rule rules_of_members(Rules& rules, std::string_view json, const MemberMarkup& markup,
                      std::vector<std::string>& notes) {
  return SchemaCompiler(rules, json, notes).compile_members(markup);
}

}  // namespace warpchat::grammar
