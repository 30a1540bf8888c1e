// A GGUF file (version 2 or 3, little-endian, one part or split), mapped read-only. Every count, length, offset,
// alignment, shape and type is checked before use. Source: ggml's GGUF specification.
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

// One metadata entry: views of the file.
struct GgufValue {
  std::string_view key;
  GgufType type;
  GgufType element;                     // for arrays, else == type
  uint64_t n_elements;                  // for arrays, else 1
  std::span<const std::byte> elements;  // the scalar, or consecutive elements; strings: uint64 length, bytes
  std::span<const std::byte> encoded;   // everything after the key: type number and value
};

// n stretches of `run` rows each; the first starts at `first`, the next `stride` rows later.
struct RowStretches {
  uint64_t first, run, stride, n;
};

struct TensorInfo {
  std::string name;
  TensorType type;
  std::array<uint64_t, 4> shape;  // ggml's order: shape[0] = k is contiguous; unused dimensions are 1
  uint32_t n_dims;
  std::span<const std::byte> data;  // in the mapping; exactly the tensor's bytes
  std::string_view file = {};       // path, owned by the GgufFile
  uint64_t k() const { return shape[0]; }
  uint64_t rows() const { return shape[1] * shape[2] * shape[3]; }

  std::vector<RowStretches> order = {};  // for a view: its rows in `data`; empty: all
  std::span<const std::byte> row(uint64_t index) const;
  // n rows in place, or copied to `gathered` for a view.
  std::span<const std::byte> rows(uint64_t first, uint64_t n, std::vector<std::byte>& gathered) const;
};

class GgufFile {
 public:
  // Maps the file (for "x-00001-of-0000N.gguf": all N parts in the same folder) and checks its structure. Throws Error
  // with file, key or tensor, byte offset, and what was expected.
  static GgufFile open(const std::string& path);

  // Same checks on a whole model in memory, which the caller keeps alive. name: replaces the path in messages.
  static GgufFile view(std::span<const std::byte> bytes, const std::string& name);

  GgufFile(GgufFile&&) noexcept;
  GgufFile& operator=(GgufFile&&) noexcept;
  ~GgufFile();

  const std::string& path() const;  // as given to open
  uint64_t file_bytes() const;      // sum over all parts
  uint32_t version() const;

  // Metadata. get_ functions throw Error with file, key, expected and found type. A missing key throws, too, unless a
  // default is given. Integers and floats of any width convert if the value fits.
  bool has(std::string_view key) const;
  bool is_array(std::string_view key) const;
  uint64_t n_elements(std::string_view key) const;  // Error if the key is no array
  uint64_t get_uint(std::string_view key) const;
  uint64_t get_uint(std::string_view key, uint64_t absent) const;
  double get_float(std::string_view key) const;  // Error if not finite
  double get_float(std::string_view key, double absent) const;
  bool get_bool(std::string_view key, bool absent) const;
  std::string_view get_string(std::string_view key) const;
  std::string_view get_string(std::string_view key, std::string_view absent) const;
  std::vector<std::string_view> get_strings(std::string_view key) const;  // array of string
  std::vector<float> get_floats(std::string_view key) const;              // array of float32
  std::vector<int32_t> get_ints(std::string_view key) const;              // array of any integer type; values must fit
  std::vector<bool> get_bools(std::string_view key) const;                // array of bool

  const std::vector<GgufValue>& values() const;  // in file order; for a split file, those of the first part

  struct Entry {  // for listings, in file order
    std::string_view key;
    GgufType type;
    GgufType element;     // for arrays, else == type
    uint64_t n_elements;  // for arrays, else 1
    std::string text;     // printable value; long arrays are shortened
  };
  std::vector<Entry> entries() const;

  // Throws Error "cannot load PATH: fault", for callers that find invalid contents.
  [[noreturn]] void fail(const std::string& fault) const;

  const std::vector<TensorInfo>& tensors() const;              // all parts' tensors, in file order
  const TensorInfo* find_tensor(std::string_view name) const;  // nullptr if absent
  const TensorInfo& tensor(std::string_view name) const;       // Error naming file and tensor if absent

 private:
  struct State;
  explicit GgufFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace warpchat
