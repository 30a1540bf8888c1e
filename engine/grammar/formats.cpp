// Each row is one pattern; texts must match all patterns of their format.
#include "engine/grammar/formats.h"

#include <algorithm>
#include <array>
#include <vector>

#include "engine/grammar/pattern.h"

namespace warpchat::grammar {

namespace {

// RFC 3339, without the year 0, which many readers refuse.
const std::string kYear = "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])";
const std::string kLeapYear = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)";
const std::string kDate = "(?:" + kYear +
                          "-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|"
                          "02-(?:0[1-9]|1[0-9]|2[0-8]))|" +
                          kLeapYear + "-02-29)";
const std::string kFraction = "(?:\\.[0-9]{1,20})?";

std::string two_digits(int number) { return (number < 10 ? "0" : "") + std::to_string(number); }

// A leap second is at 23:59:60 UTC. Zones are quarters of an hour apart.
std::string leap_seconds() {
  constexpr int kDay = 24 * 60;
  std::string all = "23:59:60" + kFraction + "[Zz]";
  for (const int sign : {1, -1}) {
    for (int offset = 0; offset < kDay; offset += 15) {
      const int local = (2 * kDay - 1 + sign * offset) % kDay;
      all += "|" + two_digits(local / 60) + ":" + two_digits(local % 60) + ":60" + kFraction +
             (sign > 0 ? "\\+" : "-") + two_digits(offset / 60) + ":" + two_digits(offset % 60);
    }
  }
  return all;
}

std::string time_pattern() {
  return "(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]" + kFraction + "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])|" +
         leap_seconds() + ")";
}

// RFC 3339, appendix A.
const std::string kDurationTime =
    "T(?:[0-9]{1,20}H(?:[0-9]{1,20}M(?:[0-9]{1,20}S)?)?|[0-9]{1,20}M(?:[0-9]{1,20}S)?|[0-9]{1,20}S)";
const std::string kDurationDate =
    "(?:[0-9]{1,20}Y(?:[0-9]{1,20}M(?:[0-9]{1,20}D)?)?|[0-9]{1,20}M(?:[0-9]{1,20}D)?|[0-9]{1,20}D)";

// RFC 5321 and RFC 1123.
const std::string kLabel = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
const std::string kHost = kLabel + "(?:\\." + kLabel + ")*";
const std::string kAtom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,64}";

const std::string kByte = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
const std::string kIpv4 = kByte + "(?:\\." + kByte + "){3}";

// RFC 4291: groups of 16 bits, at most one "::" for one or more of them, the last two perhaps as IPv4.
std::string ipv6_pattern() {
  const std::string group = "[0-9A-Fa-f]{1,4}";
  const auto groups = [&](int n) { return n == 0 ? "" : "(?:" + group + ":){" + std::to_string(n - 1) + "}" + group; };
  std::string all = "(?:" + groups(8) + "|(?:" + group + ":){6}" + kIpv4;
  for (int before = 0; before <= 7; ++before) {
    const int after = 7 - before;
    all += "|" + groups(before) + "::";
    if (after > 0) all += "(?:(?:" + group + ":){0," + std::to_string(after - 1) + "}" + group + ")?";
    if (after >= 2) all += "|" + groups(before) + "::(?:" + group + ":){0," + std::to_string(after - 2) + "}" + kIpv4;
  }
  return all + ")";
}

// RFC 3986.
struct UriParts {
  std::string unreserved_class = "A-Za-z0-9._~!$&'()*+,;=-";
  std::string percent = "%[0-9A-Fa-f]{2}";
  std::string pchar(const std::string& more) const { return "(?:[" + more + unreserved_class + "]|" + percent + ")"; }
  std::string authority() const {
    return "(?:" + pchar(":") + "*@)?(?:\\[(?:" + ipv6_pattern() + "|[vV][0-9A-Fa-f]+\\.[:" + unreserved_class +
           "]+)\\]|" + pchar("") + "*)(?::[0-9]*)?";
  }
  std::string path_after_authority() const { return "(?:/" + pchar(":@") + "*)*"; }
  std::string absolute_path() const { return "/(?:" + pchar(":@") + "+(?:/" + pchar(":@") + "*)*)?"; }
  std::string rootless() const { return pchar(":@") + "+(?:/" + pchar(":@") + "*)*"; }
  std::string without_colon() const { return pchar("@") + "+(?:/" + pchar(":@") + "*)*"; }
  std::string tail() const { return "(?:\\?" + pchar(":@/?") + "*)?(?:#" + pchar(":@/?") + "*)?"; }
  std::string scheme() const { return "[A-Za-z][A-Za-z0-9+.-]*:"; }
  std::string uri() const {
    return scheme() + "(?://" + authority() + path_after_authority() + "|" + absolute_path() + "|" + rootless() + "|)" +
           tail();
  }
  std::string reference() const {
    return "(?:" + uri() + "|(?://" + authority() + path_after_authority() + "|" + absolute_path() + "|" +
           without_colon() + "|)" + tail() + ")";
  }
};

std::vector<std::string> patterns_of(std::string_view name) {
  const auto whole = [](const std::string& pattern) { return "^(?:" + pattern + ")$"; };
  if (name == "date") return {whole(kDate)};
  if (name == "time") return {whole(time_pattern())};
  if (name == "date-time") return {whole(kDate + "[Tt]" + time_pattern())};
  if (name == "duration")
    return {whole("P(?:" + kDurationDate + "(?:" + kDurationTime + ")?|" + kDurationTime + "|[0-9]{1,20}W)")};
  if (name == "email")
    return {whole("(?:" + kAtom + "(?:\\." + kAtom + ")*|\"(?:[ !#-\\[\\]-~]|\\\\[ -~]){0,62}\")@(?:" + kHost +
                  "|\\[(?:" + kIpv4 + "|IPv6:" + ipv6_pattern() + ")\\])")};
  if (name == "hostname") return {whole(kHost), "^.{1,253}$"};
  if (name == "ipv4") return {whole(kIpv4)};
  if (name == "ipv6") return {whole(ipv6_pattern())};
  if (name == "uuid") return {whole("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")};
  if (name == "uri") return {whole(UriParts().uri())};
  if (name == "uri-reference") return {whole(UriParts().reference())};
  if (name == "json-pointer") return {whole("(?:/(?:[^/~]|~[01])*)*")};
  if (name == "relative-json-pointer") return {whole("(?:0|[1-9][0-9]{0,20})(?:#|(?:/(?:[^/~]|~[01])*)*)")};
  return {};
}

// In a version of the standard, but held by no pattern here.
constexpr std::array<std::string_view, 6> kRefused = {"regex",     "iri",          "iri-reference",
                                                      "idn-email", "idn-hostname", "uri-template"};

}  // namespace

FormatKind kind_of_format(std::string_view name) {
  if (!patterns_of(name).empty()) return FormatKind::kHeld;
  return std::ranges::find(kRefused, name) != kRefused.end() ? FormatKind::kRefused : FormatKind::kUnknown;
}

Expr strings_of_format(Characters& characters, std::string_view name) {
  std::vector<Expr> conditions;
  for (const std::string& pattern : patterns_of(name)) conditions.push_back(search_pattern(characters, pattern));
  return characters.expressions().all_of(std::move(conditions));
}

}  // namespace warpchat::grammar
