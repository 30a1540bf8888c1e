// A JSON Schema as a tree of values with places, and where its references lead within it.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpchat::grammar {

using Place = uint32_t;  // a value of the document; 0: the root

struct SchemaValue {
  enum class Type : uint8_t { kNull, kTrue, kFalse, kNumber, kString, kArray, kObject };
  Type type;
  std::string text;                                    // of a string; of a number, as JSON
  std::vector<std::pair<std::string, Place>> members;  // of an object, each name once; of an array, without names
  Place parent;
  std::string key;  // in its parent
  bool is(Type other) const { return type == other; }
};

enum class Draft { k4 = 4, k6 = 6, k7 = 7, k2019 = 2019, k2020 = 2020 };

class SchemaDocument {
 public:
  // Error for what is no JSON, beyond the limits of nesting and size, or of a draft before 4.
  explicit SchemaDocument(std::string_view json);

  const SchemaValue& operator[](Place place) const { return values_[place]; }
  Draft draft() const { return draft_; }
  std::optional<Place> member(Place object, std::string_view name) const;
  std::string pointer(Place place) const;  // "#/properties/name", for messages

  // Where a reference that stands in `from` leads. Error if that is outside of the document, or nowhere.
  Place resolve(Place from, std::string_view reference) const;

  // keyword and place: "minLength at #/properties/name".
  [[noreturn]] void fail(Place schema, std::string_view keyword, const std::string& what) const;

 private:
  void find_draft();
  void find_resources();
  void enter_schema(Place schema);
  std::string base_of(Place place) const;
  std::optional<Place> follow_pointer(Place from, std::string_view pointer) const;

  std::vector<SchemaValue> values_;
  Draft draft_ = Draft::k2020;
  std::map<Place, std::string> bases_;                   // of schemas with an id
  std::map<std::string, Place, std::less<>> resources_;  // by address without fragment
  std::map<std::string, Place, std::less<>> anchors_;    // by address with fragment
};

}  // namespace warpchat::grammar
