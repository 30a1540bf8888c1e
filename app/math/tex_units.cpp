#include "app/math/tex_units.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "app/math/tex_scan.h"
#include "models/ascii.h"
#include "models/number_in.h"

namespace warpchat {

namespace {

using std::string_view;

struct Named {
  string_view name, symbol;
};

// clang-format off
constexpr Named kPrefixes[] = {
    {"quecto", "q"}, {"ronto", "r"}, {"yocto", "y"}, {"zepto", "z"}, {"atto", "a"}, {"femto", "f"}, {"pico", "p"},
    {"nano", "n"}, {"micro", "μ"}, {"milli", "m"}, {"centi", "c"}, {"deci", "d"}, {"deca", "da"}, {"deka", "da"},
    {"hecto", "h"}, {"kilo", "k"}, {"mega", "M"}, {"giga", "G"}, {"tera", "T"}, {"peta", "P"}, {"exa", "E"},
    {"zetta", "Z"}, {"yotta", "Y"}, {"kibi", "Ki"}, {"mebi", "Mi"}, {"gibi", "Gi"}, {"tebi", "Ti"}};

constexpr Named kUnits[] = {
    {"meter", "m"}, {"metre", "m"}, {"gram", "g"}, {"kilogram", "kg"}, {"second", "s"}, {"ampere", "A"},
    {"kelvin", "K"}, {"mole", "mol"}, {"candela", "cd"}, {"hertz", "Hz"}, {"newton", "N"}, {"pascal", "Pa"},
    {"joule", "J"}, {"watt", "W"}, {"coulomb", "C"}, {"volt", "V"}, {"farad", "F"}, {"ohm", "Ω"}, {"siemens", "S"},
    {"weber", "Wb"}, {"tesla", "T"}, {"henry", "H"}, {"lumen", "lm"}, {"lux", "lx"}, {"becquerel", "Bq"},
    {"gray", "Gy"}, {"sievert", "Sv"}, {"katal", "kat"}, {"radian", "rad"}, {"steradian", "sr"},
    {"degreeCelsius", "°C"}, {"celsius", "°C"}, {"degree", "°"}, {"arcminute", "′"}, {"arcsecond", "″"},
    {"minute", "min"}, {"hour", "h"}, {"day", "d"}, {"liter", "L"}, {"litre", "l"}, {"tonne", "t"},
    {"electronvolt", "eV"}, {"dalton", "Da"}, {"atomicmassunit", "u"}, {"astronomicalunit", "au"}, {"parsec", "pc"},
    {"angstrom", "Å"}, {"bar", "bar"}, {"mmHg", "mmHg"}, {"hectare", "ha"}, {"barn", "b"}, {"bel", "B"},
    {"decibel", "dB"}, {"bit", "bit"}, {"byte", "B"}, {"percent", "%"}, {"neper", "Np"}, {"knot", "kn"},
    {"km", "km"}, {"cm", "cm"}, {"mm", "mm"}, {"um", "μm"}, {"nm", "nm"}, {"m", "m"}, {"kg", "kg"}, {"g", "g"},
    {"mg", "mg"}, {"s", "s"}, {"ms", "ms"}, {"us", "μs"}, {"ns", "ns"}, {"h", "h"}, {"A", "A"}, {"mA", "mA"},
    {"K", "K"}, {"mol", "mol"}, {"Hz", "Hz"}, {"kHz", "kHz"}, {"MHz", "MHz"}, {"GHz", "GHz"}, {"N", "N"},
    {"kN", "kN"}, {"Pa", "Pa"}, {"kPa", "kPa"}, {"MPa", "MPa"}, {"GPa", "GPa"}, {"J", "J"}, {"kJ", "kJ"}, {"W", "W"},
    {"kW", "kW"}, {"MW", "MW"}, {"kWh", "kWh"}, {"eV", "eV"}, {"keV", "keV"}, {"MeV", "MeV"}, {"GeV", "GeV"},
    {"V", "V"}, {"mV", "mV"}, {"kV", "kV"}, {"C", "C"}, {"F", "F"}, {"T", "T"}, {"L", "L"}, {"mL", "mL"},
    {"dB", "dB"}};
// clang-format on

template <size_t n>
const Named* named(const Named (&table)[n], string_view name) {
  const auto* known = std::find_if(table, table + n, [&](const Named& row) { return row.name == name; });
  return known == table + n ? nullptr : known;
}

// Collects a unit until its power is known.
class Units {
 public:
  explicit Units(string_view source) : scan_(source) {}

