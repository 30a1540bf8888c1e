// Variants that change a field's bytes without regard to their meaning.
#include <cstring>

#include "tests/tools/malformed/families.h"

namespace warpchat {
namespace {

using Kind = Field::Kind;

constexpr uint64_t kMax64 = ~uint64_t{0}, kTopBit = uint64_t{1} << 63;

struct Evil {
  const char* name;
  uint64_t value;
};

std::string variant_name(const Base& base, const char* family, const Field& field, const std::string& what) {
  return base.name + "." + family + "." + field.owner + "." + std::string(kind_name(field.kind)) + "_" +
         std::to_string(field.at) + "." + what;
}

uint64_t value_of(const Base& base, const Field& field) {
  uint64_t value = 0;
  std::memcpy(&value, base.file.data() + field.at, field.size);
  return value;
}

Bytes with_value(const Base& base, const Field& field, uint64_t value) {
  Bytes file = base.file;
  std::memcpy(file.data() + field.at, &value, field.size);
  return file;
}

template <class Visit>
void for_each(const Base& base, std::initializer_list<Kind> kinds, Visit visit) {
  for (const Field& field : base.fields)
    for (Kind kind : kinds)
      if (field.kind == kind) visit(field);
}

}  // namespace

void add_truncations(const Base& base, Variants& out) {
  for (const Field& field : base.fields) {
    const auto cut = [&](size_t size, const char* what) {
      const Bytes file(base.file.begin(), base.file.begin() + static_cast<ptrdiff_t>(size));
      out.push_back({variant_name(base, "truncated", field, what), file, Finder::kModel, "download it again"});
    };
    cut(field.at, "before");
    if (field.size > 1) cut(field.at + field.size / 2, "inside");
    if (field.size > 2) cut(field.at + field.size - 1, "last_byte");
  }
}

void add_broken_header(const Base& base, Variants& out) {
  const auto add = [&](const Field& field, const Evil& evil, const char* fault) {
    out.push_back(
        {variant_name(base, "header", field, evil.name), with_value(base, field, evil.value), Finder::kModel, fault});
  };
  for_each(base, {Kind::kMagic}, [&](const Field& field) {
    for (const Evil evil : {Evil{"zeros", 0},
                            {"lower_case", 0x66756767},
                            {"reversed", 0x47475546},
                            {"ggjt", 0x67676a74},
                            {"zip", 0x04034b50},
                            {"web_page", 0x4f44213c},
                            {"line_breaks", 0x0a0a0a0a}})
      add(field, evil, "a GGUF file starts with \"GGUF\"");
  });
  for_each(base, {Kind::kVersion}, [&](const Field& field) {
    for (const Evil evil : {Evil{"0", 0}, {"1", 1}, {"4", 4}, {"most", ~0u}}) add(field, evil, "GGUF version");
    for (const Evil evil : {Evil{"big_endian_2", 2u << 24}, {"big_endian_3", 3u << 24}}) add(field, evil, "big-endian");
  });
  for_each(base, {Kind::kTensorCount, Kind::kKeyCount}, [&](const Field& field) {
    const uint64_t right = value_of(base, field);
    for (const Evil evil : {Evil{"zero", 0}, {"one_less", right - 1}, {"one_more", right + 1}}) add(field, evil, "");
    for (const Evil evil :
         {Evil{"file_bytes", base.file.size()}, {"2_32", uint64_t{1} << 32}, {"2_63", kTopBit}, {"most", kMax64}})
      add(field, evil, "cannot hold");
  });
}

void add_broken_lengths(const Base& base, Variants& out) {
  for_each(base, {Kind::kNameLength, Kind::kStringLength, Kind::kArrayLength}, [&](const Field& field) {
    const uint64_t right = value_of(base, field);
    for (const Evil evil : {Evil{"zero", 0},
                            {"one_less", right - 1},
                            {"one_more", right + 1},
                            {"file_bytes", base.file.size()},
                            {"2_32", uint64_t{1} << 32},
                            {"2_61", kTopBit >> 2},
                            {"2_63", kTopBit},
                            {"most", kMax64}})
      if (evil.value != right)
        out.push_back(
            {variant_name(base, "length", field, evil.name), with_value(base, field, evil.value), Finder::kModel, ""});
  });
}

void add_broken_types(const Base& base, Variants& out) {
  const auto add = [&](const Field& field, const Evil& evil, const std::string& fault) {
    out.push_back(
        {variant_name(base, "type", field, evil.name), with_value(base, field, evil.value), Finder::kModel, fault});
  };
  for_each(base, {Kind::kValueType, Kind::kElementType}, [&](const Field& field) {
    for (const Evil evil : {Evil{"13", 13}, {"256", 256}, {"most", ~0u}}) add(field, evil, "key " + field.owner);
  });
  for_each(base, {Kind::kTensorType}, [&](const Field& field) {
    for (const Evil evil : {Evil{"Q4_2", 4},
                            {"Q8_1", 9},
                            {"Q8_K", 15},
                            {"IQ1_S", 19},
                            {"I32", 26},
                            {"TQ1_0", 34},
                            {"IQ1_M", 29},
                            {"NVFP4", 40}})
      add(field, evil, "tensor " + field.owner + " has type " + evil.name);
    for (const Evil evil :
         {Evil{"number", 99}, {"expanded", static_cast<uint32_t>(TensorType::kIQ2Expanded)}, {"most", ~0u}})
      add(field, evil, "tensor " + field.owner);
  });
}

void add_broken_layouts(const Base& base, Variants& out) {
  const auto add = [&](const char* family, const Field& field, const Evil& evil) {
    out.push_back(
        {variant_name(base, family, field, evil.name), with_value(base, field, evil.value), Finder::kModel,
         field.kind == Kind::kOffset || field.kind == Kind::kDimension ? "tensor " : "tensor " + field.owner});
  };
  for_each(base, {Kind::kNDims}, [&](const Field& field) {
    for (const Evil evil : {Evil{"0", 0}, {"5", 5}, {"most", ~0u}}) add("dimensions", field, evil);
  });
  for_each(base, {Kind::kDimension}, [&](const Field& field) {
    const uint64_t right = value_of(base, field);
    for (const Evil evil : {Evil{"zero", 0},
                            {"one_less", right - 1},
                            {"one_more", right + 1},
                            {"half", right / 2},
                            {"double", right * 2},
                            {"2_32", uint64_t{1} << 32},
                            {"2_63", kTopBit},
                            {"most", kMax64}})
      add("dimensions", field, evil);
  });
  for_each(base, {Kind::kOffset}, [&](const Field& field) {
    const uint64_t right = value_of(base, field);
    for (const Evil evil : {Evil{"misaligned", right + 1},
                            {"next_slot", right + 32},
                            {"file_bytes", base.file.size()},
                            {"2_63", kTopBit},
                            {"near_max", kMax64 - 31},
                            {"most", kMax64}})
      add("offset", field, evil);
    if (right) add("offset", field, {"zero", 0});
  });
}

void add_harmless_bytes(const Base& base, Variants& out) {
  const auto add = [&](const char* name, Bytes file) {
    out.push_back({base.name + ".harmless." + name, std::move(file), Finder::kNone, ""});
  };
  add("unchanged", base.file);
  Bytes longer = base.file;
  longer.resize(longer.size() + 1000, std::byte{0xaa});
  add("extra_bytes", std::move(longer));
  const Field& last = base.fields.back();
  add("no_padding_at_end", Bytes(base.file.begin(), base.file.begin() + static_cast<ptrdiff_t>(last.at + last.size)));
  for_each(base, {Kind::kVersion}, [&](const Field& field) { add("version_2", with_value(base, field, 2)); });
}

}  // namespace warpchat
