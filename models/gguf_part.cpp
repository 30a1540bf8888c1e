#include "models/gguf_part.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "models/gguf_cursor.h"

namespace warpchat {
namespace {

static_assert(std::endian::native == std::endian::little, "GGUF values are read as they lie in memory");

constexpr uint64_t kSmallestKeyBytes = 14;     // length, one character, type, one byte
constexpr uint64_t kSmallestTensorBytes = 33;  // length, one character, dimensions, one size, type, offset
constexpr size_t kLongestKey = 65535, kLongestTensorName = 64;  // the specification's limits
constexpr int kDeepestArray = 4;
constexpr uint64_t kDefaultAlignment = 32, kSmallestAlignment = 8, kLargestAlignment = 1 << 20;

struct TypeTraits {
  const char* name;
  size_t bytes;
};
constexpr TypeTraits kTypes[] = {{"uint8", 1},  {"int8", 1},    {"uint16", 2}, {"int16", 2},  {"uint32", 4},
                                 {"int32", 4},  {"float32", 4}, {"bool", 1},   {"string", 0}, {"array", 0},
                                 {"uint64", 8}, {"int64", 8},   {"float64", 8}};

// Likely kinds of a file that is not GGUF, by its first bytes.
struct KnownStart {
  std::string_view bytes;
  const char* advice;
};
constexpr KnownStart kKnownStarts[] = {
    {"tjgg", "it is an old GGJT file; convert the model to GGUF"},
    {"fmgg", "it is an old GGMF file; convert the model to GGUF"},
    {"lmgg", "it is an old GGML file; convert the model to GGUF"},
    {"vers", "it looks like a Git LFS pointer; download the file itself"},
    {"<!DO", "it looks like a web page; download the file itself"},
    {"<htm", "it looks like a web page; download the file itself"},
    {"PK\x03\x04", "it looks like a zip archive; give the path of a GGUF file"},
};

void check_magic(GgufCursor& file) {
  const auto magic = file.read_bytes(4, "magic");
  const std::string_view start(reinterpret_cast<const char*>(magic.data()), magic.size());
  if (start == "GGUF") return;
  const auto* known = std::find_if(std::begin(kKnownStarts), std::end(kKnownStarts),
                                   [&](const KnownStart& candidate) { return candidate.bytes == start; });
  file.fail("starts with \"" + printable(start) + "\", a GGUF file starts with \"GGUF\"; " +
            (known == std::end(kKnownStarts) ? "give the path of a GGUF file" : known->advice));
}

uint32_t read_version(GgufCursor& file) {
  const auto version = file.read<uint32_t>("version");
  if (version == 2 || version == 3) return version;
  const uint32_t swapped = __builtin_bswap32(version);
  if (swapped >= 1 && swapped <= 3)
    file.fail("is big-endian, only little-endian GGUF files can be read; convert the model again");
  file.fail("has GGUF version " + grouped(version) + ", supported are 2 and 3" +
            (version == 1 ? "; convert the model again" : ""));
}

uint64_t read_count(GgufCursor& file, const char* noun, uint64_t smallest_bytes) {
  const auto count = file.read<uint64_t>("header");
  if (count > file.file_bytes() / smallest_bytes)
    file.fail("counts " + counted(count, noun) + " in its header, which " + grouped(file.file_bytes()) +
              " bytes cannot hold; download it again");
  return count;
}

GgufType read_type(GgufCursor& file, const char* field) {
  const auto number = file.read<uint32_t>(field);
  if (number >= std::size(kTypes))
    file.fail(std::string("has ") + field + " " + grouped(number) + ", known are 0 to " +
              std::to_string(std::size(kTypes) - 1));
  return static_cast<GgufType>(number);
}

void check_bools(const GgufCursor& file, std::span<const std::byte> values) {
  const bool all_valid =
      std::all_of(values.begin(), values.end(), [](std::byte b) { return std::to_integer<int>(b) < 2; });
  if (!all_valid) file.fail("holds a bool that is neither 0 nor 1");
}

uint64_t read_array_count(GgufCursor& file, uint64_t smallest_bytes) {
  const auto count = file.read<uint64_t>("array length");
  if (count > file.remaining() / smallest_bytes)
    file.fail("counts " + counted(count, "element") + ", the file ends " + counted(file.remaining(), "byte") +
              " later; download it again");
  return count;
}

struct Elements {
  GgufType type;
  uint64_t count;
  std::span<const std::byte> bytes;
};

// Reads type, count and elements of an array; depth: number of enclosing arrays.
Elements read_array(GgufCursor& file, int depth) {
  if (depth == kDeepestArray) file.fail("nests arrays more than " + std::to_string(kDeepestArray) + " deep");
  const GgufType type = read_type(file, "array element type");
  constexpr uint64_t kEmptyArrayBytes = 12, kEmptyStringBytes = 8;
  const size_t fixed = value_bytes(type);
  const uint64_t smallest = fixed ? fixed : type == GgufType::kArray ? kEmptyArrayBytes : kEmptyStringBytes;
  const uint64_t count = read_array_count(file, smallest), begin = file.position();
  if (fixed) {
    const auto values = file.read_bytes(count * fixed, "array");
    if (type == GgufType::kBool) check_bools(file, values);
  } else {
    for (uint64_t i = 0; i < count; ++i) {
      if (type == GgufType::kString)
        file.read_string("string in an array");
      else
        read_array(file, depth + 1);
    }
  }
  return {type, count, file.since(begin)};
}

GgufValue read_value(GgufCursor& file, std::string_view key) {
  const uint64_t begin = file.position();
  GgufValue value{key, read_type(file, "value type"), {}, 1, {}, {}};
  value.element = value.type;
  if (value.type == GgufType::kArray) {
    const Elements array = read_array(file, 0);
    value.element = array.type, value.n_elements = array.count, value.elements = array.bytes;
  } else {
    const uint64_t value_begin = file.position();
    if (value.type == GgufType::kString)
      file.read_string("string");
    else
      file.read_bytes(value_bytes(value.type), "value");
    value.elements = file.since(value_begin);
    if (value.type == GgufType::kBool) check_bools(file, value.elements);
  }
  value.encoded = file.since(begin);
  return value;
}

std::string_view read_name(GgufCursor& file, const char* field, size_t longest) {
  const uint64_t at = file.position();
  const std::string_view name = file.read_string(field);
  if (name.empty()) file.fail(std::string("has an empty ") + field + " at byte " + grouped(at));
  if (name.size() > longest)
    file.fail(std::string("has a ") + field + " of " + counted(name.size(), "byte") + " at byte " + grouped(at) +
              ", at most " + grouped(longest) + " are allowed");
  return name;
}

void read_values(GgufCursor& file, uint64_t count, GgufPart& part) {
  for (uint64_t i = 0; i < count; ++i) {
    file.enter("key number " + grouped(i + 1) + " of " + grouped(count));
    const std::string_view key = read_name(file, "name", kLongestKey);
    file.enter("key " + printable(key));
    if (!part.keys.emplace(key, i).second) file.fail("appears twice");
    part.values.push_back(read_value(file, key));
  }
}

// A tensor's directory entry. Its data is located once the directory's end is known.
struct Entry {
  TensorInfo info;
  uint64_t offset;  // from the start of the data
};

TensorType read_tensor_type(GgufCursor& file) {
  const auto number = file.read<uint32_t>("type");
  if (const auto found = find_tensor_type(number)) return found->type;
  std::string supported;
  for (const TensorTypeTraits& known : supported_tensor_types()) supported += " " + std::string(known.name);
  file.fail("has type " + tensor_type_name(number) + ", which is not supported; supported are" + supported);
}

Entry read_tensor(GgufCursor& file) {
  Entry entry{{std::string(read_name(file, "name", kLongestTensorName)), {}, {1, 1, 1, 1}, 0, {}}, 0};
  TensorInfo& tensor = entry.info;
  file.enter("tensor " + printable(tensor.name));
  tensor.n_dims = file.read<uint32_t>("number of dimensions");
  if (tensor.n_dims < 1 || tensor.n_dims > tensor.shape.size())
    file.fail("has " + counted(tensor.n_dims, "dimension") + ", expected 1 to 4");
  for (uint32_t i = 0; i < tensor.n_dims; ++i) tensor.shape[i] = file.read<uint64_t>("shape");
  tensor.type = read_tensor_type(file);
  entry.offset = file.read<uint64_t>("offset");
  return entry;
}

// Size of the tensor, with overflow checks.
uint64_t tensor_bytes(const GgufCursor& file, const TensorInfo& tensor) {
  const TensorTypeTraits& format = traits(tensor.type);
  if (tensor.k() % format.block_weights != 0)
    file.fail("has rows of " + counted(tensor.k(), "weight") + ", type " + std::string(format.name) +
              " needs a multiple of " + std::to_string(format.block_weights));
  uint64_t n_weights = 1, bytes = 0;
  bool overflow = false;
  for (uint64_t size : tensor.shape) {
    if (size == 0) file.fail("has a dimension of 0");
    overflow |= __builtin_mul_overflow(n_weights, size, &n_weights);
  }
  overflow |= __builtin_mul_overflow(n_weights / format.block_weights, format.block_bytes, &bytes);
  if (overflow) file.fail("has dimensions that multiply to more bytes than 64 bits can count");
  return bytes;
}

uint64_t alignment_of(const GgufPart& part, GgufCursor& file) {
  const GgufValue* value = part.find("general.alignment");
  if (!value) return kDefaultAlignment;
  file.enter("key general.alignment");
  if (value->type != GgufType::kUint32)
    file.fail(std::string("is a ") + type_name(value->type) + ", expected a uint32");
  uint32_t alignment;
  std::memcpy(&alignment, value->elements.data(), sizeof alignment);
  if (!std::has_single_bit(alignment) || alignment < kSmallestAlignment || alignment > kLargestAlignment)
    file.fail("is " + grouped(alignment) + ", expected a power of two from 8 to " + grouped(kLargestAlignment));
  return alignment;
}

void place(Entry& entry, std::span<const std::byte> all, uint64_t data_begin, uint64_t alignment, GgufCursor& file) {
  file.enter("tensor " + printable(entry.info.name));
  if (entry.offset % alignment != 0)
    file.fail("has offset " + grouped(entry.offset) + ", no multiple of the alignment " + grouped(alignment));
  const uint64_t bytes = tensor_bytes(file, entry.info);
  uint64_t begin = 0, end = 0;
  if (__builtin_add_overflow(data_begin, entry.offset, &begin) || __builtin_add_overflow(begin, bytes, &end))
    file.fail("has offset " + grouped(entry.offset) + ", beyond what 64 bits can count");
  if (end > all.size())
    file.fail("ends at byte " + grouped(end) + ", the file has " + grouped(all.size()) + "; download it again");
  entry.info.data = all.subspan(begin, bytes);
}

void check_overlaps(const std::vector<TensorInfo>& tensors, GgufCursor& file) {
  std::vector<const TensorInfo*> by_place;
  for (const TensorInfo& tensor : tensors) by_place.push_back(&tensor);
  std::sort(by_place.begin(), by_place.end(),
            [](const TensorInfo* a, const TensorInfo* b) { return a->data.data() < b->data.data(); });
  for (size_t i = 1; i < by_place.size(); ++i) {
    const TensorInfo &before = *by_place[i - 1], &after = *by_place[i];
    if (before.data.data() + before.data.size() <= after.data.data()) continue;
    file.enter("tensor " + printable(after.name));
    file.fail("overlaps tensor " + printable(before.name));
  }
}

void read_tensors(GgufCursor& file, std::span<const std::byte> all, uint64_t count, GgufPart& part) {
  std::vector<Entry> entries;
  for (uint64_t i = 0; i < count; ++i) {
    file.enter("tensor number " + grouped(i + 1) + " of " + grouped(count));
    entries.push_back(read_tensor(file));
  }
  const uint64_t directory_end = file.position(), alignment = alignment_of(part, file);
  const uint64_t data_begin = (directory_end + alignment - 1) / alignment * alignment;
  for (Entry& entry : entries) {
    place(entry, all, data_begin, alignment, file);
    part.tensors.push_back(std::move(entry.info));
  }
  check_overlaps(part.tensors, file);
}

}  // namespace

size_t value_bytes(GgufType type) { return kTypes[static_cast<uint32_t>(type)].bytes; }
const char* type_name(GgufType type) { return kTypes[static_cast<uint32_t>(type)].name; }

const GgufValue* GgufPart::find(std::string_view key) const {
  const auto found = keys.find(key);
  return found == keys.end() ? nullptr : &values[found->second];
}

GgufPart parse_gguf_part(std::span<const std::byte> bytes, const std::string& path) {
  GgufCursor file(bytes, path);
  check_magic(file);
  GgufPart part;
  part.version = read_version(file);
  const uint64_t n_tensors = read_count(file, "tensor", kSmallestTensorBytes);
  const uint64_t n_keys = read_count(file, "key", kSmallestKeyBytes);
  read_values(file, n_keys, part);
  read_tensors(file, bytes, n_tensors, part);
  return part;
}

}  // namespace warpchat
