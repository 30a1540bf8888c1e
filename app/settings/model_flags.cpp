// Names of cache types, launch modes and devices.
#include "app/settings/model_flags.h"

#include <array>

#include "engine/driver/device_choice.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

// Cache types of llama.cpp other than f32, f16 and q8_0.
constexpr std::array<std::string_view, 6> kOtherCacheTypes = {"bf16", "q4_0", "q4_1", "q5_0", "q5_1", "iq4_nl"};

KvType cache_type(const std::string& type, const std::string& flag) {
  if (const std::optional<KvType> known = kv_type_named(type)) return *known;
  for (std::string_view other : kOtherCacheTypes)
    if (type == other) throw Error(flag + " " + type + " is not supported; use f32, f16 or q8_0");
  throw UsageError("unknown cache type '" + type + "' for " + flag + "; use f32, f16 or q8_0");
}

}  // namespace

KvTypes cache_types(const ModelFlags& flags) {
  return {cache_type(flags.cache_type_k, "--cache-type-k"), cache_type(flags.cache_type_v, "--cache-type-v")};
}

void require_valid_flags(const ModelFlags& flags) {
  cache_types(flags);
  if (flags.launch != "auto" && !launch_mode_named(flags.launch))
    throw UsageError("unknown launch mode '" + flags.launch + "'; use " + word_list(kLaunchModeNames) + " or auto");
}

void require_known_device(const std::string& name) {
  if (!is_device_name(name))
    throw UsageError("unknown device '" + name +
                     "'; use cpu, cuda, cuda:N or emulator[:sm_XX]; --list-devices lists them");
}

}  // namespace warpchat
