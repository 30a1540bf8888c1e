// A GGUF file (version 2 or 3, little-endian, one part or split) mapped read-only, with every count, length, offset,
// alignment, shape and type checked before use. Source: ggml's GGUF specification.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/error.h"
#include "models/tensor_type.h"

namespace warpchat {

enum class GgufType : uint32_t {
  kUint8 = 0,
  kInt8 = 1,
  kUint16 = 2,
  kInt16 = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kUint64 = 10,
  kInt64 = 11,
  kFloat64 = 12,
};

// One metadata entry, as views into the file.
struct GgufValue {
  std::string_view key;
  GgufType type;
  GgufType element;                     // of an array, else == type
  uint64_t n_elements;                  // of an array, else 1
  std::span<const std::byte> elements;  // the scalar, or the array's elements one after another; strings as
                                        // uint64 length and bytes
  std::span<const std::byte> encoded;   // all that follows the key: type number, then the value
};

// Of n stretches of rows, `stride` rows apart from `first` on, the first `run` each.
struct RowStretches {
  uint64_t first, run, stride, n;
};

struct TensorInfo {
  std::string name;
  TensorType type;
  std::array<uint64_t, 4> shape;  // ggml's order: shape[0] = k, the contiguous dimension; unused dimensions are 1
  uint32_t n_dims;
  std::span<const std::byte> data;  // in the mapping; size is exactly the tensor's bytes
  std::string_view file = {};       // the path of its GgufFile, which keeps it
  uint64_t k() const { return shape[0]; }
  uint64_t rows() const { return shape[1] * shape[2] * shape[3]; }

  std::vector<RowStretches> order = {};  // of a view: which of the rows in `data` it has; empty: all
  std::span<const std::byte> row(uint64_t index) const;
  // n rows as they lie, or of a view as they are gathered there.
  std::span<const std::byte> rows(uint64_t first, uint64_t n, std::vector<std::byte>& gathered) const;
};

class GgufFile {
 public:
  // Maps the file (for "x-00001-of-0000N.gguf": all N parts, which must lie beside it) and checks its structure.
  // Throws Error naming file, key or tensor, byte offset, and what was expected.
  static GgufFile open(const std::string& path);

  // The same checks on bytes that the caller keeps alive, which must be a whole model; name stands for the
  // path in messages.
  static GgufFile view(std::span<const std::byte> bytes, const std::string& name);

  GgufFile(GgufFile&&) noexcept;
  GgufFile& operator=(GgufFile&&) noexcept;
  ~GgufFile();

  const std::string& path() const;  // as given to open
  uint64_t file_bytes() const;      // of all parts together
  uint32_t version() const;

  // Metadata. The get_ functions throw Error naming file, key, and the expected and found type; a missing key throws
  // too, except where a default is given. Integers of any width convert when the value fits; floats of both widths too.
  bool has(std::string_view key) const;
  bool is_array(std::string_view key) const;
  uint64_t n_elements(std::string_view key) const;  // of an array; a key that is no array throws
  uint64_t get_uint(std::string_view key) const;
  uint64_t get_uint(std::string_view key, uint64_t absent) const;
  double get_float(std::string_view key) const;  // finite, or Error
  double get_float(std::string_view key, double absent) const;
  bool get_bool(std::string_view key, bool absent) const;
  std::string_view get_string(std::string_view key) const;
  std::string_view get_string(std::string_view key, std::string_view absent) const;
  std::vector<std::string_view> get_strings(std::string_view key) const;  // array of string
  std::vector<float> get_floats(std::string_view key) const;              // array of float32
  std::vector<int32_t> get_ints(std::string_view key) const;              // array of any integer type; values fit
  std::vector<bool> get_bools(std::string_view key) const;                // array of bool

  const std::vector<GgufValue>& values() const;  // in file order; of a split file's first part

  struct Entry {  // for listings, in file order
    std::string_view key;
    GgufType type;
    GgufType element;     // of an array, else == type
    uint64_t n_elements;  // of an array, else 1
    std::string text;     // printable value; arrays are shortened after a few elements
  };
  std::vector<Entry> entries() const;

  // Throws Error "cannot load PATH: fault", for whoever finds what the file says wanting.
  [[noreturn]] void fail(const std::string& fault) const;

  const std::vector<TensorInfo>& tensors() const;              // of all parts, in file order
  const TensorInfo* find_tensor(std::string_view name) const;  // nullptr if absent
  const TensorInfo& tensor(std::string_view name) const;       // Error naming file and tensor if absent

 private:
  struct State;
  explicit GgufFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace warpchat
