#include "models/gguf_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "models/gguf_part.h"
#include "models/gguf_split.h"
#include "models/gguf_value.h"
#include "models/mapped_file.h"
#include "models/text_format.h"

namespace warpchat {
namespace {

// The key split.no counts from 0, but names and messages count from 1.
std::string part_text(uint64_t number, uint64_t count) {
  return "part " + std::to_string(number + 1) + " of " + std::to_string(count);
}

}  // namespace

std::span<const std::byte> TensorInfo::row(uint64_t index) const {
  const uint64_t n_bytes = bytes_per_row(type, k());
  uint64_t at = index;
  for (const RowStretches& part : order) {
    if (index < part.run * part.n) {
      at = part.first + index / part.run * part.stride + index % part.run;
      break;
    }
    index -= part.run * part.n;
  }
  return data.subspan(at * n_bytes, n_bytes);
}

std::span<const std::byte> TensorInfo::rows(uint64_t first, uint64_t n, std::vector<std::byte>& gathered) const {
  const uint64_t row_bytes = bytes_per_row(type, k());
  if (order.empty()) return data.subspan(first * row_bytes, n * row_bytes);
  gathered.resize(n * row_bytes);
  for (uint64_t i = 0; i < n; ++i) std::ranges::copy(row(first + i), gathered.data() + i * row_bytes);
  return gathered;
}

struct GgufFile::State {
  std::string path;
  std::vector<MappedFile> mappings;  // one per part; none for a view
  uint64_t file_bytes = 0;
  GgufPart first;  // holds the model's metadata; its tensors were moved to `tensors`
  std::vector<TensorInfo> tensors;
  NameIndex tensor_names;

  [[noreturn]] void fail(const std::string& fault) const {
    throw Error("cannot load " + printable(path, 4096) + ": " + fault);
  }
  [[noreturn]] void fail_key(const GgufValue& value, const std::string& expected) const {
    fail("key " + printable(value.key) + " is " + describe(value) + ", expected " + expected);
  }

  const GgufValue& value(std::string_view key) const {
    if (const GgufValue* found = first.find(key)) return *found;
    fail("key " + printable(key) + " is missing");
  }

  const GgufValue& array(std::string_view key, const char* expected) const {
    const GgufValue& found = value(key);
    if (found.type != GgufType::kArray) fail_key(found, expected);
    return found;
  }

  static std::unique_ptr<State> parse(std::span<const std::byte> bytes, const std::string& path) {
    auto state = std::make_unique<State>();
    state->path = path;
    state->file_bytes = bytes.size();
    state->first = parse_gguf_part(bytes, path);
    state->add_tensors(std::move(state->first.tensors));
    return state;
  }

  void add_tensors(std::vector<TensorInfo> more) {
    for (TensorInfo& tensor : more) tensors.push_back(std::move(tensor));
    for (TensorInfo& tensor : tensors) tensor.file = path;
  }
  // Call last, since the index holds views of the names.
  void index_tensors() {
    for (size_t i = 0; i < tensors.size(); ++i)
      if (!tensor_names.emplace(tensors[i].name, i).second)
        fail("tensor " + printable(tensors[i].name) + " appears twice");
  }

