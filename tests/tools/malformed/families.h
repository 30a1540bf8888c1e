// The families of malformed variants, which malformed_variants() joins.
#pragma once
#include <string>
#include <vector>

#include "tests/tools/malformed/variants.h"

namespace warpchat {

// A valid file to vary.
struct Base {
  std::string name;
  Bytes file;
  std::vector<Field> fields;
  Document document;
};
using Variants = std::vector<Variant>;

// On the bytes.
void add_truncations(const Base& base, Variants& out);     // before and inside every field
void add_broken_header(const Base& base, Variants& out);   // magic, version, counts
void add_broken_lengths(const Base& base, Variants& out);  // names, strings and arrays
void add_broken_types(const Base& base, Variants& out);    // values, elements and tensors
void add_broken_layouts(const Base& base, Variants& out);  // dimensions and offsets
void add_harmless_bytes(const Base& base, Variants& out);  // changes that a reader must accept

// On the document.
void add_missing_and_doubled(const Base& base, Variants& out);  // every key, every tensor
void add_wrong_kinds(const Base& base, Variants& out);          // every key as a value of every other kind
void add_wrong_values(const Base& base, Variants& out);         // out of range, not finite, of an unsupported variant
void add_wrong_tensors(const Base& base, Variants& out);        // shapes, storage formats, extra tensors
void add_wrong_weights(const Base& base, Variants& out);        // NaN and infinity in every scale and norm
void add_wrong_vocabularies(const Base& base, Variants& out);   // arrays that contradict the model or each other

}  // namespace warpchat