  std::string run() {
    while (!scan_.at_end()) step();
    end_unit();
    return std::move(out_);
  }

 private:
  void step() {
    const char c = scan_.peek();
    if (c == '\\') return command();
    if (c == '^') return scan_.skip(1), end_with_power();
    if (c == '.' || c == '~' || is_blank(c)) return scan_.skip(1), end_unit();
    if (c == '/') {
      end_unit();
      scan_.skip(1);
      out_ += "/";
      apart_ = false;
      return;
    }
    if (c == '{') {
      end_unit();
      out_ += scan_.group();
      return;
    }
    const string_view letters = scan_.letters();
    if (letters.empty()) {
      end_unit();
      if (string_view("%&#$_}").find(c) != string_view::npos) out_ += '\\';
      out_ += c;
      return scan_.skip(1);
    }
    end_unit();
    unit_ = letters;
  }

  void command() {
    const string_view before = scan_.rest(), name = scan_.command_name();
    if (const Named* prefix = named(kPrefixes, name)) {
      end_unit();
      prefix_ = prefix->symbol;
    } else if (const Named* unit = named(kUnits, name)) {
      end_unit();
      unit_ = std::string(unit->symbol);
    } else if (name == "per") {
      end_unit();
      is_per_ = true;
    } else if (name == "square" || name == "cubic") {
      end_unit();
      power_ = name == "square" ? "2" : "3";
    } else if (name == "squared" || name == "cubed") {
      power_ = name == "squared" ? "2" : "3";
      end_unit();
    } else if (name == "tothe" || name == "raiseto") {
      power_ = scan_.group();
      if (name == "tothe") end_unit();
    } else if (name == "cdot" || name == "," || name == " ") {
      end_unit();
    } else {  // not a unit: as TeX knows it
      end_unit();
      out_ += before.substr(0, before.size() - scan_.rest().size());
      out_ += ' ';
    }
  }

  void end_with_power() {
    power_ = scan_.peek() == '{' ? scan_.group() : scan_.run("-0123456789");
    end_unit();
  }

  void end_unit() {
    if (unit_.empty()) return;
    if (apart_) out_ += "\\,";
    const string_view percent = unit_ == "%" ? "\\" : "";
    out_ += "\\mathrm{" + std::string(percent) + prefix_ + unit_ + "}";
    if (is_per_ && power_.empty()) power_ = "1";
    if (!power_.empty()) out_ += "^{" + std::string(is_per_ ? "-" : "") + power_ + "}";
    unit_.clear(), prefix_.clear(), power_.clear();
    is_per_ = false;
    apart_ = true;
  }

  TexScan scan_;
  std::string out_;
  std::string prefix_, unit_, power_;
  bool is_per_ = false;
  bool apart_ = false;  // a unit stands before
};

}  // namespace

std::string number_as_tex(string_view number) {
  std::string out;
  TexScan scan(number);
  while (!scan.at_end()) {
    const char c = scan.peek();
    if (c == '\\') {
      out += scan.command();
    } else if (scan.rest().starts_with("+-")) {
      out += "\\pm ";
      scan.skip(2);
    } else if (c == 'e' || c == 'E') {
      scan.skip(1);
      scan.run("+");
      const std::string power(scan.run("-0123456789"));
      out += (out.empty() ? "10^{" : "\\times 10^{") + power + "}";
    } else if (c == 'x') {
      scan.skip(1);
      out += "\\times ";
    } else if (c == ',' || c == '.') {
      scan.skip(1);
      out += std::string("{") + c + "}";
    } else {
      scan.skip(1);
      out += c;
    }
  }
  return out;
}

std::string units_as_tex(string_view units) { return Units(units).run(); }

float length_in_em(string_view length) {
  static constexpr std::pair<string_view, float> kEms[] = {{"em", 1},     {"ex", 0.43f}, {"pt", 0.1f}, {"mu", 1 / 18.f},
                                                           {"cm", 2.85f}, {"mm", 0.28f}, {"in", 7.2f}, {"px", 0.0625f},
                                                           {"pc", 1.2f},  {"bp", 0.1f}};
  constexpr float kMin = -2, kMax = 20;
  TexScan scan(trimmed(length));
  const std::optional<float> value = number_in<float>(scan.run("+-.0123456789"));
  const string_view unit = trimmed(scan.rest());
  const auto* known =
      std::find_if(std::begin(kEms), std::end(kEms), [&](const auto& row) { return unit.starts_with(row.first); });
  return value && known != std::end(kEms) ? std::clamp(*value * known->second, kMin, kMax) : 0;
}

}  // namespace warpchat