  uint64_t uint_of(const GgufValue& found) const;
  uint64_t n_parts() const { return first.find("split.count") ? uint_of(value("split.count")) : 1; }
  void add_sisters();
  void add_sister(const SplitName& name, uint64_t number, uint64_t count);
};

uint64_t GgufFile::State::uint_of(const GgufValue& found) const {
  const auto number = found.type == GgufType::kArray ? std::nullopt : integer_at(found, 0);
  if (!number || *number < 0) fail_key(found, "an integer of at least 0");
  return static_cast<uint64_t>(*number);
}

void GgufFile::State::add_sisters() {
  const uint64_t count = n_parts();
  if (count <= 1) return;
  const uint64_t number = uint_of(value("split.no"));
  auto name = parse_split_name(path);
  if (!name || name->count != count || name->part != number + 1)
    fail("it is " + part_text(number, count) + " of a split model, but its name does not end in " +
         split_name({"", number + 1, count}) + "; give the parts their names back");
  if (number != 0) {
    name->part = 1;
    fail("it is " + part_text(number, count) + " of a split model; open the first, " +
         printable(split_name(*name), 4096));
  }
  for (uint64_t i = 1; i < count; ++i) {
    name->part = i + 1;
    add_sister(*name, i, count);
  }
  const uint64_t expected = uint_of(value("split.tensors.count"));
  if (expected != tensors.size())
    fail("key split.tensors.count is " + grouped(expected) + ", the " + grouped(count) + " parts hold " +
         counted(tensors.size(), "tensor") + "; download them again");
}

void GgufFile::State::add_sister(const SplitName& name, uint64_t number, uint64_t count) {
  const std::string sister_path = split_name(name);
  try {
    MappedFile mapping = MappedFile::open(sister_path);
    const auto sister = parse(mapping.bytes(), sister_path);
    const uint64_t own_number = sister->uint_of(sister->value("split.no")), own_count = sister->n_parts();
    if (own_number != number || own_count != count)
      sister->fail("it says that it is " + part_text(own_number, own_count) +
                   "; put the parts of one model side by side");
    file_bytes += mapping.bytes().size();
    add_tensors(std::move(sister->tensors));
    mappings.push_back(std::move(mapping));
  } catch (const Error& error) {
    throw Error(std::string(error.what()) + " (it is " + part_text(number, count) + " of " + printable(path, 4096) +
                ")");
  }
}

GgufFile GgufFile::open(const std::string& path) {
  MappedFile mapping = MappedFile::open(path);
  auto state = State::parse(mapping.bytes(), path);
  state->mappings.push_back(std::move(mapping));
  state->add_sisters();
  state->index_tensors();
  return GgufFile(std::move(state));
}

GgufFile GgufFile::view(std::span<const std::byte> bytes, const std::string& name) {
  auto state = State::parse(bytes, name);
  if (state->n_parts() > 1)
    state->fail("it is part of a split model (key split.count), whose parts are needed as files");
  state->index_tensors();
  return GgufFile(std::move(state));
}

GgufFile::GgufFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
GgufFile::GgufFile(GgufFile&&) noexcept = default;
GgufFile& GgufFile::operator=(GgufFile&&) noexcept = default;
GgufFile::~GgufFile() = default;

const std::string& GgufFile::path() const { return state_->path; }
uint64_t GgufFile::file_bytes() const { return state_->file_bytes; }
uint32_t GgufFile::version() const { return state_->first.version; }
const std::vector<GgufValue>& GgufFile::values() const { return state_->first.values; }
const std::vector<TensorInfo>& GgufFile::tensors() const { return state_->tensors; }

void GgufFile::fail(const std::string& fault) const { state_->fail(fault); }

bool GgufFile::has(std::string_view key) const { return state_->first.find(key) != nullptr; }
bool GgufFile::is_array(std::string_view key) const {
  const GgufValue* found = state_->first.find(key);
  return found && found->type == GgufType::kArray;
}
uint64_t GgufFile::n_elements(std::string_view key) const { return state_->array(key, "an array").n_elements; }

uint64_t GgufFile::get_uint(std::string_view key) const { return state_->uint_of(state_->value(key)); }
uint64_t GgufFile::get_uint(std::string_view key, uint64_t absent) const { return has(key) ? get_uint(key) : absent; }

double GgufFile::get_float(std::string_view key) const {
  const GgufValue& found = state_->value(key);
  const auto number = found.type == GgufType::kArray ? std::nullopt : float_at(found, 0);
  if (!number || !std::isfinite(*number)) state_->fail_key(found, "a finite float32 or float64");
  return *number;
}
double GgufFile::get_float(std::string_view key, double absent) const { return has(key) ? get_float(key) : absent; }

bool GgufFile::get_bool(std::string_view key, bool absent) const {
  if (!has(key)) return absent;
  const GgufValue& found = state_->value(key);
  if (found.type != GgufType::kBool) state_->fail_key(found, "a bool");
  return found.elements[0] != std::byte{0};
}

std::string_view GgufFile::get_string(std::string_view key) const {
  const GgufValue& found = state_->value(key);
  if (found.type != GgufType::kString) state_->fail_key(found, "a string");
  std::string_view text;
  for_each_string(found, [&](std::string_view only) { return text = only, false; });
  return text;
}
std::string_view GgufFile::get_string(std::string_view key, std::string_view absent) const {
  return has(key) ? get_string(key) : absent;
}

std::vector<std::string_view> GgufFile::get_strings(std::string_view key) const {
  const GgufValue& found = state_->array(key, "an array of strings");
  if (found.element != GgufType::kString) state_->fail_key(found, "an array of strings");
  std::vector<std::string_view> strings;
  strings.reserve(found.n_elements);
  for_each_string(found, [&](std::string_view text) { return strings.push_back(text), true; });
  return strings;
}

std::vector<float> GgufFile::get_floats(std::string_view key) const {
  const GgufValue& found = state_->array(key, "an array of float32");
  if (found.element != GgufType::kFloat32) state_->fail_key(found, "an array of float32");
  std::vector<float> floats(found.n_elements);
  for (uint64_t i = 0; i < found.n_elements; ++i) {
    floats[i] = static_cast<float>(*float_at(found, i));
    if (!std::isfinite(floats[i]))
      state_->fail("element " + grouped(i) + " of key " + printable(key) + " is not finite");
  }
  return floats;
}

std::vector<int32_t> GgufFile::get_ints(std::string_view key) const {
  const GgufValue& found = state_->array(key, "an array of integers");
  std::vector<int32_t> ints(found.n_elements);
  for (uint64_t i = 0; i < found.n_elements; ++i) {
    const auto number = integer_at(found, i);
    if (!number) state_->fail_key(found, "an array of integers");
    ints[i] = static_cast<int32_t>(*number);
    if (ints[i] != *number)
      state_->fail("element " + grouped(i) + " of key " + printable(key) + " does not fit into 32 bits");
  }
  return ints;
}

std::vector<bool> GgufFile::get_bools(std::string_view key) const {
  const GgufValue& found = state_->array(key, "an array of bools");
  if (found.element != GgufType::kBool) state_->fail_key(found, "an array of bools");
  std::vector<bool> bools(found.n_elements);
  for (uint64_t i = 0; i < found.n_elements; ++i) bools[i] = found.elements[i] != std::byte{0};
  return bools;
}

std::vector<GgufFile::Entry> GgufFile::entries() const {
  std::vector<Entry> entries;
  for (const GgufValue& value : values())
    entries.push_back({value.key, value.type, value.element, value.n_elements, text_of(value)});
  return entries;
}

const TensorInfo* GgufFile::find_tensor(std::string_view name) const {
  const auto found = state_->tensor_names.find(name);
  return found == state_->tensor_names.end() ? nullptr : &state_->tensors[found->second];
}

const TensorInfo& GgufFile::tensor(std::string_view name) const {
  if (const TensorInfo* found = find_tensor(name)) return *found;
  state_->fail("tensor " + printable(name) + " is missing");
}

}  // namespace warpchat
