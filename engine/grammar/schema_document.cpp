#include "engine/grammar/schema_document.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "engine/grammar/uri.h"
#include "engine/json_reader.h"
#include "models/error.h"
#include "models/text_format.h"

namespace warpchat::grammar {

namespace {

constexpr uint32_t kMaxSchemaDepth = 300;  // nested values
constexpr size_t kMaxSchemaBytes = size_t{32} << 20, kMaxSchemaValues = 1'000'000;

using Type = SchemaValue::Type;

class DocumentReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit DocumentReader(std::vector<SchemaValue>& values) : values_(values) {}

  bool null() override { return add(Type::kNull); }
  bool boolean(bool value) override { return add(value ? Type::kTrue : Type::kFalse); }
  bool number_integer(number_integer_t value) override { return add(Type::kNumber, std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(Type::kNumber, std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return add(Type::kNumber, text); }
  bool string(string_t& value) override { return add(Type::kString, value); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Type::kObject); }
  bool start_array(std::size_t) override { return open(Type::kArray); }
  bool key(string_t& name) override {
    key_ = name;
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    if (error.id / 100 == 4) throw JsonError("a number in its JSON is out of range", position, false);
    const size_t byte = position > 0 ? position - 1 : 0;
    throw JsonError("it is not valid JSON (byte " + grouped(byte) + ")", byte, true);
  }

 private:
  bool add(Type type, std::string text = "") {
    const auto place = static_cast<Place>(values_.size());
    SchemaValue value{.type = type, .text = std::move(text), .members = {}, .parent = 0, .key = ""};
    if (!open_.empty()) {
      value.parent = open_.back();
      auto& members = values_[open_.back()].members;
      if (values_[open_.back()].is(Type::kObject)) {
        value.key = key_;
        const auto [known, is_new] = names_.back().try_emplace(key_, members.size());
        if (is_new)
          members.emplace_back(key_, place);
        else
          members[known->second].second = place;  // the last one counts, as for most readers
      } else {
        value.key = std::to_string(members.size());
        members.emplace_back("", place);
      }
    }
    values_.push_back(std::move(value));
    return true;
  }

  bool open(Type type) {
    add(type);
    open_.push_back(static_cast<Place>(values_.size() - 1));
    names_.emplace_back();
    return true;
  }

  bool close() {
    open_.pop_back();
    names_.pop_back();
    return true;
  }

  std::vector<SchemaValue>& values_;
  std::vector<Place> open_;
  std::vector<std::unordered_map<std::string, size_t>> names_;  // of the open values: index in their members
  std::string key_;
};

// Where schemas stand within a schema: as the value, as its elements, or as its members' values.
constexpr std::array kSchemas = {"additionalProperties",
                                 "items",
                                 "contains",
                                 "not",
                                 "if",
                                 "then",
                                 "else",
                                 "propertyNames",
                                 "additionalItems",
                                 "unevaluatedItems",
                                 "unevaluatedProperties"};
constexpr std::array kSchemaLists = {"allOf", "anyOf", "oneOf", "prefixItems", "items"};
constexpr std::array kSchemaMaps = {"properties",  "patternProperties", "$defs",
                                    "definitions", "dependentSchemas",  "dependencies"};

template <class Names>
bool is_one_of(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

SchemaDocument::SchemaDocument(std::string_view json) {
  DocumentReader reader(values_);
  try {
    read_untrusted_json(json, {kMaxSchemaDepth, kMaxSchemaBytes, kMaxSchemaValues}, reader);
  } catch (const JsonError& error) {
    throw Error("the schema cannot be read: " + std::string(error.what()));
  }
  find_draft();
  find_resources();
}

void SchemaDocument::fail(Place schema, std::string_view keyword, const std::string& what) const {
  throw Error(printable(keyword) + " at " + pointer(schema) + " " + what);
}

std::optional<Place> SchemaDocument::member(Place object, std::string_view name) const {
  if (!values_[object].is(Type::kObject)) return std::nullopt;
  for (const auto& [known, place] : values_[object].members)
    if (known == name) return place;
  return std::nullopt;
}

std::string SchemaDocument::pointer(Place place) const {
  std::vector<std::string> keys;
  for (; place != 0; place = values_[place].parent) keys.push_back(values_[place].key);
  std::string pointer = "#";
  for (size_t i = keys.size(); i-- > 0;) {
    pointer += '/';
    for (char c : keys[i]) pointer += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return printable(pointer, 200);
}

void SchemaDocument::find_draft() {
  const auto named = member(0, "$schema");
  if (!named) return;
  const SchemaValue& name = values_[*named];
  if (!name.is(Type::kString)) fail(0, "$schema", "is no text");
  constexpr std::array<std::pair<std::string_view, Draft>, 4> kDrafts = {
      {{"draft-04", Draft::k4}, {"draft-06", Draft::k6}, {"draft-07", Draft::k7}, {"2019-09", Draft::k2019}}};
  for (const auto& [word, draft] : kDrafts)
    if (name.text.find(word) != std::string::npos) draft_ = draft;
  for (const char* old : {"draft-00", "draft-01", "draft-02", "draft-03"})
    if (name.text.find(old) != std::string::npos)
      fail(0, "$schema", "names " + printable(name.text) + ", expected draft 4 or later");
  if (name.text.find("json-schema.org/") == std::string::npos)
    fail(0, "$schema",
         "names " + printable(name.text) +
             ", which is no known version; without it the schema is read as draft 2020-12");
}

void SchemaDocument::find_resources() {
  bases_[0] = "";
  resources_[""] = 0;
  std::vector<Place> open = {0};
  while (!open.empty()) {
    const Place schema = open.back();
    open.pop_back();
    if (!values_[schema].is(Type::kObject)) continue;
    enter_schema(schema);
    for (const auto& [name, place] : values_[schema].members) {
      const SchemaValue& value = values_[place];
      if (value.is(Type::kObject) && is_one_of(kSchemas, name)) open.push_back(place);
      if ((value.is(Type::kArray) && is_one_of(kSchemaLists, name)) ||
          (value.is(Type::kObject) && is_one_of(kSchemaMaps, name)))
        for (const auto& member : value.members) open.push_back(member.second);
    }
  }
}

void SchemaDocument::enter_schema(Place schema) {
  const bool is_old = draft_ <= Draft::k7;
  if (is_old && schema != 0 && member(schema, "$ref")) return;  // it hides what stands beside it
  const auto id = member(schema, draft_ == Draft::k4 ? "id" : "$id");
  if (id && values_[*id].is(Type::kString)) {
    const std::string& text = values_[*id].text;
    if (is_old && text.starts_with('#')) {
      anchors_.try_emplace(base_of(schema) + text, schema);
    } else {
      const std::string base = without_fragment(resolve_uri(base_of(schema), text));
      bases_[schema] = base;
      resources_.try_emplace(base, schema);
    }
  }
  for (const char* keyword : {"$anchor", "$dynamicAnchor"})
    if (const auto anchor = member(schema, keyword); anchor && !is_old && values_[*anchor].is(Type::kString))
      anchors_.try_emplace(base_of(schema) + "#" + values_[*anchor].text, schema);
}

std::string SchemaDocument::base_of(Place place) const {
  for (;; place = values_[place].parent)
    if (const auto known = bases_.find(place); known != bases_.end()) return known->second;
}

std::optional<Place> SchemaDocument::follow_pointer(Place from, std::string_view pointer) const {
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const size_t end = std::min(pointer.find('/'), pointer.size());
    std::string key;
    for (size_t i = 0; i < end; ++i) {
      const bool is_escape = pointer[i] == '~' && i + 1 < end && (pointer[i + 1] == '0' || pointer[i + 1] == '1');
      key += !is_escape ? pointer[i] : pointer[++i] == '0' ? '~' : '/';
    }
    pointer.remove_prefix(end);
    const auto& members = values_[from].members;
    const auto found =
        std::ranges::find_if(members, [&](const auto& member) { return values_[member.second].key == key; });
    if (found == members.end()) return std::nullopt;
    from = found->second;
  }
  return from;
}

Place SchemaDocument::resolve(Place from, std::string_view reference) const {
  const std::string whole = resolve_uri(base_of(from), reference);
  const std::string address = without_fragment(whole);
  const std::string fragment =
      decode_percent(std::string_view(whole).substr(std::min(whole.size(), address.size() + 1)));
  const auto resource = resources_.find(address);
  if (resource == resources_.end())
    fail(from, "$ref", "leads out of the schema, to " + printable(reference) + ", which is never fetched");
  if (fragment.empty()) return resource->second;
  std::optional<Place> found;
  if (fragment.starts_with('/')) {
    found = follow_pointer(resource->second, fragment);
  } else if (const auto anchor = anchors_.find(address + "#" + fragment); anchor != anchors_.end()) {
    found = anchor->second;
  }
  if (!found) fail(from, "$ref", "leads to " + printable(reference) + ", which the schema does not have");
  return *found;
}

}  // namespace warpchat::grammar
